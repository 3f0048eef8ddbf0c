"""The whole system: servers, migrations, demo data and processes, for `make run` and for tests:

async with System(state_dir, port_base, {"PAYMENT_WINDOW_SECONDS": "2"}) as system:
    before = system.process("orders-worker").kill()
    await asyncio.to_thread(system.process("orders-worker").wait_restarted, before)
"""

import asyncio
import subprocess
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

import asyncpg

from campus_tools.launcher.failures import StartFailed, all_or_first_failure, with_remedy
from campus_tools.launcher.one_shots import OneShots
from campus_tools.launcher.ports import free_port_base, needed_ports, reject_occupied
from campus_tools.launcher.process_group import ProcessGroup
from campus_tools.launcher.runtimes import STARTUP, Program, Runtime, Startup
from campus_tools.launcher.state_directory import StateDirectory
from campus_tools.launcher.supervisor import Report, SupervisedProcess, Supervision, WatchedServer
from campus_tools.launcher.watched_subscribers import WatchedSubscribers
from campus_tools.servers import ServerPorts, Servers, find_servers
from common.messaging.declaring import DeclarationFailed
from operations.environment import BROKER_ACCOUNTS, SHARED, Environments, callers_environment, machine_environment
from operations.processes import CAMPUS, CONSOLE_PORT, SANDBOX_PORT, ProcessPlan, SystemPlan
from operations.provision import ProvisioningFailed, audit_database_url, subscriber_broker_url
from operations.secrets import load_secrets, read_secrets, write_secrets
from operations.services import Service

COMMAND_SECONDS_MAX = 180.0
"""A command of a service takes a second, on a machine with forty busy processes a minute."""


