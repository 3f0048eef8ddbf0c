"""The environment of a run: the whole system, additional processes and databases, and load generators."""

import asyncio
import itertools
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from campus_tools.children import open_log, spawn, stop_child
from campus_tools.launcher.readiness import responds_ready
from campus_tools.launcher.system import System
from common.auth.caller import Caller
from common.database.unit_of_work import Database
from lab.bench import pgbench, wrk
from lab.bench.cpu import Meter
from lab.bench.figures import Effort, Goal, Measured, Reading, Row, Run, Side, alternate
from lab.bench.programs import BenchFailed, find_pgbench, find_program
from lab.systems import NO_QUOTA, Log
from operations.connecting import connected
from operations.environment import Environments, callers_environment
from operations.journey import Marketplace
from operations.processes import ProcessPlan
from operations.provision import create_database, service_database_urls
from operations.services import Service, service_named
from testkit.service_kit import BASE_URL, Issuer

# Ports of additional processes above PORT_BASE; the launcher does not use them.
_FIRST_PORT = 30
_PORTS = 29
_READY_SECONDS_MAX = 60.0
CONNECTIONS = 8
"""Enough to keep two cores busy, and fewer than a pool has, so that no request waits for a connection."""


@dataclass(frozen=True, slots=True)
class BenchProcess:
    """An additional process."""

    pid: int
    url: str


@dataclass(frozen=True, slots=True)
class BenchDatabase:
    """A migrated database of one service that no running process uses."""

    owner: str
    api: str
    service: str
    admin: str


