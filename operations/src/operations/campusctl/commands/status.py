"""The state of the system on this machine, on one screen."""

import asyncio
import os
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from operations.backup.errors import BackupFailed
from operations.backup.settings import BackupSettings, read_backup_settings
from operations.campusctl.exits import FINDINGS
from operations.campusctl.registering import Operator, command
from operations.campusctl.showing import Output
from operations.installation.units import INSTALLED, unit_name
from operations.secrets import read_secrets
from operations.system_status import Machine, examine_machine


def register(app: typer.Typer) -> None:
    command(app, "status", "campusctl status", "campusctl status --json")(show_status)


def show_status(
    operator: Operator,
    backup_settings: Annotated[
        Path | None,
        typer.Option(envvar="BACKUP_SETTINGS", metavar="FILE", help="STATE_DIR/backup.env when omitted."),
    ] = None,
) -> Output:
    """Show processes, outboxes, queues, alerts, the last audit and backup, disks and the certificate of this machine.

    Works while parts are down. Each line is `ok`, `warning` or `fault`. Exit code 4: there is a fault.
    """
    findings = asyncio.run(examine_machine(machine_of(operator, backup_settings)))
    rows = [
        {"state": one.state, "subject": one.subject, "found": one.found, "advice": one.advice or None}
        for one in findings
    ]
    lines = [
        f"{one.state:<8}{one.subject}: {one.found}" + (f" -> {one.advice}" if one.advice else "") for one in findings
    ]
    exit_code = FINDINGS if any(one.state == "fault" for one in findings) else 0
    return Output(rows, lines=tuple(lines), exit_code=exit_code)


def machine_of(operator: Operator, backup_settings: Path | None = None) -> Machine:
    """Return the addresses of the system on this machine, from its secrets and the environment."""
    state_dir = operator.own.state_dir
    secrets_file = state_dir / "secrets.env"
    known = {**(read_secrets(secrets_file) if secrets_file.exists() else {}), **os.environ}
    settings_file = backup_settings or state_dir / "backup.env"
    backup: BackupSettings | None = None
    error = ""
    if backup_settings is not None or settings_file.exists():
        try:
            backup = read_backup_settings(settings_file, state_dir)
        except BackupFailed as failed:
            error = failed.detail
    folders = {"images": Path(known.get("MEDIA_FOLDER") or state_dir / "media")}
    if backup is not None and isinstance(backup.repository, Path):
        folders["backups"] = backup.repository
    return Machine(
        operator.base_url,
        state_dir,
        known.get("DATABASE_URL", ""),
        known.get("BROKER_MANAGEMENT_URL") or _management_url(known.get("BROKER_URL", "")),
        backup,
        error,
        folders,
        tuple(unit_name(plan) for plan in INSTALLED.processes) if os.environ.get("CAMPUS_SETTINGS") else (),
    )


def _management_url(broker_url: str) -> str:
    """Return the usual management API beside the broker: port 15672 to 5672, and the next port with `make run`."""
    parts = urlsplit(broker_url)
    account, _, _ = parts.netloc.rpartition("@")
    if not account:
        return ""
    port = parts.port or 5672
    return f"http://{account}@{parts.hostname}:{15672 if port == 5672 else port + 1}"
