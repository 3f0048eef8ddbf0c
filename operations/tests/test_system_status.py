"""The status of a machine whose parts are down, and of its folders."""

import json
import os
from pathlib import Path

import httpx
import pytest

from campus_tools.launcher.ports import free_port_base
from operations import system_status
from operations.backup.errors import BackupFailed
from operations.backup.settings import read_backup_settings
from operations.system_status import Machine, examine_machine

PASSWORD = "not-to-be-shown"


async def test_each_part_that_is_down_is_named_and_no_password_is_shown(tmp_path: Path) -> None:
    port = free_port_base()
    (tmp_path / "processes.json").write_text(
        # Linux has no process with this id.
        json.dumps(
            [{"name": "orders-api", "pid": 2**22 + 1, "port": 1}, {"name": "this", "pid": os.getpid(), "port": 2}]
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
