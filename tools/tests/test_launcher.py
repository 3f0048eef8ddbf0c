"""The launcher: dead processes are restarted, stopped ones are gone, and mistakes are named."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from argparse import ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path

import asyncpg
import httpx
import psutil
import pytest

import campus_tools
import lab
import operations
import testkit
from campus_tools.launcher import StartFailed, Startup, System
from campus_tools.launcher.__main__ import main, traces_to_sandbox
from campus_tools.launcher.memory import REQUIRED_MIB, check_memory
from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.reload import changed_parts, folders_of, restart
from campus_tools.launcher.runtimes import Checkout, Program
from campus_tools.launcher.supervisor import SupervisedProcess, Supervision
from campus_tools.servers import Servers
from operations.environment import Environments
from operations.ports import port_base_of
from operations.processes import CAMPUS, ON_ONE_MACHINE, ProcessPlan, SystemPlan
from operations.secrets import read_secrets, write_secrets
from operations.services import service_named
from testkit.fixtures import eventually, role_passwords

ROOT = Path(__file__).resolve().parents[2]
SMALL = SystemPlan(
    services=(),
    processes=(
        ProcessPlan("door", ("small_server", "door"), 0, 10, "sandbox", stop_turn=0),
        ProcessPlan("worker", ("small_server", "worker"), 21, 21, "sandbox"),
    ),
)


def test_a_killed_child_is_started_again(programs: Path, tmp_path: Path, servers: Servers) -> None:
    with System(tmp_path / "state", plan=SMALL, servers=servers) as system:
        worker = system.process("worker")
        first = worker.pid
        before = worker.kill()
        worker.wait_restarted(before)
        assert worker.pid not in (None, first)
        assert (
            httpx.get(f"{system.health_url('worker')}/health/readiness", trust_env=False, timeout=60).status_code == 200
        )
        listed = json.loads((tmp_path / "state" / "processes.json").read_text())
        assert {"name": "worker", "pid": worker.pid, "port": system.port_base + 21} in listed


def test_a_part_is_restarted_when_its_code_changes(programs: Path, tmp_path: Path, servers: Servers) -> None:
    state = tmp_path / "state"
    with System(state, plan=SMALL, servers=servers) as system:
        before = {process.name: process.pid for process in system.processes}
        ready = restart(SMALL, "sandbox", state, system.port_base)
        assert set(ready) == set(before)
        assert None not in ready.values()
        assert all(process.pid not in (None, before[process.name]) for process in system.processes)


def test_a_change_concerns_the_parts_that_contain_it() -> None:
    watched = folders_of(ROOT, CAMPUS)
    own, shared = ROOT / "services/orders/src/orders/app.py", ROOT / "libs/common/src/common/app.py"
    assert changed_parts(watched, [own]) == ["orders"]
    assert changed_parts(watched, [shared]) == list(watched)
    assert changed_parts(watched, [ROOT / "services/orders/tests/conftest.py"]) == []


def test_logs_and_all_that_children_write_are_for_their_owner_alone(
    programs: Path, tmp_path: Path, servers: Servers
) -> None:
    """Also what an earlier version left readable for others."""
    state = tmp_path / "state"
    (state / "logs").mkdir(parents=True)
    (state / "logs" / "door.log").write_text("of an earlier run\n")
    (state / "logs" / "door.log").chmod(0o644)
    (state / "sandbox").mkdir()
    with System(state, plan=SMALL, servers=servers) as system:
        logs = {path.name: path.stat().st_mode & 0o777 for path in (state / "logs").iterdir()}
        assert logs == {"door.log": 0o600, "worker.log": 0o600}
        assert {path.name: path.stat().st_mode & 0o777 for path in state.iterdir() if path.is_dir()} == {
            "logs": 0o700,
            "processes": 0o700,
            "sandbox": 0o700,
            "servers": 0o700,
        }
        masks = [Path(f"/proc/{system.process(name).pid}/status").read_text() for name in ("door", "worker")]
        assert all("Umask:\t0077\n" in mask for mask in masks)


def test_every_log_is_opened_for_its_owner_alone() -> None:
    """By `open_log`: a file of another mode would be readable by every user of the machine."""
    folders = [Path(module.__file__).parent for module in (campus_tools, lab, operations, testkit)]
    sources = [path for folder in folders for path in folder.rglob("*.py")]
    assert [str(path) for path in sources if re.search(r"""open\(["']ab?["']\)""", path.read_text())] == []


def test_a_child_killed_from_outside_is_started_again(programs: Path, tmp_path: Path, servers: Servers) -> None:
    with System(tmp_path / "state", plan=SMALL, servers=servers) as system:
        listed = json.loads((tmp_path / "state" / "processes.json").read_text())
        [row] = [row for row in listed if row["name"] == "door"]
        os.kill(row["pid"], signal.SIGKILL)
        system.process("door").wait_restarted()


def test_a_roll_restarts_those_whose_secrets_changed_one_after_another(
    programs: Path, tmp_path: Path, servers: Servers
) -> None:
    payments = ProcessPlan("payments", ("small_server", "payments"), 3, 3, "payments")
    orders = ProcessPlan("orders", ("small_server", "orders"), 2, 2, "orders")
    plan = SystemPlan(services=(), processes=(*SMALL.processes, orders, payments))
    with System(tmp_path / "state", plan=plan, servers=servers) as system:
        first = {process.name: process.pid for process in system.processes}
        path = system.state_dir / "secrets.env"
        kept = read_secrets(path)
        write_secrets(path, {**kept, "GATEWAY_SECRET_KEY": "new", "GATEWAY_SECRET_KEY_PREVIOUS": "old"})
        stopped: list[str] = []
        assert system.roll(before_stop=stopped.append) == stopped == ["payments"]
        received = httpx.get(f"{system.health_url('payments')}/", trust_env=False, timeout=60).json()
        assert (received["GATEWAY_SECRET_KEY"], received["GATEWAY_SECRET_KEY_PREVIOUS"]) == ("new", "old")
        assert {name for name, pid in first.items() if system.process(name).pid != pid} == {"payments"}
        assert system.process("payments").restarts == 0, "it did not die"
        assert system.roll() == []
        # The companies outside are played on.
        assert system.roll(every=True) == ["orders", "payments"]
        assert json.loads((system.state_dir / "rolled.json").read_text())["rolled"] == ["orders", "payments"]
        assert system.roll(every=True, among=lambda plan: plan.name == "orders") == ["orders"]


def test_stopping_ends_every_process_and_frees_the_ports(programs: Path, tmp_path: Path, servers: Servers) -> None:
    system = System(tmp_path / "state", plan=SMALL, servers=servers)
    system.start()
    children = [psutil.Process(process.pid) for process in system.processes]
    system.stop()
    assert [child for child in children if _runs(child)] == []
    assert json.loads((tmp_path / "state" / "processes.json").read_text()) == []
    with System(tmp_path / "state", system.port_base, plan=SMALL, servers=servers):
        pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_stops_everything_it_started(programs: Path, tmp_path: Path, number: signal.Signals) -> None:
    launcher = _launch_in_a_process(tmp_path)
    children = await eventually(lambda: _listed_children(tmp_path))
    launcher.send_signal(number)
    assert launcher.wait(60) == 0
    assert [child for child in children if _runs(child)] == []


async def test_a_crashed_launcher_stops_its_children(programs: Path, tmp_path: Path) -> None:
    launcher = _launch_in_a_process(tmp_path)
    children = await eventually(lambda: _listed_children(tmp_path))
    assert "postgres" in {_name(child) for child in children}
    launcher.kill()
    launcher.wait()
    await eventually(lambda: not [child for child in children if _runs(child)])


def test_a_port_in_use_is_named_with_its_holder_and_the_setting(
    programs: Path, tmp_path: Path, servers: Servers
) -> None:
    with System(tmp_path / "first", plan=SMALL, servers=servers) as first:
        second = System(tmp_path / "second", first.port_base, plan=SMALL, servers=servers)
        with pytest.raises(
            StartFailed, match=rf"port {first.port_base + 21}, for worker, is held by .*process"
        ) as received:
            second.start()
        assert "PORT_BASE" in str(received.value)


@pytest.mark.parametrize("text", ["eight", "80", "65436"])
def test_a_port_base_without_room_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="PORT_BASE"):
        port_base_of(text)


def test_two_systems_never_share_a_state_directory(programs: Path, tmp_path: Path, servers: Servers) -> None:
    with (
        System(tmp_path, plan=SMALL, servers=servers),
        pytest.raises(StartFailed, match=f"process {os.getpid()}"),
    ):
        System(tmp_path, plan=SMALL, servers=servers).start()


def test_a_process_that_cannot_start_ends_the_start_with_its_last_words(
    programs: Path, tmp_path: Path, servers: Servers
) -> None:
    broken = SystemPlan((), (*SMALL.processes, ProcessPlan("broken", ("small_server", "breaks"), 22, 22, "sandbox")))
    system = System(tmp_path, plan=broken, servers=servers)
    with pytest.raises(StartFailed, match=r"broken does not become ready[\s\S]*the mistake is here"):
        system.start()
    assert [process.pid for process in system.processes] == [None, None, None]


def test_migrations_run_before_demo_data_and_an_unknown_command_is_no_mistake(
    programs: Path, tmp_path: Path, servers: Servers
) -> None:
    (programs / "identity.py").write_text(
        textwrap.dedent(
            f"""
            import os, pathlib, sys
            with pathlib.Path({str(tmp_path / "calls")!r}).open("a") as calls:
                calls.write(sys.argv[1] + (" as owner" if "OWNER_DATABASE_URL" in os.environ else "") + "\\n")
            """
        )
    )
    (programs / "orders.py").write_text("import sys; sys.exit(64 if sys.argv[1] == 'demo-data' else 0)")
    services = (service_named("identity"), service_named("orders"))
    plan = SystemPlan(services, SMALL.processes, demo_services=("identity", "orders"))
    reports: list[str] = []
    servers.postgresql.start()
    servers.rabbitmq.start()
    with System(
        tmp_path / "state",
        environment=role_passwords(servers.database_url),
        plan=plan,
        servers=servers,
        report=lambda who, what: reports.append(f"{who} {what}"),
    ) as system:
        assert (tmp_path / "calls").read_text().split("\n") == ["migrate as owner", "demo-data", ""]
        assert "orders has no demo-data" in reports
        assert system.secrets["AUDIT_DATABASE_URL"].startswith("postgresql://campus_audit:")


def test_a_failed_migration_is_shown_and_nothing_stays(programs: Path, tmp_path: Path, servers: Servers) -> None:
    (programs / "identity.py").write_text("import sys; sys.exit('column total does not exist')")
    plan = SystemPlan((service_named("identity"),), SMALL.processes)
    servers.postgresql.start()
    with pytest.raises(StartFailed, match=r"identity migrate` failed with code 1[\s\S]*column total does not exist"):
        System(tmp_path, environment=role_passwords(servers.database_url), plan=plan, servers=servers).start()


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("common.primitives.encryption.UnknownKey: no key with the id 4f is held here", "Set STATE_DIR to that folder"),
        ("OSError: [Errno 28] No space left on device", "free 2 GB"),
        ("alembic.util.exc.CommandError: Can't locate revision identified by '0031'", "Start that version"),
    ],
)
def test_a_known_cause_of_a_failed_start_has_its_remedy(
    programs: Path, tmp_path: Path, servers: Servers, written: str, remedy: str
) -> None:
    (programs / "identity.py").write_text(f"import sys; sys.exit({written!r})")
    plan = SystemPlan((service_named("identity"),), SMALL.processes)
    servers.postgresql.start()
    with pytest.raises(StartFailed, match=remedy):
        System(tmp_path, environment=role_passwords(servers.database_url), plan=plan, servers=servers).start()