@dataclass(slots=True)
class BenchEnvironment:
    """A started system, its load generators, and the effort of a reading."""

    system: System
    effort: Effort
    log: Log
    issuer: Issuer
    wrk: str
    nginx: str
    pgbench: str
    databases: dict[str, BenchDatabase] = field(default_factory=dict)
    _ports: "itertools.count[int]" = field(default_factory=itertools.count)

    @classmethod
    def of(cls, system: System, effort: Effort, issuer: Issuer, log: Log) -> "BenchEnvironment":
        """Find the programs. Raises BenchFailed when one is missing."""
        return cls(system, effort, log, issuer, find_program("wrk", log), find_program("nginx", log), find_pgbench(log))

    # Processes

    def meter(self, *names: str) -> Meter:
        """Return the CPU meter of processes of the system, by name."""
        pids = [self.system.process(name).pid for name in names]
        return Meter([pid for pid in pids if pid is not None])

    @property
    def postgresql(self) -> Meter:
        """The CPU meter of the database server and its backends."""
        return Meter([pid for _, pid, _ in self.system.servers.postgresql.places])

    @property
    def rabbitmq(self) -> Meter:
        return Meter([pid for _, pid, _ in self.system.servers.rabbitmq.places])

    def variables(self, service: str, port: int, **given: str) -> dict[str, str]:
        """Return the variables that the launcher sets for a process of this service, overridden by `given`."""
        environments = Environments(
            callers_environment(NO_QUOTA),
            port_base=self.system.port_base,
            state_dir=self.system.state_dir,
            servers=self.system.servers,
            secrets=self.system.secrets,
        )
        offset = port - self.system.port_base
        plan = ProcessPlan("bench", (), offset, offset, service)
        known = service_named(service) if service else None
        return environments.for_process(plan, known) | given

    @asynccontextmanager
    async def start_process(self, *module: str, service: str = "", **given: str) -> AsyncIterator[BenchProcess]:
        """Run `python -m <module>` with the environment of a service; wait until it is ready."""
        port = self.next_port()
        if service == "api-gateway":
            inside = self.next_port()
            given = {"METRICS_PORT": str(inside), **given}
        else:
            inside = port
        log = self.system.state_dir / "logs" / f"bench-{module[0].rpartition('.')[2]}-{port}.log"
        with open_log(log) as output:
            child = spawn(
                [sys.executable, "-m", *module], environment=self.variables(service, port, **given), output=output
            )
        try:
            deadline = time.monotonic() + _READY_SECONDS_MAX
            while not responds_ready(inside):
                if child.poll() is not None or time.monotonic() > deadline:
                    raise BenchFailed(f"{' '.join(module)} does not become ready:\n{log.read_text()[-3000:]}")
                await asyncio.sleep(0.1)
            yield BenchProcess(child.pid, f"http://127.0.0.1:{port}")
        finally:
            await asyncio.to_thread(stop_child, child)

    def next_port(self) -> int:
        """Return a port for an additional process; after the last port the first is reused."""
        return self.system.port_base + _FIRST_PORT + next(self._ports) % _PORTS

    @asynccontextmanager
    async def endpoint(self, service: str) -> AsyncIterator[BenchProcess]:
        """Serve the HTTP application of a service on its bench database, without relay, consumers and timers.

        The process spends CPU on requests only. It accepts the tokens of the bench's issuer.
        """
        urls = self.databases[service]
        async with self.start_process(
            "lab.bench.service_app",
            service,
            service=service,
            API_DATABASE_URL=urls.api,
            SERVICE_DATABASE_URL=urls.service,
            JWKS_URL=self.issuer.jwks_url,
            BASE_URL=BASE_URL,
        ) as endpoint:
            yield endpoint

    # Databases

    async def make_database(self, service: str, label: str = "") -> BenchDatabase:
        """Create a migrated database of a service on the system's server; the label distinguishes several."""
        known = service_named(service)
        name = "_".join(filter(None, ("bench", known.import_name, label)))
        admin_url = self.system.servers.database_url
        async with connected(admin_url) as connection:
            await create_database(connection, known, name)
        made = self._database_urls(known, name)
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", known.import_name, "migrate",
            env=self.variables(service, 1, OWNER_DATABASE_URL=made.owner),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        output = (await child.communicate())[0].decode(errors="replace")
        if child.returncode != 0:
            raise BenchFailed(f"the migration of {service} failed:\n{output}")
        self.databases[f"{service} {label}".strip()] = made
        return made

    def _database_urls(self, service: Service, name: str) -> BenchDatabase:
        admin_url = self.system.servers.database_url
        urls = service_database_urls(admin_url, service, self.system.secrets)
        named = [_in_database(url, name) for url in (*urls.values(), admin_url)]
        return BenchDatabase(*named)

    def system_database(self, service: str) -> str:
        """Return the administrator's address of a database of the running system."""
        return _in_database(self.system.servers.database_url, service_named(service).database)

    # Load

    async def load(
        self, url: str, seconds: float, server: Meter, *, script: str | None = None, connections: int = CONNECTIONS
    ) -> Reading:
        """Run a closed loop over HTTP; the reading has the CPU of `server` and of the database."""
        database = self.postgresql
        before, database_before = server.seconds(), database.seconds()
        report = await wrk.run(self.wrk, url, connections=connections, seconds=seconds, script=script)
        return Reading(
            report.requests,
            report.seconds,
            report.p50_ms,
            report.p99_ms,
            server.seconds() - before,
            database.seconds() - database_before,
        )

    async def load_database(
        self, url: str, seconds: float, script: str, *, grows: tuple[str, str] | None = None
    ) -> Reading:
        """Run a closed loop of pgbench.

        `grows` names a database and a table to which each transaction adds one row. Raises BenchFailed when rows are
        missing.
        """
        database = self.postgresql
        rows_before = await _rows(grows)
        before = database.seconds()
        report, p50, p99 = await pgbench.run(self.pgbench, url, script, connections=CONNECTIONS, seconds=seconds)
        spent = database.seconds() - before
        written = await _rows(grows) - rows_before
        # Transactions in progress at the end are committed, but not counted.
        if grows is not None and not report.transactions <= written <= report.transactions + CONNECTIONS:
            raise BenchFailed(f"{report.transactions} transactions of pgbench wrote {written} rows of {grows[1]}")
        return Reading(report.transactions, report.transactions / report.rate, p50, p99, database_cpu_seconds=spent)

    async def get(self, url: str) -> bytes:
        """Return the body of a response."""
        async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
            return (await client.get(url)).raise_for_status().content

    async def get_json(self, url: str) -> Any:
        return json.loads(await self.get(url))

    async def compare(
        self, path: str, run: Run, limit: str, run_limit: Run, *goals: Goal, measured: Measured = "rate", note: str = ""
    ) -> Row:
        """Measure a path and its limit in turns."""
        sides = Side(path, run), Side(limit, run_limit)
        return await alternate(*sides, measured=measured, effort=self.effort, goals=goals, note=note)

    # Users

    def token(self, caller: Caller) -> str:
        """Return a token of the bench's issuer, for endpoints and gateways with its JWKS_URL."""
        return self.issuer.token(
            caller.id, roles=sorted(caller.roles), vendor_id=caller.vendor_id, campus_id=caller.campus_id
        )

    @asynccontextmanager
    async def market(self) -> AsyncIterator[Marketplace]:
        """Yield a client of the system's public API."""
        market = Marketplace.at(self.system.base_url, self.system.sandbox_url, self.system.secrets)
        try:
            yield market
        finally:
            await market.close()


