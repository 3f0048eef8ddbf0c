"""The checks of `campusctl doctor --only machine`: each reports a planted difference, and a right machine has none."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import aio_pika
import httpx
import pytest

from campus_tools.launcher.ports import free_port_base
from campus_tools.servers import Servers
from campus_tools.servers.memory import throwaway_root
from campus_tools.servers.postgresql import PrivatePostgresql, find_binaries, remove_data_directory
from common.messaging.declaring import declare_broker
from operations import server_checks, system_status
from operations.backup.backing_up import StoredBackups
from operations.backup.pgbackrest import DatabaseBackup
from operations.backup.secret_bundles import digest_of, secret_files
from operations.backup.settings import read_backup_settings
from operations.broker_accounts import SUBSCRIBER_POLICY, SUBSCRIBER_POLICY_NAME
from operations.connecting import connected
from operations.database_settings import DATABASE_SETTINGS
from operations.doctor.findings import Finding
from operations.provision import provision_broker, provision_databases, service_database_urls
from operations.secrets import load_secrets
from operations.server_checks import check_servers
from operations.services import SERVICES
from operations.system_status import Machine
from operations.waiting import eventually

pytestmark = pytest.mark.long
PRODUCTION = {"ENVIRONMENT": "production"}
_RIGHT = {setting.name: setting.value for setting in DATABASE_SETTINGS if setting.is_required}


class Usage(NamedTuple):
    """The bytes of a disk, as `shutil.disk_usage` returns them."""

    total: int
    used: int
    free: int


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivatePostgresql]:
    """Yield a durable server with the settings of the table, checksums and archiving, and the migrated databases."""
    folder = throwaway_root() / f"campus-server-checks-{uuid4().hex}"
    server = PrivatePostgresql(folder, free_port_base(), report=print)
    # The checksums need a stopped server with its files.
    server.start()
    server.stop()
    checksums = [str(find_binaries(print) / "pg_checksums"), "--enable", "-D", str(server.directory)]
    owner = server.directory.stat()
    subprocess.run(checksums, user=owner.st_uid, group=owner.st_gid, cwd="/", check=True, capture_output=True)
    server.settings = {**_RIGHT, "archive_mode": "on", "archive_command": "true"}
    server.start()
    secrets = load_secrets(tmp_path_factory.mktemp("secrets"), {})
    asyncio.run(provision_databases(server.url, secrets))
    for service in SERVICES:
        environment = {**os.environ, **service_database_urls(server.url, service, secrets)}
        subprocess.run([sys.executable, "-m", service.import_name, "migrate"], env=environment, check=True)
    yield server
    server.stop()
    remove_data_directory(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def broker(own_servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Servers:
    """Return the servers with a provisioned broker; a test that plants a difference removes it."""
    secrets = load_secrets(tmp_path_factory.mktemp("broker"), {})
    asyncio.run(declare_broker(own_servers.broker_url, {}))
    asyncio.run(provision_broker(own_servers.management_url, own_servers.broker_url, secrets))
    return own_servers


@pytest.fixture
async def machine(
    database: PrivatePostgresql, broker: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Machine:
    """Return a right machine: audited and backed up an hour ago, with a synchronised clock and enough room."""
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    await execute(database.url, "campus_payments", "TRUNCATE audits CASCADE")
    await record_audit(database.url, hour_ago)
    load_secrets(tmp_path, {})
    (tmp_path / "backup.env").write_text(f"BACKUP_REPOSITORY={tmp_path}/repository\nBACKUP_FOLDER={tmp_path}\n")
    backup = read_backup_settings(tmp_path / "backup.env", tmp_path)
    backup.passphrase_file.write_text("passphrase\n")
    (tmp_path / "secrets.sha256").write_text(digest_of(secret_files(backup.secret_files, "passphrase")))
    stored_backups(monkeypatch, databases=hour_ago, images=hour_ago)
    (tmp_path / "timedatectl").write_text("#!/bin/sh\necho yes\n")
    (tmp_path / "timedatectl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    available_memory(monkeypatch, tmp_path, percent=50)
    monkeypatch.setattr(system_status.shutil, "disk_usage", lambda _folder: Usage(100 << 30, 50 << 30, 50 << 30))
    return Machine("http://127.0.0.1:9", tmp_path, database.url, broker.management_url, backup)


async def test_a_right_machine_has_no_fault_and_no_warning(machine: Machine) -> None:
    found = await check_servers(machine, PRODUCTION)
    assert [finding for finding in found if finding.state != "ok"] == []
    subjects = {finding.subject for finding in found}
    migrations = {f"migrations of {service.database}" for service in SERVICES}
    versions = {"version of PostgreSQL", "version of RabbitMQ"}
    data = {"archiving", "audit", "backup", "disk of state", "PostgreSQL settings", "queue policies"}
    assert migrations | versions | data | {"memory", "synchronised clock"} <= subjects


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("fsync", "off"),
        ("full_page_writes", "off"),
        ("synchronous_commit", "off"),
        ("idle_in_transaction_session_timeout", "90s"),
        ("log_min_duration_statement", "-1"),
        ("log_lock_waits", "off"),
    ],
)
async def test_another_value_of_a_required_setting_is_a_fault(machine: Machine, setting: str, value: str) -> None:
    async with setting_of(machine, setting, value):
        found = await fault_of(machine, setting)
    assert f"not {_RIGHT[setting]}: " in found.found
    assert found.advice == "campusctl install, or docs/reference/database-settings.md"


async def test_a_server_without_checksums_and_statistics_has_their_faults(
    machine: Machine, own_servers: Servers
) -> None:
    other = replace(machine, database_url=own_servers.database_url)
    assert "damaged page" in (await fault_of(other, "data_checksums")).found
    assert "not pg_stat_statements" in (await fault_of(other, "shared_preload_libraries")).found


async def test_a_login_without_a_limit_of_statements_is_a_fault(machine: Machine) -> None:
    login = "campus_orders_api_a"
    async with changed(machine, "postgres", f"ALTER ROLE {login} RESET statement_timeout"):
        found = await fault_of(machine, "statement_timeout")
        await provision_again(machine)
    assert found.found == f"is not set for {login}"


@pytest.mark.parametrize("version", ["0001", None])
async def test_a_pending_migration_is_a_fault(machine: Machine, version: str | None) -> None:
    change = f"UPDATE alembic_version SET version_num = '{version}'" if version else "DELETE FROM alembic_version"
    newest = (await finding_of(machine, "ok", "migrations of campus_orders")).found
    restored = f"DELETE FROM alembic_version; INSERT INTO alembic_version VALUES ('{newest}')"
    async with changed(machine, "campus_orders", change, restored):
        found = await fault_of(machine, "migrations of campus_orders")
    assert found.found == f"{version or 'none'} is applied, {newest} is the newest"


async def test_a_missing_database_is_a_fault(machine: Machine) -> None:
    renamed = ("ALTER DATABASE campus_payouts RENAME TO other", "ALTER DATABASE other RENAME TO campus_payouts")
    async with changed(machine, "postgres", *renamed):
        found = await fault_of(machine, "migrations of campus_payouts")
    assert found.found == "are not readable: InvalidCatalogNameError"


async def test_a_failing_archive_command_is_a_fault(machine: Machine) -> None:
    async with setting_of(machine, "archive_command", "false", "true"):
        await execute(machine.database_url, "postgres", "SELECT pg_switch_wal()")
        await until(machine, "SELECT failed_count > 0 FROM pg_stat_archiver")
        found = await fault_of(machine, "archiving")
    assert "last success" in found.found
    await until(machine, "SELECT last_archived_time > last_failed_time FROM pg_stat_archiver")
    await finding_of(machine, "ok", "archiving")


async def test_a_server_that_archives_nothing_has_a_warning(machine: Machine, own_servers: Servers) -> None:
    other = replace(machine, database_url=own_servers.database_url)
    assert (await finding_of(other, "warning", "archiving")).advice == "campusctl backup init"


@pytest.mark.parametrize(
    ("hours", "verdict", "advice"),
    [(27, "clean", "campusctl audit"), (1, "broken", "docs/runbooks/audit-broken.md")],
)
async def test_an_old_or_broken_audit_is_a_fault(machine: Machine, hours: int, verdict: str, advice: str) -> None:
    await execute(machine.database_url, "campus_payments", "TRUNCATE audits CASCADE")
    await record_audit(machine.database_url, datetime.now(UTC) - timedelta(hours=hours), verdict)
    assert (await fault_of(machine, "audit")).advice == advice


async def test_old_backups_and_changed_secrets_are_faults(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    day_before = datetime.now(UTC) - timedelta(hours=27)
    stored_backups(monkeypatch, databases=day_before, images=day_before)
    (machine.state_dir / "secrets.env").write_text("SEALING_KEY=second\n")
    assert (await fault_of(machine, "backup")).advice == "campusctl backup run"
    assert (await fault_of(machine, "backup of images")).advice == "campusctl backup run --only images"
    assert (await fault_of(machine, "backup of secrets")).advice == "campusctl backup run --only secrets"


async def test_a_machine_without_a_backup_has_a_warning(machine: Machine) -> None:
    found = await finding_of(replace(machine, backup=None), "warning", "backup")
    assert found.advice == "docs/backup.md"


@pytest.mark.parametrize(("free_percent", "state"), [(4, "fault"), (14, "warning")])
async def test_a_full_disk_is_reported(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, free_percent: int, state: str
) -> None:
    usage = Usage(100 << 30, (100 - free_percent) << 30, free_percent << 30)
    monkeypatch.setattr(system_status.shutil, "disk_usage", lambda _folder: usage)
    assert (await finding_of(machine, state, "disk of state")).found.startswith(f"{free_percent}.0 GiB")


async def test_a_machine_with_little_memory_left_has_a_fault(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    available_memory(monkeypatch, tmp_path, percent=9)
    assert (await fault_of(machine, "memory")).found == "9 % of 4096 MiB available"


async def test_a_clock_that_is_not_synchronised_has_a_warning(machine: Machine) -> None:
    (machine.state_dir / "timedatectl").write_text("#!/bin/sh\necho no\n")
    await finding_of(machine, "warning", "synchronised clock")


async def test_versions_that_are_not_supported_are_faults(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_checks, "POSTGRESQL_VERSIONS", range(90, 92))
    monkeypatch.setattr(server_checks, "RABBITMQ_VERSIONS", ((90, 0), (90, 1)))
    assert (await fault_of(machine, "version of PostgreSQL")).found.endswith("supported: 90 to 91")
    assert (await fault_of(machine, "version of RabbitMQ")).advice == "docs/releases.md"


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (None, "is missing"),
        ({**SUBSCRIBER_POLICY, "pattern": "^other"}, "differs in pattern"),
        ({**SUBSCRIBER_POLICY, "definition": {"expires": 1_000}}, "differs in definition"),
    ],
)
async def test_a_missing_or_changed_queue_policy_is_a_fault(
    machine: Machine, policy: Mapping[str, object] | None, text: str
) -> None:
    path = f"/api/policies/%2F/{SUBSCRIBER_POLICY_NAME}"
    async with httpx.AsyncClient(base_url=machine.management_url, trust_env=False) as api:
        planted = await (api.put(path, json=policy) if policy else api.delete(path))
        try:
            assert planted.is_success
            found = await fault_of(machine, "queue policies")
        finally:
            await api.put(path, json=SUBSCRIBER_POLICY)
    assert found.found == f"{SUBSCRIBER_POLICY_NAME} {text}"


async def test_a_classic_queue_has_a_warning(machine: Machine, own_servers: Servers) -> None:
    async with await aio_pika.connect(own_servers.broker_url) as connection:
        channel = await connection.channel()
        await channel.declare_queue("planted-classic", durable=True, arguments={"x-queue-type": "classic"})
        try:
            await until_listed(machine, "planted-classic")
            found = await finding_of(machine, "warning", "queue policies")
        finally:
            await channel.queue_delete("planted-classic")
    assert found.found == "queues that one node loses: planted-classic"


async def test_eleven_faults_at_once_are_each_named_with_what_to_do(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    day_before = datetime.now(UTC) - timedelta(hours=27)
    stored_backups(monkeypatch, databases=day_before, images=day_before)
    (machine.state_dir / "secrets.env").write_text("SEALING_KEY=second\n")
    available_memory(monkeypatch, tmp_path, percent=9)
    monkeypatch.setattr(system_status.shutil, "disk_usage", lambda _folder: Usage(100 << 30, 96 << 30, 4 << 30))
    await record_audit(machine.database_url, datetime.now(UTC), "broken")
    newest = (await finding_of(machine, "ok", "migrations of campus_orders")).found
    pending = "UPDATE alembic_version SET version_num = '0001'"
    path = f"/api/policies/%2F/{SUBSCRIBER_POLICY_NAME}"
    async with (
        setting_of(machine, "log_lock_waits", "off"),
        setting_of(machine, "archive_command", "false", "true"),
        changed(machine, "campus_orders", pending, f"UPDATE alembic_version SET version_num = '{newest}'"),
        changed(machine, "postgres", "ALTER ROLE campus_payouts_api_a RESET statement_timeout"),
        httpx.AsyncClient(base_url=machine.management_url, trust_env=False) as api,
    ):
        await execute(machine.database_url, "postgres", "SELECT pg_switch_wal()")
        await until(
            machine, "SELECT last_failed_time > coalesce(last_archived_time, '-infinity') FROM pg_stat_archiver"
        )
        assert (await api.delete(path)).is_success
        try:
            found = await check_servers(machine, PRODUCTION)
        finally:
            await api.put(path, json=SUBSCRIBER_POLICY)
            await provision_again(machine)
    await until(machine, "SELECT last_archived_time > last_failed_time FROM pg_stat_archiver")
    planted = {
        "log_lock_waits": ("is off, not on", "docs/reference/database-settings.md"),
        "archiving": ("last success", "docs/runbooks/archiving-failed.md"),
        "migrations of campus_orders": (f"0001 is applied, {newest} is the newest", "campusctl install or upgrade"),
        "statement_timeout": ("is not set for campus_payouts_api_a", "campusctl install"),
        "queue policies": (f"{SUBSCRIBER_POLICY_NAME} is missing", "campusctl install"),
        "audit": ("broken", "docs/runbooks/audit-broken.md"),
        "backup": ("27 h", "campusctl backup run"),
        "backup of images": ("27 h", "campusctl backup run --only images"),
        "backup of secrets": ("changed", "campusctl backup run --only secrets"),
        "disk of state": ("4.0 GiB (4 %) free", "make room now"),
        "memory": ("9 % of 4096 MiB available", "add memory"),
    }
    faults = {finding.subject: finding for finding in found if finding.state == "fault"}
    assert planted.keys() == faults.keys()
    for subject, (text, advice) in planted.items():
        assert text in faults[subject].found, faults[subject]
        assert advice in faults[subject].advice, faults[subject]


async def test_servers_that_are_down_are_faults_without_a_password(machine: Machine) -> None:
    port = free_port_base()
    stopped = replace(
        machine,
        database_url=f"postgresql://postgres:not-to-be-shown@127.0.0.1:{port}/postgres",
        management_url=f"http://campus:not-to-be-shown@127.0.0.1:{port + 1}",
    )
    found = await check_servers(stopped, PRODUCTION)
    faults = {finding.subject for finding in found if finding.state == "fault"}
    assert {"PostgreSQL", "PostgreSQL settings", "RabbitMQ", "queue policies"} <= faults
    assert "not-to-be-shown" not in str(found)


def test_the_command_shows_the_checks_of_this_machine(machine: Machine, own_servers: Servers, tmp_path: Path) -> None:
    (tmp_path / "backup.env").unlink()
    addresses = {"DATABASE_URL": machine.database_url, "BROKER_MANAGEMENT_URL": machine.management_url}
    written = {**load_secrets(tmp_path, {}), **addresses, "BROKER_URL": own_servers.broker_url}
    (tmp_path / "secrets.env").write_text("".join(f"{name}={text}\n" for name, text in written.items()))
    environment = {**os.environ, "STATE_DIR": str(tmp_path), "COLUMNS": "250"}
    command = [sys.executable, "-m", "operations.campusctl.app", "doctor", "--only", "machine"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert "ok      PostgreSQL settings: as docs/reference/database-settings.md\n" in ended.stdout, ended.stderr
    assert "ok      queue policies: of " in ended.stdout
    assert "warning backup: is not set up on this machine\n        -> docs/backup.md\n" in ended.stdout


def available_memory(monkeypatch: pytest.MonkeyPatch, folder: Path, *, percent: int) -> None:
    total = 4096 * 1024
    (folder / "meminfo").write_text(f"MemTotal: {total} kB\nMemAvailable: {total * percent // 100 + 1} kB\n")
    monkeypatch.setattr(server_checks, "MEMORY_FILE", folder / "meminfo")


def stored_backups(monkeypatch: pytest.MonkeyPatch, *, databases: datetime, images: datetime) -> None:
    """Let the repository have one backup of each kind, that ended at these instants."""
    backup = DatabaseBackup("20260101-000000F", "full", databases, databases, 1, 1)

    async def listed(_settings: object) -> StoredBackups:
        return StoredBackups((backup,), (images,), (images,))

    monkeypatch.setattr(system_status, "list_backups", listed)


async def record_audit(url: str, finished_at: datetime, verdict: str = "clean") -> None:
    columns = "id, started_at, finished_at, verdict, recorded_at"
    statement = f"INSERT INTO audits ({columns}) VALUES ($1, $2, $2, $3, $2)"
    await execute(url, "campus_payments", statement, uuid4(), finished_at, verdict)


async def provision_again(machine: Machine) -> None:
    await provision_databases(machine.database_url, load_secrets(machine.state_dir / "others", {}))


async def execute(url: str, database: str, statement: str, *arguments: object) -> None:
    async with connected(urlunsplit(urlsplit(url)._replace(path=f"/{database}"))) as connection:
        await connection.execute(statement, *arguments)


@asynccontextmanager
async def changed(machine: Machine, database: str, change: str, restored: str = "") -> AsyncIterator[None]:
    """Plant a difference for the time of a block."""
    await execute(machine.database_url, database, change)
    try:
        yield
    finally:
        if restored:
            await execute(machine.database_url, database, restored)


@asynccontextmanager
async def setting_of(machine: Machine, name: str, value: str, restored: str = "") -> AsyncIterator[None]:
    """Plant another value of a setting of the server for the time of a block."""
    try:
        await set_value(machine, name, value)
        yield
    finally:
        await set_value(machine, name, restored or _RIGHT[name])


async def set_value(machine: Machine, name: str, value: str) -> None:
    await execute(machine.database_url, "postgres", f"ALTER SYSTEM SET {name} = '{value}'")
    await execute(machine.database_url, "postgres", "SELECT pg_reload_conf()")
    # A signal: new sessions have the value soon afterwards. An interval may be shown in another unit.
    shown = {"60s": "1min", "90s": "90s"}.get(value, value)
    await until(machine, f"SELECT current_setting('{name}') = '{shown}'")


async def until(machine: Machine, condition: str) -> None:
    """Wait until a new session sees the condition."""

    async def seen() -> bool:
        async with connected(machine.database_url) as connection:
            return bool(await connection.fetchval(condition))

    await eventually(seen, what=condition)


async def until_listed(machine: Machine, queue: str) -> None:
    """Wait until the management API lists a queue."""
    async with httpx.AsyncClient(base_url=machine.management_url, trust_env=False) as api:

        async def listed() -> bool:
            return bool((await api.get(f"/api/queues/%2F/{queue}")).json().get("type"))

        await eventually(listed, what=f"the queue {queue}")


async def finding_of(machine: Machine, state: str, subject: str) -> Finding:
    findings = await check_servers(machine, PRODUCTION)
    assert all(finding.advice for finding in findings if finding.state != "ok"), findings
    [found] = [finding for finding in findings if (finding.state, finding.subject) == (state, subject)]
    return found


async def fault_of(machine: Machine, subject: str) -> Finding:
    return await finding_of(machine, "fault", subject)