class FullDisk(Checkout):
    """A runtime whose PostgreSQL has no space left."""

    def provision_databases(self, servers: Servers, secrets: Mapping[str, str]) -> None:
        raise asyncpg.DiskFullError('could not write to file "pg_wal/xlogtemp.7": No space left on device')


def test_a_disk_that_is_full_before_the_migrations_has_its_remedy(
    programs: Path, tmp_path: Path, servers: Servers
) -> None:
    plan = SystemPlan((service_named("identity"),), SMALL.processes)
    with pytest.raises(StartFailed, match=r"databases could not be created: [\s\S]* free 2 GB"):
        System(tmp_path, plan=plan, servers=servers, startup=Startup(FullDisk())).start()


def test_a_start_without_enough_memory_names_the_requirement(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("536870912\n")
    (tmp_path / "memory.current").write_text("134217728\n")
    with pytest.raises(StartFailed, match=f"384 MiB of memory are available, and the system needs {REQUIRED_MIB}"):
        check_memory(tmp_path)
    (tmp_path / "memory.max").write_text("max\n")
    check_memory(tmp_path)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "http://localhost:*,http://127.0.0.1:*"),
        ({"ALLOWED_ORIGINS": "https://shop.example"}, "https://shop.example"),
        ({"ALLOWED_ORIGINS": ""}, ""),
    ],
)
def test_pages_of_this_machine_may_call_a_system_of_development(
    given: dict[str, str], expected: str, tmp_path: Path, servers: Servers
) -> None:
    from operations.secrets import load_secrets

    environments = Environments(
        given, port_base=9000, state_dir=tmp_path, servers=servers, secrets=load_secrets(tmp_path, {})
    )
    for plan in CAMPUS.processes:
        if plan.service in ("api-gateway", "payments"):
            assert environments.for_process(plan, service_named(plan.service))["ALLOWED_ORIGINS"] == expected