@asynccontextmanager
async def enter_concurrently(*contexts: AbstractAsyncContextManager[Any]) -> AsyncIterator[list[Any]]:
    """Enter all contexts concurrently."""
    async with AsyncExitStack() as stack:
        entering = (stack.enter_async_context(context) for context in contexts)
        entered = await asyncio.gather(*entering, return_exceptions=True)
        for one in entered:
            if isinstance(one, BaseException):
                raise one
        yield entered


@asynccontextmanager
async def opened_database(urls: BenchDatabase) -> AsyncIterator[Database]:
    """Open the database as a service does."""
    async with Database.connect(api_url=urls.api, service_url=urls.service, name="bench") as database:
        yield database


@asynccontextmanager
async def nginx(bench: BenchEnvironment, *, upstream_url: str, page: bytes) -> AsyncIterator[BenchProcess]:
    """Run nginx with one worker: `/page` serves fixed bytes, other paths are forwarded to `upstream_url`."""
    folder = bench.system.state_dir / "nginx"
    folder.mkdir(exist_ok=True)
    # The worker drops root's permissions and must be able to read the page.
    web = Path(f"/var/tmp/campus-bench-{bench.system.port_base}")
    web.mkdir(mode=0o755, exist_ok=True)
    (web / "page").write_bytes(page)
    port = bench.next_port()
    configuration = folder / "nginx.conf"
    configuration.write_text(_NGINX.format(folder=folder, web=web, port=port, upstream=urlsplit(upstream_url).netloc))
    with open_log(folder / "output.log") as output:
        child = spawn(
            [bench.nginx, "-c", str(configuration), "-p", str(folder), "-e", str(folder / "error.log")],
            environment=callers_environment(None),
            output=output,
        )
    try:
        await _until_ready(f"http://127.0.0.1:{port}/page")
        yield BenchProcess(child.pid, f"http://127.0.0.1:{port}")
    finally:
        await asyncio.to_thread(stop_child, child)
        (web / "page").unlink()
        web.rmdir()


_NGINX = """\
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 100000000;
    upstream tiny {{ server {upstream}; keepalive 256; keepalive_requests 100000000; }}
    server {{
        listen 127.0.0.1:{port};
        location = /page {{ root {web}; default_type application/json; }}
        location / {{
            proxy_pass http://tiny;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }}
    }}
}}
"""


async def _until_ready(url: str, within: float = 20.0) -> None:
    deadline = time.monotonic() + within
    async with httpx.AsyncClient(trust_env=False) as client:
        while True:
            try:
                (await client.get(url)).raise_for_status()
                return
            except httpx.HTTPError as error:
                if time.monotonic() > deadline:
                    raise BenchFailed(f"{url} is not ready after {within:.0f} s: {error!r}") from error
                await asyncio.sleep(0.05)


async def _rows(grows: tuple[str, str] | None) -> int:
    if grows is None:
        return 0
    url, table = grows
    async with connected(url) as connection:
        return int(await connection.fetchval(f"SELECT count(*) FROM {table}"))


def _in_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
