"""Backup and restore of one machine, with a real PostgreSQL and pgBackRest."""

import asyncio
import base64
import json
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest
from typer.testing import CliRunner

from campus_tools.launcher.ports import free_port_base
from campus_tools.servers.backed_up import archive_to, find_pgbackrest, open_socket, start_restored
from campus_tools.servers.memory import throwaway_root
from campus_tools.servers.postgresql import PrivatePostgresql, remove_data_directory
from operations.backup import age
from operations.backup.backing_up import Part, initialise, list_backups, run_backup, verify_backups
from operations.backup.encrypted_objects import ObjectCipher
from operations.backup.errors import BackupFailed
from operations.backup.images import LISTS, back_up_images, restore_images
from operations.backup.metrics import write_metrics
from operations.backup.objects import FolderObjects
from operations.backup.restoring import instant_or_latest, restore
from operations.backup.secret_bundles import private_key_in
from operations.backup.settings import BackupSettings, read_backup_settings
from operations.campusctl.app import app
from operations.connecting import connected
from testkit.certificates import Authority

# A file of the program age 1.1.1, and its key.
IDENTITY = "AGE-SECRET-KEY-1FQAD7UYQK6CP7Z2PRMXLM5CP0XHZTLSVGXL8ES64XYYGV386TFZQNVSD03"
FILE_OF_AGE = (
    "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSArSFloM2dJeWVIZHhadE9NajA0MTg5TjhDczBoU2U1L1lIVE5iQjdjL0FNCkpxbEtDK3Z1"
    "RjhmT2VhMFhIY0dEQUtyZTJNS2ZhVnVvVlYrekVIR21OTUkKLS0tIDY2eXlLYmMweHp5N0FSeDVySzNSamIzSEZpV2haN1VvaWk3bTBIWVFibjgK"
    "Fs0Yu5z9JPdMq8fL20ZPPTbZW36Fclirxww0xWhCkWN5kSzTh0x3VMLasW8IlSpVjA=="
)
RECIPIENT = age.recipient_of(IDENTITY)


@dataclass
class Machine:
    """A server with its folders, as one machine has them."""

    server: PrivatePostgresql
    settings: BackupSettings
    files: Path

    @asynccontextmanager
    async def connected(self, database: str = "postgres") -> AsyncIterator[asyncpg.Connection]:
        async with connected(self.server.url.rsplit("/", 1)[0] + f"/{database}") as connection:
            yield connection

    async def insert(self, text: str) -> datetime:
        """Insert a row into both databases, and return an instant after it."""
        for database in ("one", "two"):
            async with self.connected(database) as connection:
                await connection.execute("CREATE TABLE IF NOT EXISTS notes (text text)")
                await connection.execute("INSERT INTO notes VALUES ($1)", text)
        async with self.connected() as connection:
            at = await connection.fetchval("SELECT clock_timestamp()")
            # Later rows are at least this much later, whatever the resolution of the clock.
            await connection.fetchval("SELECT pg_sleep(0.01)")
        return at

    async def notes(self, database: str) -> list[str]:
        async with self.connected(database) as connection:
            return [row["text"] for row in await connection.fetch("SELECT text FROM notes ORDER BY text")]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    find_pgbackrest(print)
    state = Path(tempfile.mkdtemp(prefix="state-", dir=throwaway_root()))
    server = PrivatePostgresql(state, free_port_base() + 60, report=print, durable=False)
    # Of PostgreSQL's user, and apart from the data, whose folder is lost.
    files = Path(tempfile.mkdtemp(prefix="backup-", dir=throwaway_root()))
    files.chmod(0o711)
    open_socket(server, files)
    (files / "media").mkdir()
    (tmp_path / "backup.env").write_text(
        f"BACKUP_REPOSITORY={files / 'repository'}\nBACKUP_RECOVERY_KEY={RECIPIENT}\n"
        f"BACKUP_FOLDER={files / 'backup'}\nMEDIA_FOLDER={files / 'media'}\nDATABASE_URL={server.url}\n"
        f"BACKUP_SECRET_FILES={tmp_path / 'secrets.env'}\n"
    )
    (tmp_path / "secrets.env").write_text("SEALING_KEY=first\n")
    settings = read_backup_settings(tmp_path / "backup.env", tmp_path)
    server.start()
    yield Machine(server, settings, files)
    server.kill()
    remove_data_directory(state)
    for folder in (files, state):
        shutil.rmtree(folder, ignore_errors=True)


