"""Systems that the lab starts for one run, and what each run reads of them."""

import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import asyncpg
import httpx

from campus_tools.launcher import System
from campus_tools.launcher.runtimes import CHECKOUT, Runtime
from campus_tools.servers import ServerPorts, Servers
from lab.histories.recording import History, RecordingClient
from lab.process_logs import unhandled_errors
from operations.audit import findings_of
from operations.connecting import connected
from operations.journey import Marketplace
from operations.processes import CAMPUS, SANDBOX_PORT, SystemPlan
from operations.secrets import read_secrets
from testkit.marketplaces import marketplace_at

Log = Callable[[str], None]
"""Prints one line about the progress of a run."""

_STARTED: Final = time.monotonic()

# The load comes from one machine and a few accounts: quotas must count, and never reject. In a window of one second the
# log of each account is about as long as its real quota lets it grow in a minute.
NO_QUOTA: Final = {f"RATE_TIER_{tier}": "100000000" for tier in ("1", "2", "3", "4", "5", "4_ADDRESS", "MEDIA")} | {
    "RATE_MACHINES": "100000000",
    "RATE_WINDOW_SECONDS": "1",
    "UNPAID_ORDERS_MAX": "1000000",
    "UNPAID_SHARE_MAX_PERCENT": "100",
}
_PAGE: Final = 100
_DEADLOCKS: Final = "SELECT datname, deadlocks FROM pg_stat_database WHERE datname LIKE 'campus\\_%' AND deadlocks > 0"
NO_TRACING: Final = {"OTEL_EXPORTER_OTLP_ENDPOINT": ""}


@dataclass(frozen=True, slots=True)
class RunningSystem:
    """A system as its state directory describes it; a launcher of any version may have started it."""

    state_dir: Path
    port_base: int
    secrets: Mapping[str, str]

    @classmethod
    def at(cls, state_dir: Path, port_base: int) -> "RunningSystem":
        return cls(state_dir, port_base, read_secrets(state_dir / "secrets.env"))

    @property
    def management_url(self) -> str:
        """The broker's management API with the administrator's account."""
        account = urlsplit(self.secrets["BROKER_URL"]).netloc.rpartition("@")[0]
        return f"http://{account}@127.0.0.1:{ServerPorts.above(self.port_base).management}"

    def database_url(self, database: str) -> str:
        """Return the administrator's address of a database."""
        return urlsplit(self.secrets["DATABASE_URL"])._replace(path=f"/{database}").geturl()

    def pids(self) -> dict[str, int]:
        """Return the ids of all processes and servers by name."""
        return {row["name"]: row["pid"] for row in json.loads((self.state_dir / "processes.json").read_text())}

    def market(self) -> Marketplace:
        """Return a client of the public API."""
        base_url, sandbox_url = (f"http://127.0.0.1:{self.port_base + offset}" for offset in (0, SANDBOX_PORT))
        return marketplace_at(base_url, sandbox_url, self.secrets)


def logger(program: str) -> Log:
    """Return a function that prints program, seconds since the start, and a text to the standard error."""

    def log(text: str) -> None:
        print(f"{program} {seconds_since_start():5.0f} s  {text}", file=sys.stderr, flush=True)

    return log


def seconds_since_start() -> float:
    return time.monotonic() - _STARTED


def keep_logs(run: Path, kept: Path) -> Path:
    """Copy the logs below the folder of a run to `kept`, in place of those of an earlier run. Return `kept`."""
    shutil.rmtree(kept, ignore_errors=True)
    for log in run.rglob("*.log"):
        copy = kept / log.relative_to(run)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, copy)
    return kept


@asynccontextmanager
async def temporary_system(
    program: str, log: Log, environment: Mapping[str, str] | None = None, plan: SystemPlan = CAMPUS
) -> AsyncIterator[tuple[System, Marketplace]]:
    """Yield a system without quotas and tracing, and its clients. Stop and remove it with its data at the end."""
    with tempfile.TemporaryDirectory(prefix=f"campus-{program}-", ignore_cleanup_errors=True) as folder:
        log("starting the system")
        async with System(folder, environment={**NO_QUOTA, **NO_TRACING, **(environment or {})}, plan=plan) as system:
            try:
                async with clients_of(system, History.new(program)) as market:
                    yield system, market
            finally:
                await asyncio.to_thread(system.stop)
                system.servers.remove_data()


