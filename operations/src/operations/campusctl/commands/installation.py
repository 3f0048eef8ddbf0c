"""Installation and upgrade of the system on one machine, without containers (docs/operating.md)."""

from pathlib import Path
from typing import Annotated

import typer

from operations.campusctl.exits import Refused
from operations.campusctl.registering import Operator, Yes, command
from operations.campusctl.showing import Output
from operations.installation.errors import InstallationFailed
from operations.installation.files import changed
from operations.installation.host import Host
from operations.installation.installing import install
from operations.installation.plan import (
    PACKAGES,
    PostgresqlCluster,
    memory_of_machine,
    planned_files,
    preview_secrets,
    release_folder,
)
from operations.installation.settings import (
    SETTINGS_FILE,
    TEMPLATE,
    InstallationSettings,
    read_installation_settings,
)
from operations.installation.upgrading import upgrade

SettingsFile = Annotated[
    Path, typer.Option("--settings", envvar="CAMPUS_SETTINGS", metavar="FILE", help="The settings of the system.")
]
# The version of a machine on which PostgreSQL is not installed yet: that of Debian 12.
_POSTGRESQL_OF_DEBIAN = 15


def register(app: typer.Typer) -> None:
    command(
        app,
        "install",
        "campusctl install --template > /etc/campus/campus.env",
        "campusctl install --dry-run",
        "campusctl install --yes",
    )(install_system)
    command(
        app,
        "upgrade",
        "/opt/campus/releases/1.3.0/.venv/bin/campusctl upgrade",
        "/opt/campus/releases/1.3.0/.venv/bin/campusctl upgrade --without-backup --yes",
    )(upgrade_system)


def install_system(
    operator: Operator,
    settings: SettingsFile = SETTINGS_FILE,
    template: Annotated[bool, typer.Option("--template", help="Print a settings file to fill in.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be written; change nothing.")] = False,
    yes: Yes = False,
) -> Output:
    """Install the servers, the processes and the edge on this machine; as root. A repetition changes what differs only.

    Packages of Debian, units of systemd with limits of memory, TLS, backups and the nightly audit: docs/operating.md.
    """
    if template:
        return Output({"template": TEMPLATE}, lines=tuple(TEMPLATE.splitlines()))
    try:
        known = read_installation_settings(settings, memory_of_machine())
        if dry_run:
            return _preview(known)
        operator.confirm(f"Install {release_folder()} on this machine?", yes=yes)
        host = Host()
        install(known, host)
    except InstallationFailed as error:
        raise Refused(error.detail, error.advice) from None
    next_step = "campusctl status, then campusctl doctor (docs/operating.md)"
    return Output(
        {"changed": host.done, "next": next_step},
        lines=(*host.done, *([] if host.done else ["nothing was changed"]), f"next: {next_step}"),
    )


def upgrade_system(
    operator: Operator,
    settings: SettingsFile = SETTINGS_FILE,
    without_backup: Annotated[bool, typer.Option("--without-backup", help="Make no backup before.")] = False,
    yes: Yes = False,
) -> Output:
    """Let the release of this command run: backup, migrations, processes one by one. The one before returns on failure.

    Run it as root by the path of the new release.
    """
    try:
        known = read_installation_settings(settings, memory_of_machine())
        operator.confirm(f"Upgrade this machine to {release_folder()}?", yes=yes)
        host = Host()
        before = upgrade(known, host, has_backup=not without_backup)
    except InstallationFailed as error:
        raise Refused(error.detail, error.advice) from None
    return Output({"changed": host.done, "release": str(release_folder()), "before": str(before)})


def _preview(settings: InstallationSettings) -> Output:
    """Show every file that differs, with its content unless it holds secrets."""
    cluster = PostgresqlCluster.found() or PostgresqlCluster(_POSTGRESQL_OF_DEBIAN)
    files = changed(planned_files(settings, preview_secrets(settings), cluster))
    packages = Host().missing_packages(PACKAGES)
    rows = [{"path": str(file.path), "content": None if file.is_secret else file.content} for file in files]
    lines = [f"packages: {', '.join(packages)}"] if packages else []
    for file in files:
        shown = "(secret)" if file.is_secret else file.content.rstrip()
        lines += [f"--- {file.path} ({file.mode:o})", *shown.splitlines()]
    return Output({"packages": packages, "files": rows}, lines=tuple(lines or ["nothing would be changed"]))
