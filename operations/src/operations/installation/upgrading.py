"""Replace the release of an installation: backup, migrations, processes one by one, and back after a failure."""

import asyncio
import shutil
from pathlib import Path
from typing import Final

from operations.backup.backing_up import Part, run_backup
from operations.backup.errors import BackupFailed
from operations.backup.settings import read_backup_settings
from operations.installation.errors import InstallationFailed
from operations.installation.files import PlannedFile, changed
from operations.installation.host import Host, check_readable
from operations.installation.installing import (
    found_cluster,
    link_release,
    migrate,
    provision,
    require_root,
    restart_processes,
    write_files,
)
from operations.installation.plan import planned_files, release_folder, secrets_of
from operations.installation.settings import STATE_DIR, InstallationSettings
from operations.installation.units import INSTALLED, RELEASE, unit_name

_DISK_FREE_BYTES_MIN: Final = 2 * 1024**3


def upgrade(settings: InstallationSettings, host: Host, *, has_backup: bool = True) -> Path:
    """Let the release of this program run, and return the one before. Run by the new release's own campusctl.

    Migrations leave everything that the release before uses, so going back needs none. Raises InstallationFailed, after
    the release before runs again.
    """
    require_root()
    release, before = release_folder(), RELEASE.resolve()
    check_readable(release)
    if not RELEASE.is_symlink() or not before.exists():
        raise InstallationFailed(f"{RELEASE} names no release.", "Install first: campusctl install")
    if release == before:
        advice = "Run the new release's command: /opt/campus/releases/VERSION/.venv/bin/campusctl upgrade"
        raise InstallationFailed(f"{release} is the release that runs.", advice)
    if shutil.disk_usage(STATE_DIR).free < _DISK_FREE_BYTES_MIN:
        raise InstallationFailed("Less than 2 GiB of the disk are free.", "Make room, then repeat")
    if has_backup:
        _back_up(host)
    secrets = secrets_of(settings)
    files = planned_files(settings, secrets, found_cluster())
    provision(settings, secrets, host)
    migrate(settings, secrets, release)
    host.change("migrated")
    previous = [_as_it_is(file) for file in changed(files) if file.path.exists()]
    try:
        write_files(files, host)
        link_release(release, host)
        restart_processes(host, _every_process())
    except InstallationFailed as error:
        write_files(previous, host)
        link_release(before, host)
        restart_processes(host, _every_process())
        raise InstallationFailed(f"{error.detail} {before} runs again.", error.advice) from error
    return before


def _back_up(host: Host) -> None:
    try:
        settings = read_backup_settings(STATE_DIR / "backup.env", STATE_DIR)
        asyncio.run(run_backup(settings, list(Part)))
    except BackupFailed as error:
        advice = f"{error.advice} To upgrade without a backup: --without-backup"
        raise InstallationFailed(f"The backup before the upgrade failed: {error.detail}", advice) from error
    host.change("backed up")


def _every_process() -> set[str]:
    return {unit_name(plan) for plan in INSTALLED.processes}


def _as_it_is(file: PlannedFile) -> PlannedFile:
    mode = file.path.stat().st_mode & 0o777
    return PlannedFile(file.path, file.path.read_text(), mode, file.restarts, file.is_secret)