async def test_a_lost_machine_is_restored_to_an_instant(machine: Machine, tmp_path: Path) -> None:
    settings, media = machine.settings, machine.files / "media"
    with pytest.raises(BackupFailed, match="archives after its next start"):
        await initialise(settings)
    machine.server.stop()
    archive_to(machine.server, settings)
    machine.server.start()
    await initialise(settings)
    async with machine.connected() as connection:
        for database in ("one", "two"):
            await connection.execute(f"CREATE DATABASE {database}")
    await machine.insert("in the base backup")
    (media / "a").write_bytes(b"first image")
    done = await run_backup(settings, list(Part))
    assert done.database.kind == "full"
    assert (done.secrets_changed, done.images.added) == (True, 1)

    # A restore to an instant needs a backup that ended in an earlier second.
    async with machine.connected() as connection:
        await connection.fetchval("SELECT pg_sleep(1.1)")
    instant = await machine.insert("before the instant")
    await machine.insert("after the instant")
    (media / "a").unlink()
    (media / "b").write_bytes(b"second image")
    settings.secret_files[0].write_text("SEALING_KEY=second\n")
    with pytest.raises(BackupFailed, match="secrets changed after their backup"):
        await verify_backups(settings, IDENTITY)
    # The name of a bundle and of a list has whole seconds.
    async with machine.connected() as connection:
        await connection.fetchval("SELECT pg_sleep(1.1)")
    await run_backup(settings, [Part.secrets, Part.images])
    checked = await verify_backups(settings, IDENTITY)
    assert checked.keys() == {"archiving", "databases", "images", "secrets"}
    assert [row.kind for row in (await list_backups(settings)).databases] == ["full"]
    async with await asyncio.start_server(
        lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=Authority().server_of(tmp_path, "localhost")
    ) as edge:
        hosts = f"localhost:{edge.sockets[0].getsockname()[1]}", f"localhost:{free_port_base()}"
        observed = replace(settings, metrics_file=tmp_path / "campus.prom", certificate_hosts=hosts)
        await write_metrics(observed)
    metrics = {line.rpartition(" ")[0]: line for line in (tmp_path / "campus.prom").read_text().splitlines()}
    assert metrics["campus_database_lock_wait_seconds"] == "campus_database_lock_wait_seconds 0"
    assert int(metrics["campus_database_transaction_id_age"].rpartition(" ")[2]) > 0
    ends = [line for line in metrics if line.startswith("campus_certificate_expiration_timestamp_seconds{")]
    assert ends == [f'campus_certificate_expiration_timestamp_seconds{{name="{hosts[0]}"}}']
    assert 0 < int(metrics[ends[0]].rpartition(" ")[2]) - time.time() < 86_400
    assert metrics["campus_backup_archiving_failing"] == "campus_backup_archiving_failing 0"
    assert f"{done.database.finished_at.timestamp():.0f}" in metrics['campus_backup_timestamp_seconds{part="database"}']

    damaged = max((machine.files / "repository").glob("database/backup/campus/*F/bundle/*"), key=lambda path: path.name)
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-100] + bytes(100))
    with pytest.raises(BackupFailed, match="damaged files"):
        await verify_backups(settings)
    damaged.write_bytes(content)

    machine.server.kill()
    shutil.rmtree(machine.server.directory)
    shutil.rmtree(settings.folder)
    into = machine.files / "restored"
    restored = await restore(settings, instant, into, IDENTITY)
    assert restored.changed_secrets
    assert (into / "secrets" / "secrets.env").read_text() == "SEALING_KEY=first\n"
    assert (into / "secrets-after" / "secrets.env").read_text() == "SEALING_KEY=second\n"
    # That of the instant, and a later one, which no row refers to.
    assert (into / "images" / "media" / "a").read_bytes() == b"first image"
    assert (into / "images" / "media" / "b").read_bytes() == b"second image"
    # The settings of a new machine, which allow fewer connections than those of the lost one.
    machine.server.settings["max_connections"] = "20"
    await start_restored(machine.server, into)
    assert await machine.notes("one") == await machine.notes("two") == ["before the instant", "in the base backup"]
    async with machine.connected() as connection:
        assert await connection.fetchval("SHOW archive_mode") == "off"

    with pytest.raises(BackupFailed, match="is not empty"):
        await restore(settings, instant, into, IDENTITY)
    with pytest.raises(BackupFailed, match="The oldest backup ended"):
        await restore(settings, instant - timedelta(days=1), machine.files / "earlier", IDENTITY)
    with pytest.raises(BackupFailed, match="The recovery key does not open"):
        await restore(settings, None, machine.files / "other", age.new_identity()[0])
    # A new machine does not write into the repository under another passphrase.
    with pytest.raises(BackupFailed, match="under a passphrase that this machine lacks"):
        await initialise(settings)


async def test_a_backup_without_archiving_is_refused(machine: Machine) -> None:
    with pytest.raises(BackupFailed, match="passphrase is not readable"):
        await run_backup(machine.settings, [Part.database])
    with pytest.raises(BackupFailed, match="archives after its next start"):
        await initialise(machine.settings)
    with pytest.raises(BackupFailed, match="does not archive to this repository"):
        await run_backup(machine.settings, [Part.database])


async def test_a_missing_repository_is_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BackupFailed, match="BACKUP_RECOVERY_KEY is not set"):
        await initialise(replace(machine.settings, recovery_key=""))
    monkeypatch.setenv("PATH", str(machine.files))
    with pytest.raises(BackupFailed) as found:
        await initialise(machine.settings)
    assert found.value.advice == "Install it: sudo apt-get install pgbackrest"


