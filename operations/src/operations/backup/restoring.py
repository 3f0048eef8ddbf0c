"""Restore the databases, images and secrets of one instant into an empty folder."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from operations.backup.encrypted_objects import ObjectCipher
from operations.backup.errors import BackupFailed
from operations.backup.images import restore_images
from operations.backup.objects import open_objects
from operations.backup.pgbackrest import Account, PgBackRest, configuration_of, find_program
from operations.backup.secret_bundles import PASSPHRASE, Bundle, read_bundles
from operations.backup.settings import BackupSettings


@dataclass(frozen=True, slots=True)
class Restored:
    """The folders of a restore. `changed_secrets` names those that changed after the instant, in `secrets-after`."""

    data_directory: Path
    postgresql: str
    images: int
    secrets_of: datetime
    changed_secrets: bool


def instant_or_latest(text: str) -> datetime | None:
    """Return the instant of `2026-11-29T12:00:00Z`, and None for `latest`. Raises BackupFailed, also without offset."""
    if text == "latest":
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise BackupFailed(f"{text!r} is no instant.", "Write 2026-11-29T12:00:00Z, or latest.") from None
    if at.tzinfo is None:
        raise BackupFailed(f"{text!r} has no offset.", f"Write {text}Z for UTC, or {text}+01:00 for Lagos.")
    return at.astimezone(UTC)


async def restore(settings: BackupSettings, to: datetime | None, into: Path, identity: str) -> Restored:
    """Restore to the instant, or to the end of the archive; the server is not started.

    The restored server does not archive, so it may run beside the original. Raises BackupFailed; a folder that a failed
    restore leaves is incomplete.
    """
    find_program()
    into = into.absolute()
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise BackupFailed(f"{into} is not empty.", "Name a new folder: a restore overwrites nothing.")
    account = Account.named(settings.postgres_user)
    at = to or datetime.now(UTC)
    async with open_objects(settings.repository) as repository:
        bundles = await read_bundles(repository, at, identity)
        into.mkdir(mode=0o711, parents=True, exist_ok=True)
        changed = _write_secrets(bundles, into)
        passphrase = bundles[0].files[PASSPHRASE].decode().strip()
        count = await restore_images(repository, ObjectCipher(passphrase), at, into / "images")
    version = _restore_databases(settings, passphrase, to, into, account)
    return Restored(into / "postgresql", version, count, bundles[0].at, changed)


def _restore_databases(
    settings: BackupSettings, passphrase: str, to: datetime | None, into: Path, account: Account
) -> str:
    data_directory, work = into / "postgresql", into / "pgbackrest"
    for folder in (data_directory, work, work / "lock", work / "spool"):
        account.folder(folder)
    configuration = work / "pgbackrest.conf"
    account.write(configuration, configuration_of(settings, passphrase, data_directory, work))
    program = PgBackRest(configuration, account)
    backups = program.backups()
    earliest = backups.rows[0].finished_at
    if to is not None and to < earliest:
        raise BackupFailed(f"The oldest backup ended {earliest}, after {to}.", "See `campusctl backup list`.")
    target = ("--type=time", f"--target={to:%Y-%m-%d %H:%M:%S.%f}+00", "--target-action=promote") if to else ()
    # With it, recovery needs at least the connections of the lost server, whose settings are not restored.
    program.run("restore", "--archive-mode=off", "--recovery-option=hot_standby=off", *target)
    return backups.postgresql


def _write_secrets(bundles: list[Bundle], into: Path) -> bool:
    """Write the secrets before the instant, and those after it where they differ. Return whether they do."""
    _write_files(bundles[0], into / "secrets")
    if len(bundles) == 1 or bundles[0].files == bundles[1].files:
        return False
    _write_files(bundles[1], into / "secrets-after")
    return True


def _write_files(bundle: Bundle, folder: Path) -> None:
    folder.mkdir(mode=0o700)
    for name, content in bundle.files.items():
        path = folder / Path(name).name
        path.touch(mode=0o600)
        path.write_bytes(content)