@asynccontextmanager
async def clients_of(
    system: System, history: History | None = None, *, patient: bool = True
) -> AsyncIterator[Marketplace]:
    """Yield clients of a system, whose calls the history records; patient ones repeat requests as the SDKs do."""
    client = httpx.AsyncClient if history is None else partial(RecordingClient, history)
    clients = marketplace_at(system.base_url, system.sandbox_url, system.secrets, patient=patient, client=client)
    async with clients as market:
        yield market


@asynccontextmanager
async def stopped_at_the_end(servers: Servers) -> AsyncIterator[None]:
    """Stop these servers at the end, and remove their data."""
    try:
        yield
    finally:
        await asyncio.to_thread(servers.stop)
        servers.remove_data()


async def rows_of(system: System, service: str, statement: str, *values: Any) -> list[asyncpg.Record]:
    """Return the rows of a statement in a service's database, as the auditor reads them."""
    async with connected(database_of(system, service)) as connection:
        return list(await connection.fetch(statement, *values))


async def value_of(system: System, service: str, statement: str, *values: Any) -> Any:
    """Return the first column of the first row."""
    return (await rows_of(system, service, statement, *values))[0][0]


async def broken_invariants(system: System, market: Marketplace, log: Log, settle_seconds: int = 60) -> tuple[str, ...]:
    """Return the invariants that the audit finds broken, with their first three rows, the deadlocks, and the errors
    that processes logged with a traceback.
    """
    log("auditing")
    errors = await asyncio.to_thread(unhandled_errors, system.state_dir / "logs")
    found = (*await _deadlocks(system), *errors)
    if system.runtime is not CHECKOUT:
        return (*found, *await _findings_of_the_image(system, settle_seconds))
    findings = await findings_of(system.secrets, market.sandbox, settle_seconds=settle_seconds)
    return (*found, *(f"{finding.rule}: {finding.rows[:3]}" for finding in findings))


async def _deadlocks(system: System) -> tuple[str, ...]:
    """Return the databases of the system in which transactions deadlocked (decision 102)."""
    rows = await rows_of(system, "orders", _DEADLOCKS)
    return tuple(f"{row['datname']}: {row['deadlocks']} deadlocks" for row in rows)


async def _findings_of_the_image(system: System, settle_seconds: int) -> tuple[str, ...]:
    """Return the findings of `operations.audit` as the system's runtime runs it. Raises ChildProcessError when it was
    incomplete.
    """
    _, report = await run_as_operator(
        system, "audit", "operations.audit", "--json", "--settle-seconds", str(settle_seconds)
    )
    if not report["gateway"]["compared"]:
        raise ChildProcessError(f"the audit compared nothing with the payment gateway: {report['gateway']['reason']}")
    rows: dict[str, list[str]] = {}
    for line in report["findings"]:
        rows.setdefault(line["check"], []).append(f"{line['subject']} {line['expected']} {line['actual']}")
    return tuple(f"{check}: {found[:3]}" for check, found in rows.items())


async def run_as_operator(
    system: System,
    name: str,
    *module: str,
    state_dir: Path | None = None,
    variables: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> tuple[int | None, Any]:
    """Run `python -m <module>` of an operator in a runtime (the system's), and return its exit code and its JSON
    document.

    Raises:
        ChildProcessError: it printed no document.
    """
    command, environment = system.operators_command(
        name, *module, state_dir=state_dir, variables=variables, runtime=runtime
    )
    ran = await asyncio.create_subprocess_exec(
        *command, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await ran.communicate()
    try:
        return ran.returncode, json.loads(output)
    except ValueError:
        raise ChildProcessError(f"{' '.join(module[:3])} ended with code {ran.returncode}: {output.decode()}") from None


def database_of(system: System, service: str) -> str:
    """Return the auditor's address of a service's database."""
    return urlsplit(system.secrets["AUDIT_DATABASE_URL"])._replace(path=f"/campus_{service}").geturl()


def gateway_bearer(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the header with which a request at the sandbox's payment gateway is authorized."""
    return {"Authorization": f"Bearer {secrets['GATEWAY_SECRET_KEY'].split(',', 1)[0]}"}


async def transfers_of(market: Marketplace) -> list[dict[str, Any]]:
    """All transfers that the sandbox's payment gateway accepted."""
    transfers: list[dict[str, Any]] = []
    while True:
        page = {"page": len(transfers) // _PAGE + 1, "perPage": _PAGE}
        response = await market.sandbox.get("/gateway/transfer", params=page, headers=gateway_bearer(market.secrets))
        lines = response.raise_for_status().json()["data"]
        transfers += lines
        if len(lines) < _PAGE:
            return transfers
