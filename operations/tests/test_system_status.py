"""The status of a machine whose parts are down, and of its folders."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import aio_pika
import httpx
import pytest
from starlette.responses import JSONResponse

from campus_tools.launcher.ports import free_port_base
from campus_tools.servers import Servers
from campus_tools.servers.memory import throwaway_root
from campus_tools.servers.postgresql import PrivatePostgresql, remove_data_directory
from operations import system_status
from operations.backup.errors import BackupFailed
from operations.backup.settings import read_backup_settings
from operations.connecting import connected
from operations.system_status import Machine, examine_machine
from testkit.certificates import Authority
from testkit.fixtures import eventually
from testkit.service_kit import served

PASSWORD = "not-to-be-shown"
# Linux has no process with this id.
NO_PROCESS = 2**22 + 1


class Usage(NamedTuple):
    """The bytes of a disk, as `shutil.disk_usage` returns them."""

    total: int
    used: int
    free: int


@pytest.fixture
def failing_archive() -> Iterator[PrivatePostgresql]:
    """Yield a server whose archive command fails."""
    folder = throwaway_root() / f"campus-failing-archive-{uuid4().hex}"
    server = PrivatePostgresql(folder, free_port_base(), report=print)
    server.settings = {"archive_mode": "on", "archive_command": "false"}
    server.start()
    yield server
    server.stop()
    remove_data_directory(folder)
    shutil.rmtree(folder, ignore_errors=True)


async def test_faults_of_six_parts_at_once_are_each_named_with_what_to_do(
    tmp_path: Path, failing_archive: PrivatePostgresql, own_servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority()
    monkeypatch.setattr(system_status, "client_tls", lambda: authority.client)
    monkeypatch.setattr(system_status.shutil, "disk_usage", lambda _folder: Usage(100 << 30, 96 << 30, 4 << 30))
    dead = {"name": "orders-worker", "pid": NO_PROCESS, "port": 1}
    (tmp_path / "processes.json").write_text(json.dumps([dead]))
    await let_archiving_fail(failing_archive)
    edge = JSONResponse({"data": {"services": {"orders": {"status": "unreachable"}}}})
    # First by its name: other tests leave queues in the same broker, and a finding names only some.
    queue = f"api-gateway.a-planted-{uuid4()}"
    async with (
        await aio_pika.connect(own_servers.broker_url) as connection,
        served(edge, tls=authority.server_of(tmp_path, "127.0.0.1", days=2.5)) as url,
    ):
        channel = await connection.channel()
        await channel.declare_queue(queue, durable=True)
        try:
            machine = Machine(url, tmp_path, failing_archive.url, own_servers.management_url)
            await eventually_named(machine, queue)
            found = {finding.subject: finding for finding in await examine_machine(machine)}
        finally:
            await channel.queue_delete(queue)
    planted = {
        "services": ("not ready: orders unreachable", "docs/runbooks/service-down.md"),
        "processes": ("not running: orders-worker", "logs"),
        "archiving": ("last success never", "docs/runbooks/archiving-failed.md"),
        "consumers": ("no process consumes api-gateway.a-planted-", "docs/runbooks/queue-without-consumer.md"),
        "disk of state": ("4.0 GiB (4 %) free", "make room now"),
        "certificate": ("of 127.0.0.1 is valid for 2 more days", "docs/runbooks/certificate-expires.md"),
    }
    for subject, (text, advice) in planted.items():
        assert (found[subject].state, text in found[subject].found) == ("fault", True), found[subject]
        assert advice in found[subject].advice, found[subject]


async def let_archiving_fail(server: PrivatePostgresql) -> None:
    async with connected(server.url) as connection:
        await connection.execute("SELECT pg_switch_wal()")

        async def has_failed() -> bool:
            return bool(await connection.fetchval("SELECT failed_count > 0 FROM pg_stat_archiver"))

        await eventually(has_failed, within=60)


async def eventually_named(machine: Machine, queue: str) -> None:
    """Wait until the management API lists the queue with its number of consumers."""
    address = urlsplit(machine.management_url)._replace(path=f"/api/queues/%2F/{queue}").geturl()
    async with httpx.AsyncClient(trust_env=False) as http:

        async def is_counted() -> bool:
            return (await http.get(address)).json().get("consumers") == 0

        await eventually(is_counted, within=60)


async def test_each_part_that_is_down_is_named_and_no_password_is_shown(tmp_path: Path) -> None:
    port = free_port_base()
    (tmp_path / "processes.json").write_text(
        json.dumps(
            [{"name": "orders-api", "pid": NO_PROCESS, "port": 1}, {"name": "this", "pid": os.getpid(), "port": 2}]
        )
    )
    (tmp_path / "backup.env").write_text("BACKUP_REPOSITORY=/nowhere/repository\nBACKUP_FOLDER=/nowhere/backup\n")
    machine = Machine(
        f"https://127.0.0.1:{port}",
        tmp_path,
        f"postgresql://postgres:{PASSWORD}@127.0.0.1:{port + 1}/postgres",
        f"http://campus:{PASSWORD}@127.0.0.1:{port + 2}",
        read_backup_settings(tmp_path / "backup.env", tmp_path),
    )
    found = {finding.subject: finding for finding in await examine_machine(machine)}
    parts = {"services", "processes", "PostgreSQL", "outboxes", "RabbitMQ", "alerts", "audit", "backup", "certificate"}
    assert {subject for subject, finding in found.items() if finding.state == "fault"} == parts
    assert all(finding.advice for finding in found.values() if finding.state != "ok")
    assert found["processes"].found == "not running: orders-api"
    assert "disk of state" in found
    assert (found["backup"].found, found["backup"].advice) == (
        "No backup is set up: /nowhere/backup/pgbackrest.conf does not exist.",
        "campusctl backup init",
    )
    assert PASSWORD not in str(found)


async def test_an_unknown_machine_has_warnings_with_advice(tmp_path: Path) -> None:
    found = {finding.subject: finding for finding in await examine_machine(Machine("http://127.0.0.1:9", tmp_path))}
    assert {found[part].state for part in ("processes", "PostgreSQL", "RabbitMQ", "backup")} == {"warning"}
    assert found["PostgreSQL"].advice == "set STATE_DIR to the folder of secrets.env"


async def test_wrong_settings_of_the_backup_are_a_fault(tmp_path: Path) -> None:
    try:
        read_backup_settings(tmp_path / "backup.env", tmp_path)
    except BackupFailed as error:
        machine = Machine("http://127.0.0.1:9", tmp_path, backup_error=error.detail)
    found = {finding.subject: finding for finding in await examine_machine(machine)}
    assert (found["backup"].state, "not readable" in found["backup"].found) == ("fault", True)


@pytest.mark.parametrize(
    ("units", "has_log", "command"),
    [
        (("campus-orders",), True, "journalctl -u campus-orders -n 50"),
        ((), True, "{folder}/logs/orders.log"),
        ((), False, "docker compose logs --since 15m orders"),
    ],
)
async def test_a_service_that_is_not_ready_is_named_with_its_log(
    units: tuple[str, ...], has_log: bool, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    if has_log:
        (tmp_path / "logs" / "orders.log").touch()
    services = {"orders": {"status": "unreachable"}, "payments": {"status": "ready"}}
    responses = httpx.MockTransport(lambda _: httpx.Response(200, json={"data": {"services": services}}))
    monkeypatch.setattr(system_status, "_http", lambda: httpx.AsyncClient(transport=responses))
    [found] = await system_status._services(Machine("http://gateway", tmp_path, units=units))
    assert found.found == "not ready: orders unreachable"
    assert found.advice == f"{command.format(folder=tmp_path)}, then docs/runbooks/service-down.md"