@pytest.mark.parametrize(
    ("given", "shown"),
    [({}, "http://127.0.0.1:9090/otlp"), ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, None)],
)
def test_a_local_run_shows_its_traces_unless_the_caller_chose(given: dict[str, str], shown: str | None) -> None:
    assert traces_to_sandbox(given, 9000).get("OTEL_EXPORTER_OTLP_ENDPOINT") == shown


def test_each_process_has_only_its_own_secrets(tmp_path: Path, servers: Servers) -> None:
    from operations.secrets import load_secrets

    environments = Environments(
        {"RATE_TIER_1": "5", "GATEWAY_SECRET_KEY_PREVIOUS": "old", "UNRELATED": "x", "OTEL_SERVICE_NAME": "y"},
        port_base=9000,
        state_dir=tmp_path,
        servers=servers,
        secrets=load_secrets(tmp_path, {}),
    )
    received = {
        plan.name: environments.for_process(
            plan, service_named(plan.service) if plan.service not in ("console", "sandbox") else None
        )
        for plan in CAMPUS.processes
    }
    keepers = {
        "GATEWAY_SECRET_KEY": {"payments-api", "payments-worker", "payouts-api", "payouts-worker", "sandbox"},
        "GATEWAY_SECRET_KEY_PREVIOUS": {"payments-api", "payments-worker", "payouts-api", "payouts-worker", "sandbox"},
        "PIN_KEY": {"orders-api", "orders-worker"},
        "DEMO_PASSWORD": {"identity-api", "identity-worker"},
        "OWNER_DATABASE_URL": set(),
        "UNRELATED": set(),
        "RATE_TIER_1": set(received),
        "API_DATABASE_URL": set(received) - {"console", "sandbox"},
        "CONSOLE_KEY": {"console"},
        "SERVICE_ROLE_KEY": {
            "identity-api",
            "identity-worker",
            "payments-api",
            "payments-worker",
            "notifications-api",
            "notifications-worker",
        },
    }
    for name, expected in keepers.items():
        assert {process for process, variables in received.items() if name in variables} == expected, name
    assert received["api-gateway"]["PORT"] == "9000"
    assert received["api-gateway"]["METRICS_PORT"] == "9010"
    assert received["orders-worker"]["METRICS_PORT"] == "9022"
    assert received["orders-api"]["API_DATABASE_URL"].endswith("/campus_orders")


