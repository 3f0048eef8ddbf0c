"""Backup and restore of a system on one machine (docs/backup.md)."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from operations.backup.age import new_identity
from operations.backup.backing_up import Part, initialise, list_backups, run_backup, verify_backups
from operations.backup.errors import BackupFailed
from operations.backup.metrics import write_metrics
from operations.backup.restoring import instant_or_latest, restore
from operations.backup.secret_bundles import private_key_in
from operations.backup.settings import BackupSettings, read_backup_settings
from operations.campusctl.api_commands import Own, register_group
from operations.campusctl.exits import NOT_REACHABLE, REFUSED, Refused
from operations.campusctl.registering import Operator, command
from operations.campusctl.showing import Output

Result = TypeVar("Result")
SettingsFile = Annotated[
    Path | None,
    typer.Option("--settings", envvar="BACKUP_SETTINGS", metavar="FILE", help="STATE_DIR/backup.env when omitted."),
]
RecoveryKey = Annotated[
    Path | None, typer.Option("--recovery-key", metavar="FILE", help="The private recovery key, from its safe copy.")
]


def register(app: typer.Typer) -> None:
    commands = {
        "recovery-key": Own(create_recovery_key, ("--out recovery.key",)),
        "init": Own(init, ("--settings /etc/campus/backup.env",)),
        "run": Own(run, ("", "--only secrets")),
        "verify": Own(verify, ("--recovery-key recovery.key",)),
        "list": Own(show_list, ("--json",)),
    }
    register_group(app, "backup", "Backup of a system on one machine: databases, images, secrets.", commands)
    into = "--into /var/lib/campus-restored --recovery-key recovery.key"
    restores = (f"campusctl restore --to {instant} {into}" for instant in ("2026-11-29T12:00:00Z", "latest"))
    command(app, "restore", *restores)(restore_system)


def create_recovery_key(
    operator: Operator,
    out: Annotated[Path, typer.Option(metavar="FILE", help="New file of the private key; nothing is overwritten.")],
) -> Output:
    """Create a recovery key. The private key opens the secrets of every backup: keep it off this machine, twice."""
    identity, recipient = new_identity()
    try:
        with os.fdopen(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"# Opens the secrets of the backups. Public key: {recipient}\n{identity}\n")
    except OSError as error:
        raise Refused(f"{out} cannot be written: {error.strerror}.", "Name a new file.") from None
    # Lines are not wrapped: a key is copied whole.
    lines = (f"BACKUP_RECOVERY_KEY={recipient}", f"The private key is in {out}.")
    return Output({"BACKUP_RECOVERY_KEY": recipient, "private key": str(out)}, lines=lines)


def init(operator: Operator, settings: SettingsFile = None) -> Output:
    """Create the repository, and let PostgreSQL archive to it; on the machine of the database, as root.

    A repetition checks that archiving works.
    """
    known = _settings(operator, settings)
    server = _run(initialise(known))
    return Output(
        {
            "repository": str(known.repository) if isinstance(known.repository, Path) else known.repository.bucket,
            "cluster": str(server.data_directory),
            "archiving": f"works; a change is archived within {known.archive_seconds} s",
            "next": "campusctl backup run",
        }
    )


def run(
    operator: Operator,
    settings: SettingsFile = None,
    only: Annotated[list[Part] | None, typer.Option(help="Only these parts; all when omitted.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Copy whole databases, not only what changed.")] = False,
) -> Output:
    """Back up databases, images and secrets now. Without --full a whole copy is made every BACKUP_FULL_DAYS."""
    known = _settings(operator, settings)
    try:
        done = _run(run_backup(known, only or list(Part), is_full=full))
    finally:
        # Also after a failure: the alerts need the age of the last success.
        _run(write_metrics(known))
    content: dict[str, Any] = {}
    if done.secrets_changed is not None:
        content["secrets"] = "changed, and stored" if done.secrets_changed else "as at their last backup"
    if done.database is not None:
        seconds = (done.database.finished_at - done.database.started_at).total_seconds()
        content["database"] = f"{done.database.label}, {done.database.stored_bytes} bytes stored in {seconds:.0f} s"
    if done.images is not None:
        content["images"] = f"{done.images.images}, {done.images.added} added, {done.images.removed} removed"
    return Output(content)


def verify(operator: Operator, settings: SettingsFile = None, recovery_key: RecoveryKey = None) -> Output:
    """Verify that archiving works and the repository is whole; with the recovery key, that it opens the secrets."""
    known = _settings(operator, settings)
    return Output(_run(verify_backups(known, _identity(recovery_key) if recovery_key else "")))


def show_list(operator: Operator, settings: SettingsFile = None) -> Output:
    """List the backups. Any instant from the end of the oldest one on can be restored."""
    stored = _run(list_backups(_settings(operator, settings)))
    rows = [
        {
            "kind": f"database, {row.kind}",
            "at": str(row.finished_at),
            "name": row.label,
            "storedBytes": row.stored_bytes,
        }
        for row in stored.databases
    ]
    rows += [{"kind": "secrets", "at": str(at), "name": None, "storedBytes": None} for at in stored.secrets]
    rows += [{"kind": "images", "at": str(at), "name": None, "storedBytes": None} for at in stored.images]
    return Output(sorted(rows, key=lambda row: str(row["at"])), ("kind", "at", "name", "storedBytes"))


def restore_system(
    operator: Operator,
    to: Annotated[str, typer.Option(metavar="TIME", help="An instant with offset, or latest.")],
    into: Annotated[Path, typer.Option(metavar="DIR", help="A new folder, which PostgreSQL's user may enter.")],
    recovery_key: Annotated[Path, typer.Option("--recovery-key", metavar="FILE", help="The private recovery key.")],
    settings: SettingsFile = None,
) -> Output:
    """Restore databases, images and secrets of an instant into a new folder. Nothing is started or overwritten."""
    at, identity = _checked(lambda: instant_or_latest(to)), _identity(recovery_key)
    restored = _run(restore(_settings(operator, settings), at, into, identity))
    after = " (changed after the instant: secrets-after has the later ones)" if restored.changed_secrets else ""
    return Output(
        {
            "databases": f"{restored.data_directory}, for PostgreSQL {restored.postgresql}; it does not archive yet",
            "images": f"{restored.images} in {into / 'images'}",
            "secrets": f"{into / 'secrets'}, of {restored.secrets_of}{after}",
            "next": "start PostgreSQL on this folder, then docs/runbooks/database-restore.md from step 3; "
            "`campusctl backup init` at the end",
        }
    )


def _settings(operator: Operator, path: Path | None) -> BackupSettings:
    state_dir = operator.own.state_dir
    return _checked(lambda: read_backup_settings(path or state_dir / "backup.env", state_dir))


def _identity(path: Path) -> str:
    return _checked(lambda: private_key_in(path))


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    return _checked(lambda: asyncio.run(work))


def _checked(work: Callable[[], Result]) -> Result:
    """Return the result. Raises Refused in place of BackupFailed."""
    try:
        return work()
    except BackupFailed as error:
        exit_code = NOT_REACHABLE if error.is_unreachable else REFUSED
        raise Refused(error.detail, error.advice, exit_code) from None