class System:
    """One running system. `start` and `stop`, or a context manager (async or not)."""

    def __init__(
        self,
        state_dir: Path | str,
        port_base: int | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        plan: SystemPlan = CAMPUS,
        servers: Servers | None = None,
        report: Report | None = None,
        startup: Startup = STARTUP,
    ) -> None:
        """`environment` overrides that of this program. Without `port_base` a free one is chosen.

        Given `servers` are neither started nor stopped here. `report` receives messages as (process, text). A larger
        plan may need more seconds of `startup`.
        """
        self._state = StateDirectory(state_dir)
        self.state_dir = self._state.path
        self.port_base = port_base if port_base is not None else free_port_base()
        self.plan = plan
        self.is_first_start = not (self.state_dir / "secrets.env").exists()
        self._caller = callers_environment(environment)
        self._report: Report = report or (lambda _who, _what: None)
        self._startup = startup
        self._own_servers = servers is None
        self._servers = servers
        self._secrets: dict[str, str] = {}
        supervision = Supervision(self.state_dir, self._report, self._write_process_list, startup.runtime)
        self._processes = ProcessGroup(plan, self.port_base, supervision, ready_seconds=startup.ready_seconds)
        self._watched: list[WatchedServer | WatchedSubscribers] = []
        self._one_shots = OneShots(startup.runtime)
        self._writing = threading.Lock()
        self._rolling = threading.Lock()
        self._stopped = False

    @property
    def base_url(self) -> str:
        """The gateway's address."""
        return f"http://127.0.0.1:{self.port_base}"

    @property
    def console_url(self) -> str:
        """The console's address."""
        return f"http://127.0.0.1:{self.port_base + CONSOLE_PORT}"

    @property
    def sandbox_url(self) -> str:
        """The sandbox's address."""
        return f"http://127.0.0.1:{self.port_base + SANDBOX_PORT}"

    @property
    def servers(self) -> Servers:
        """PostgreSQL and RabbitMQ; `kill` and `start` them in resilience tests."""
        if self._servers is None:
            raise StartFailed("the system was not started")
        return self._servers

    @property
    def runtime(self) -> Runtime:
        """Return the runtime of the plan's programs."""
        return self._startup.runtime

    @property
    def secrets(self) -> Mapping[str, str]:
        """The content of `secrets.env`."""
        return self._secrets

    @property
    def processes(self) -> list[SupervisedProcess]:
        """All processes of the plan."""
        return self._processes.all

    def process(self, name: str) -> SupervisedProcess:
        """One process by its name in the plan, `orders-worker` for example."""
        return self._processes.named(name)

    def health_url(self, name: str) -> str:
        """Return the address of readiness and `/metrics` of this process."""
        plan = next(plan for plan in self.plan.processes if plan.name == name)
        scheme = "https" if "INSIDE_CERTIFICATE_FILE" in plan.environment else "http"
        return f"{scheme}://127.0.0.1:{self.port_base + plan.health_offset}"

    def command(self, service_name: str, *arguments: str, secrets: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Run `python -m <service> <arguments>` with the service's environment. Return exit code and output.

        `secrets`: others than the current ones of the system.
        """
        service = next(service for service in self.plan.services if service.name == service_name)
        program = Program(f"{service.name}-{arguments[0]}", service.name, (service.import_name, *arguments))
        environments = self._environments if secrets is None else self._environments_of(secrets)
        command, environment = self._startup.runtime.command(program, environments.for_demo_data(service))
        ended = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_SECONDS_MAX,
            check=False,
        )
        return ended.returncode, ended.stdout

    def operators_command(
        self,
        name: str,
        *module: str,
        state_dir: Path | None = None,
        variables: Mapping[str, str] | None = None,
        runtime: Runtime | None = None,
    ) -> tuple[list[str], dict[str, str]]:
        """Return the command line `python -m <module>` of an operator of this system, and its environment.

        `state_dir`: a folder with other secrets than the system's. `variables` are added to the environment. `runtime`:
        another one than the system's.
        """
        folder = state_dir or self.state_dir
        environment = {
            **machine_environment(self._caller), "STATE_DIR": str(folder), "PORT_BASE": str(self.port_base),
            **(variables or {}),
        }  # fmt: skip
        return (runtime or self._startup.runtime).command(
            Program(name, "operations", module, state_dir=folder), environment
        )

    def start(self) -> None:
        """Start everything and return when all is ready. After a failure, stop everything again.

        Raises:
            StartFailed: a port is occupied, a migration failed, or a process never became ready.
            ServerUnavailable: PostgreSQL or RabbitMQ could be neither found nor started.
        """
        self._state.acquire()
        pool = ThreadPoolExecutor(16, thread_name_prefix="start")
        try:
            self._end_leftovers()
            if self._servers is None:
                self._servers = find_servers(
                    self.state_dir,
                    ServerPorts.above(self.port_base),
                    environment=self._caller,
                    report=lambda text: self._report("servers", text),
                )
            own_servers = self._servers if self._own_servers else None
            reject_occupied(needed_ports(self.plan, self.port_base, own_servers), self.port_base)
            self._start_parts(pool)
        except BaseException:
            self.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def roll(
        self,
        *,
        every: bool = False,
        among: Callable[[ProcessPlan], bool] = lambda _: True,
        before_stop: Callable[[str], None] | None = None,
    ) -> list[str]:
        """Restart processes one by one, each after the one before is ready: those whose environment changed with
        `secrets.env`, or every one. Return their names, which are also written to `rolled.json`.

        The sandbox is not restarted. `among` chooses the processes. `before_stop` receives each name before that
        process stops.

        Raises:
            TimeoutError: a process does not restart; the ones after it are unchanged.
        """
        with self._rolling:
            self._secrets = read_secrets(self.state_dir / "secrets.env")
            self._environments = self._environments_of(self._secrets)
            rolled: list[str] = []
            failure: str | None = None
            try:
                for plan in self.plan.processes:
                    is_needed = every or self._processes.needs_restart(plan, self._environments)
                    if self._stopped or plan.service == "sandbox" or not is_needed or not among(plan):
                        continue
                    if before_stop is not None:
                        before_stop(plan.name)
                    self._report(plan.name, "restarts with the current secrets.env")
                    self._processes.restart(plan, self._environments)
                    rolled.append(plan.name)
            except TimeoutError as error:
                failure = str(error)
                raise
            finally:
                self._state.write("rolled.json", {"rolled": rolled, "failure": failure})
        return rolled

    def configure(self, environment: Mapping[str, str]) -> None:
        """Apply variables on top of the others, in later rolls and migrations."""
        self._caller |= environment
        self._environments = self._environments_of(self._secrets)

    def migrate(self, environment: Mapping[str, str]) -> None:
        """Run all migrations next to the running processes. `environment` is applied on top, also in later rolls."""
        self.configure(environment)
        for service in self.plan.services:
            self._migrate(service)
        with ThreadPoolExecutor(1) as pool:
            self._provision_broker(pool)

    def stop(self) -> None:
        """Stop everything within 10 s: the gateway first, the servers last. Idempotent."""
        if self._stopped:
            return
        self._stopped = True
        self._one_shots.stop()
        for watched in self._watched:
            watched.stop()
        self._processes.stop()
        if self._own_servers and self._servers is not None:
            self._servers.stop()
        self._write_process_list()
        self._state.release()

    def abandon(self) -> None:
        """Kill everything at once; for the second Ctrl-C."""
        self._processes.kill()
        if self._own_servers and self._servers is not None:
            for server in self._servers.all:
                if server.private:
                    server.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.stop)

    def _end_leftovers(self) -> None:
        folders = ["processes", *(["servers"] if self._own_servers else [])]
        for name in [name for folder in folders for name in self._state.end_leftovers(folder)]:
            self._report(name, "was left running by an earlier run and is ended")

    def _start_parts(self, pool: ThreadPoolExecutor) -> None:
        self._report("servers", self.servers.origin)
        # RabbitMQ boots for seconds: in the meantime the databases are created and migrated.
        broker = pool.submit(self._start_broker)
        store = pool.submit(self.servers.redis.start) if self._own_servers and self.servers.redis is not None else None
        if self._own_servers:
            self.servers.postgresql.start()
        self._secrets = load_secrets(self.state_dir, self._caller)
        self._secrets |= {
            "DATABASE_URL": self.servers.database_url,
            "BROKER_URL": self.servers.broker_url,
            "AUDIT_DATABASE_URL": audit_database_url(self.servers.database_url, self._secrets),
            "BROKER_MANAGEMENT_URL": self.servers.management_url,
            "SUBSCRIBER_BROKER_URL": subscriber_broker_url(self.servers.broker_url, self._secrets),
        }
        write_secrets(self.state_dir / "secrets.env", self._secrets)
        if self._secrets["SHARED_SEALING_KEY"]:
            self._report(
                "secrets", "all services still share SEALING_KEY: rotate it (docs/runbooks/rotate-sealing-keys.md)"
            )
        self._environments = self._environments_of(self._secrets)
        if self.plan.services:
            try:
                # In a thread: the caller may run an event loop.
                pool.submit(self._startup.runtime.provision_databases, self.servers, self._secrets).result()
            except (ProvisioningFailed, asyncpg.PostgresError, OSError) as error:
                raise StartFailed(with_remedy(f"The databases could not be created: {error}")) from error
        self._report("databases", "migrating")
        prepared = [pool.submit(self._prepare, service) for service in self.plan.services]
        all_or_first_failure([*prepared, broker, *([store] if store else [])])
        if self.plan.services and self._startup.with_broker:
            self._provision_broker(pool)
        self._watched = [
            WatchedServer(server, report=self._report, changed=self._write_process_list)
            for server in (self.servers.all if self._own_servers else [])
        ]
        if self.plan.services and self._startup.with_broker and self._caller.get(BROKER_ACCOUNTS) != SHARED:
            limits = WatchedSubscribers(self.servers.management_url, self.servers.broker_url, report=self._report)
            self._watched.append(limits)
        for watched in self._watched:
            watched.start()
        self._processes.start(self._environments)
        self._processes.wait_ready(pool)

    def _environments_of(self, secrets: Mapping[str, str]) -> Environments:
        return Environments(
            self._caller, port_base=self.port_base, state_dir=self.state_dir, servers=self.servers, secrets=secrets
        )

    def _start_broker(self) -> None:
        if self._own_servers:
            self.servers.rabbitmq.start()

    def _provision_broker(self, pool: ThreadPoolExecutor) -> None:
        try:
            pool.submit(self._startup.runtime.provision_broker, self.servers, self._secrets, self._caller).result()
        except DeclarationFailed as error:
            raise StartFailed(str(error)) from error
        except ProvisioningFailed as error:
            self._caller[BROKER_ACCOUNTS] = SHARED
            self._environments = self._environments_of(self._secrets)
            self._report(
                "rabbitmq",
                "WARNING: every service uses the account of BROKER_URL, so a service could publish another's events, "
                f"and SUBSCRIBER_BROKER_URL will not work. {error}",
            )

    def _prepare(self, service: Service) -> None:
        self._migrate(service)
        if (
            service.name in self.plan.demo_services
            and self._caller.get("DEMO_DATA", "1") == "1"
            and not self._one_shots.run(service, "demo-data", self._environments.for_demo_data(service))
        ):
            self._report(service.name, "has no demo-data")

    def _migrate(self, service: Service) -> None:
        if not self._one_shots.run(service, "migrate", self._environments.for_migration(service)):
            raise StartFailed(f"`python -m {service.import_name}` has no command `migrate`")

    def _write_process_list(self) -> None:
        with self._writing:
            rows = [
                {"name": process.name, "pid": process.pid, "port": process.port}
                for process in self.processes
                if process.pid is not None
            ]
            if self._servers is not None and self._own_servers:
                rows += [
                    {"name": name, "pid": pid, "port": port}
                    for server in self._servers.all
                    for name, pid, port in server.places
                ]
            self._state.write("processes.json", rows)