def test_a_watched_process_that_is_stopped_stays_stopped(programs: Path, tmp_path: Path) -> None:
    process = _supervised(tmp_path)
    process.start()
    process.stop(within=2)
    assert process.pid is None
    assert process.restarts == 0


async def test_only_a_running_process_is_signalled(programs: Path, tmp_path: Path) -> None:
    process = _supervised(tmp_path)
    process.start()
    try:
        running = psutil.Process(process.pid)
        process.signal(signal.SIGSTOP)
        await eventually(lambda: running.status() == psutil.STATUS_STOPPED)
        process.signal(signal.SIGCONT)
        await eventually(lambda: running.status() != psutil.STATUS_STOPPED)
    finally:
        process.stop(within=2)
    with pytest.raises(ProcessLookupError, match="one is not running"):
        process.signal(signal.SIGSTOP)


def _supervised(state_dir: Path) -> SupervisedProcess:
    return SupervisedProcess(
        Program("one", "sandbox", ("small_server", "worker")),
        {**os.environ, "METRICS_PORT": "0"},
        Supervision(state_dir, report=lambda _who, _what: None, changed=lambda: None),
        port=1,
        health_port=1,
    )


def _launch_in_a_process(state_dir: Path) -> "subprocess.Popen[bytes]":
    """Return the real launcher with private servers, and the small processes in place of the services."""
    program = textwrap.dedent(
        """
        import sys
        from campus_tools.launcher import __main__
        from operations.processes import ProcessPlan, SystemPlan
        small = SystemPlan((), (ProcessPlan("worker", ("small_server", "worker"), 21, 21, "sandbox"),))
        sys.exit(__main__.main(small))
        """
    )
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "STATE_DIR": str(state_dir / "state"), "PORT_BASE": str(free_port_base()), "DEMO_DATA": "0"},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _listed_children(state_dir: Path) -> list[psutil.Process]:
    """Everything in processes.json with all its descendants, once the worker is among it."""
    path = state_dir / "state" / "processes.json"
    rows = json.loads(path.read_text()) if path.exists() else []
    if "worker" not in {row["name"] for row in rows}:
        return []
    found: list[psutil.Process] = []
    for row in rows:
        # One that ended since it was written down has no place in the list, nor have its children.
        with contextlib.suppress(psutil.NoSuchProcess):
            parent = psutil.Process(row["pid"])
            found += [parent, *parent.children(recursive=True)]
    return found


def _name(process: psutil.Process) -> str:
    """Servers have children that live for moments: a nameless one has ended in the meantime."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.name()
    return ""


def _runs(process: psutil.Process) -> bool:
    """Return a zombie process of the broker, which init has not reaped yet, is not running."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


def test_one_machine_runs_each_service_as_one_process_at_the_address_of_its_api() -> None:
    apis = {(plan.service, plan.port_offset) for plan in CAMPUS.processes if plan.module[-1] == "api"}
    joined = {plan.name: plan for plan in ON_ONE_MACHINE.processes}
    assert {(plan.service, plan.port_offset) for plan in joined.values()} >= apis
    assert {name for name, plan in joined.items() if plan.module[-1] == "all"} == {
        plan.service for plan in CAMPUS.processes if plan.module[-1] == "worker"
    }
    assert joined["api-gateway"].module[-1] == "api"


def test_an_unknown_arrangement_of_processes_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROCESSES", "one")
    assert main() == 1
    assert "PROCESSES must be one of joined, split" in capsys.readouterr().err