def test_a_file_of_the_program_age_is_opened() -> None:
    assert age.decrypt(base64.b64decode(FILE_OF_AGE), IDENTITY) == b"the secrets file\n"


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 200_000])
def test_what_was_encrypted_is_decrypted(size: int) -> None:
    document = age.encrypt(bytes(size), RECIPIENT)
    assert age.decrypt(document, IDENTITY) == bytes(size)
    with pytest.raises(age.WrongKey):
        age.decrypt(document, age.new_identity()[0])
    for changed in (document[:-1], document[:-1] + bytes([document[-1] ^ 1])):
        with pytest.raises(ValueError, match="content was cut or changed"):
            age.decrypt(changed, IDENTITY)
    with pytest.raises(ValueError, match="header was changed"):
        age.decrypt(document.replace(b"-> X25519", b"-> other\nAAAA\n-> X25519", 1), IDENTITY)


def test_a_chunk_cannot_be_removed() -> None:
    document = age.encrypt(bytes(200_000), RECIPIENT)
    with pytest.raises(ValueError, match="cut or changed"):
        age.decrypt(document[: -(200_000 - 3 * 65_536 + 16)], IDENTITY)


@pytest.mark.parametrize("key", ["", "age1", RECIPIENT[:-1] + "q", RECIPIENT.upper(), IDENTITY.lower()])
def test_a_mistyped_recovery_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="the key"):
        age.check_recipient(key)


async def test_an_image_is_kept_as_long_as_a_list_names_it(tmp_path: Path) -> None:
    repository, cipher = FolderObjects(tmp_path / "repository"), ObjectCipher("passphrase")
    media, keep, start = tmp_path / "media", timedelta(days=14), datetime(2026, 11, 1, tzinfo=UTC)
    media.mkdir()
    (media / "erased").write_bytes(b"an erased user")
    for day in range(1, 32):
        if day == 2:
            (media / "erased").rename(media / "kept")
        await back_up_images({"media": media}, repository, cipher, start + timedelta(days=day), keep)
        # The list of the first day is the last one before the period until day 16.
        assert ("media/erased" in await repository.names("images")) == (day < 17)
    assert len(await repository.names(LISTS)) == 16
    assert await restore_images(repository, cipher, start + timedelta(days=20), tmp_path / "restored") == 1
    with pytest.raises(BackupFailed, match="another passphrase"):
        await restore_images(repository, ObjectCipher("other"), start + timedelta(days=20), tmp_path / "again")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "BACKUP_REPOSITORY is not set"),
        ("BACKUP_REPOSITORY=backup", "no absolute path"),
        ("BACKUP_REPOSITORY=/a\nBACKUP_REPO=/b", "unknown settings: BACKUP_REPO"),
        ("BACKUP_REPOSITORY=/a\nBACKUP_KEEP_DAYS=0", "BACKUP_KEEP_DAYS is no number from 1 on"),
        ("BACKUP_REPOSITORY=/a\nBACKUP_RECOVERY_KEY=age1abc", "BACKUP_RECOVERY_KEY is no public key"),
        ("BACKUP_REPOSITORY=s3://a/b", "BACKUP_S3_ENDPOINT is not set"),
        ("BACKUP_REPOSITORY=s3://a/b\nBACKUP_S3_ENDPOINT=http://s3.example", "no https:// address"),
        ("BACKUP_REPOSITORY", "line 1 is not NAME=value"),
    ],
)
def test_a_wrong_setting_is_named(lines: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "backup.env").write_text(lines)
    with pytest.raises(BackupFailed, match=message):
        read_backup_settings(tmp_path / "backup.env", tmp_path)


@pytest.mark.parametrize("text", ["yesterday", "2026-11-29T12:00:00"])
def test_an_instant_without_an_offset_is_refused(text: str) -> None:
    with pytest.raises(BackupFailed):
        instant_or_latest(text)
    assert instant_or_latest("2026-11-29T13:00:00+01:00") == datetime(2026, 11, 29, 12, tzinfo=UTC)
    assert instant_or_latest("latest") is None


def test_a_new_recovery_key_is_printed_on_one_line_and_its_private_half_is_not(tmp_path: Path) -> None:
    arguments = ["backup", "recovery-key", "--out", str(tmp_path / "recovery.key")]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "40"})
    identity = private_key_in(tmp_path / "recovery.key")
    assert result.stdout.splitlines()[0] == f"BACKUP_RECOVERY_KEY={age.recipient_of(identity)}"
    assert identity not in result.stdout
    assert CliRunner().invoke(app, arguments).exit_code == 1
    assert private_key_in(tmp_path / "recovery.key") == identity


def test_a_file_without_a_private_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("nothing\n")
    with pytest.raises(BackupFailed) as found:
        private_key_in(tmp_path / "key")
    assert "nothing" not in json.dumps([found.value.detail, found.value.advice])
