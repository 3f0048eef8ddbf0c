"""Set up, run, verify and list the backups of one system."""

import secrets
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

from operations.backup.cluster import inspect, read_archiving, set_archiving
from operations.backup.encrypted_objects import ObjectCipher
from operations.backup.errors import ArchivesAfterRestart, BackupFailed
from operations.backup.images import LISTS, CopiedImages, back_up_images, instant_of, verify_images
from operations.backup.objects import open_objects
from operations.backup.pgbackrest import Account, DatabaseBackup, PgBackRest, Server, configuration_of, find_program
from operations.backup.secret_bundles import BUNDLES, back_up_secrets, digest_of, read_bundles, secret_files
from operations.backup.settings import BackupSettings

# A bundle a day, also where no secret changed: the retention period needs one at its start.
_BUNDLE_EVERY: Final = timedelta(hours=20)


class Part(StrEnum):
    """A part of a backup."""

    secrets = "secrets"
    database = "database"
    images = "images"


@dataclass(frozen=True, slots=True)
class DoneBackup:
    """The result of a run; None for a part that was not requested. `secrets_changed`: a bundle was written."""

    secrets_changed: bool | None = None
    database: DatabaseBackup | None = None
    images: CopiedImages | None = None


@dataclass(frozen=True, slots=True)
class StoredBackups:
    """The base backups, the instants of secrets and image lists, and PostgreSQL's archiving."""

    databases: tuple[DatabaseBackup, ...]
    secrets: tuple[datetime, ...]
    images: tuple[datetime, ...]


async def initialise(settings: BackupSettings) -> Server:
    """Write pgBackRest's configuration, create the repository and enable archiving; a repetition changes nothing else.

    Raises BackupFailed, and ArchivesAfterRestart where PostgreSQL must be restarted before archiving starts.
    """
    find_program()
    if not settings.recovery_key:
        advice = "Create a key with `campusctl backup recovery-key --out FILE`, and keep FILE off this machine."
        raise BackupFailed("BACKUP_RECOVERY_KEY is not set.", advice)
    server = await inspect(settings.database_url)
    account = server.account
    if isinstance(settings.repository, Path):
        account.folder(settings.repository)
    for folder in (settings.folder, settings.folder / "lock", settings.folder / "spool"):
        account.folder(folder)
    await _create_passphrase(settings, account)
    text = configuration_of(settings, passphrase_of(settings), server.data_directory, settings.folder)
    account.write(settings.configuration, text)
    program = PgBackRest.of_server(settings, server)
    program.run("stanza-create", with_server=True)
    if (server.archive_mode, server.archive_command) != ("on", settings.archive_command):
        await set_archiving(settings)
    if server.archive_mode != "on":
        raise ArchivesAfterRestart(
            "PostgreSQL archives after its next start.",
            "Restart it (sudo systemctl restart postgresql), then run `campusctl backup init` again.",
        )
    program.run("check", with_server=True)
    return server


async def run_backup(settings: BackupSettings, parts: Collection[Part], *, is_full: bool = False) -> DoneBackup:
    """Back up the parts: secrets first, because rows of the database may be encrypted with them.

    Raises BackupFailed.
    """
    now = datetime.now(UTC)
    keep = timedelta(days=settings.keep_days)
    passphrase = passphrase_of(settings)
    has_new_secrets = database = images = None
    async with open_objects(settings.repository) as repository:
        if Part.secrets in parts:
            files = secret_files(settings.secret_files, passphrase)
            stored = [instant_of(name) for name in await repository.names(BUNDLES)]
            has_new_secrets = digest_of(files) != stored_digest(settings) or not stored
            if has_new_secrets or now - max(stored) > _BUNDLE_EVERY:
                await back_up_secrets(files, settings.recovery_key, repository, now, keep)
                (settings.folder / "secrets.sha256").write_text(digest_of(files))
        if Part.database in parts:
            database = await _back_up_databases(settings, now, is_full=is_full)
        if Part.images in parts:
            images = await back_up_images(settings.images, repository, ObjectCipher(passphrase), now, keep)
    return DoneBackup(has_new_secrets, database, images)


async def verify_backups(settings: BackupSettings, identity: str = "") -> dict[str, str]:
    """Verify that archiving works, and every file of the repository. Return a line for each check. Raises BackupFailed.

    With the private recovery key also that it opens the newest secrets, and that they are the current ones.
    """
    server = await inspect(settings.database_url)
    program = PgBackRest.of_server(settings, server)
    program.run("check", with_server=True)
    report = program.run("verify", "--output=text")
    if "error" in report.lower().replace("errors: 0", ""):
        raise BackupFailed(f"The repository has damaged files: {report.strip()[-500:]}", "Run a full backup: --full.")
    backups = program.backups()
    passphrase = passphrase_of(settings)
    async with open_objects(settings.repository) as repository:
        count = await verify_images(repository, ObjectCipher(passphrase))
        found = {
            "archiving": "a segment of WAL reached the repository",
            "databases": f"{len(backups.rows)} backups with whole files; the last ended {backups.last.finished_at}",
            "images": f"{count} images with whole content",
        }
        if identity:
            bundle = (await read_bundles(repository, datetime.now(UTC), identity))[0]
            if bundle.files != secret_files(settings.secret_files, passphrase):
                advice = "Run `campusctl backup run --only secrets` after each change of a secret."
                raise BackupFailed(f"The secrets changed after their backup of {bundle.at}.", advice)
            found["secrets"] = f"the recovery key opens the current ones, of {bundle.at}"
    return found


async def list_backups(settings: BackupSettings) -> StoredBackups:
    """Return what the repository has. Raises BackupFailed, also where it has no base backup."""
    with suppress(PermissionError):
        if not settings.configuration.exists():
            raise BackupFailed(
                f"No backup is set up: {settings.configuration} does not exist.", "campusctl backup init"
            )
    account = Account.owner_of(settings.configuration)
    databases = PgBackRest(settings.configuration, account).backups()
    async with open_objects(settings.repository) as repository:
        bundles = sorted(instant_of(name) for name in await repository.names(BUNDLES))
        lists = sorted(instant_of(name) for name in await repository.names(LISTS))
    return StoredBackups(databases.rows, tuple(bundles), tuple(lists))


def passphrase_of(settings: BackupSettings) -> str:
    try:
        return settings.passphrase_file.read_text().strip()
    except OSError as error:
        advice = "Run `campusctl backup init` first, and commands of the backup as root or as PostgreSQL's user."
        raise BackupFailed(f"{settings.passphrase_file} is not readable: {error.strerror}.", advice) from None


def stored_digest(settings: BackupSettings) -> str:
    """Return the hash of the secrets at their last backup; empty before the first one."""
    path = settings.folder / "secrets.sha256"
    return path.read_text().strip() if path.exists() else ""


async def _create_passphrase(settings: BackupSettings, account: Account) -> None:
    if settings.passphrase_file.exists():
        return
    async with open_objects(settings.repository) as repository:
        if await repository.names(BUNDLES) or await repository.names("database"):
            raise BackupFailed(
                "The repository has backups under a passphrase that this machine lacks.",
                f"Copy `passphrase` of a restore to {settings.passphrase_file}, or name an empty BACKUP_REPOSITORY.",
            )
    account.write(settings.passphrase_file, f"{secrets.token_urlsafe(48)}\n")


async def _back_up_databases(settings: BackupSettings, now: datetime, *, is_full: bool) -> DatabaseBackup:
    server = await inspect(settings.database_url)
    if (server.archive_mode, server.archive_command) != ("on", settings.archive_command):
        raise BackupFailed("PostgreSQL does not archive to this repository.", "Run `campusctl backup init` first.")
    archiving = await read_archiving(settings.database_url)
    if archiving.is_failing:
        raise BackupFailed(
            f"Archiving fails since {archiving.last_failed_at}; a backup without it cannot be restored.",
            "See PostgreSQL's log for the error of archive_command, and the runbook archiving-failed.",
        )
    program = PgBackRest.of_server(settings, server)
    kind = "full" if is_full or _needs_full(program, now, settings.full_days) else "incr"
    program.run("backup", f"--type={kind}", with_server=True)
    return program.backups().last


def _needs_full(program: PgBackRest, now: datetime, full_days: int) -> bool:
    try:
        return now - program.backups().last_full_at() >= timedelta(days=full_days)
    except BackupFailed as error:
        # A repository without a backup; any other error is that of the backup, too.
        if "no backup" in error.detail or "no valid backups" in error.detail:
            return True
        raise
