"""All processes of the marketplace in one program, stepped one at a time, with their servers and the sandbox."""

import asyncio
import hashlib
import hmac
import logging
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, Self, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import httpx
import structlog

import common.process.runtime
from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.system import System
from campus_tools.servers import Servers
from common.primitives.clock import ManualClock, SystemClock
from common.primitives.tls import client_tls
from lab.stepped.actors import User
from lab.stepped.effects import EffectLog
from lab.stepped.errors import NotSettled, StepRejected
from lab.stepped.findings import findings_of
from lab.stepped.processes import Process, track_tasks
from lab.stepped.rabbitmq import ARRIVALS, SteppedBus
from lab.stepped.sandbox_control import SandboxControl
from lab.stepped.webhooks import WebhookQueue
from lab.stepped.wrappers import observe_connections
from lab.systems import NO_QUOTA, NO_TRACING, Log
from operations.audit.gateway import Gateway
from operations.environment import Environments, callers_environment
from operations.processes import CAMPUS, SystemPlan
from operations.services import SERVICES, Service
from testkit.service_kit import BASE_URL, Issuer, issuing
from testkit.workers import throwaway_servers

# The processes of a run, in the order in which they take their turns. Identity and notifications move no money.
PROCESSES: Final = (
    "api-gateway",
    "orders-api",
    "orders-worker",
    "payments-api",
    "payments-worker",
    "payouts-api",
    "payouts-worker",
)
_SEEDED_BY: Final = "identity-worker"
# They join the scenarios that need them.
USERS: Final = ("identity-api", "notifications-worker")
# What real time brings within minutes. The others measure, purge, or run once a day.
_TIMERS: Final = {
    "orders-worker": ("fire-timers",),
    "payments-worker": (
        "settle-refunds",
        "settle-withdrawals",
        "query-unpaid-payments",
        "query-revised-webhooks",
        "submit-chargeback-responses",
        "query-disputes",
        "issue-statements",
        "link-postings",
    ),
    "payouts-worker": ("compare-transfers", "claim-due-transfers", "check-releases", "link-postings"),
}
_MINUTES: Final = timedelta(minutes=4)
_RETRY_AFTER: Final = timedelta(minutes=1)
# A message that comes again does so within a second; rounds of a scenario end after a dozen.
_ARRIVAL_SECONDS_MAX: Final = 5.0
_ROUNDS_MAX: Final = 150
_ATTEMPTS_MAX: Final = 10
_UNPUBLISHED: Final = "SELECT EXISTS (SELECT FROM outbox WHERE published_at IS NULL)"
SETTINGS: Final = {
    **NO_QUOTA,
    **NO_TRACING,
    "BASE_URL": BASE_URL,
    "RETRY_DELAYS_SECONDS": "0.05,0.1,0.2,0.4,0.8",
    "OPENING_BALANCE_MINOR": "1000000000",
    "PAYMENT_WINDOW_SECONDS": "86400",
    "BANK_DETAILS_COOLING_SECONDS": "0",
    "LOG_LEVEL": "CRITICAL",
}


def _prepare_program() -> None:
    """No log, and every task of a process belongs to it. The settings of the running loop and of the program change."""
    logging.disable(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, _context: None)
    track_tasks(loop)


Opening = TypeVar("Opening", bound="Marketplace", covariant=True)


class Opened(Protocol[Opening]):
    """`Marketplace.opened`, or what returns a marketplace that is open already."""

    def __call__(self, log: Log, further: Sequence[str] = ()) -> AbstractAsyncContextManager[Opening]: ...


class Marketplace:
    """The processes and their world. Nothing moves except by the methods of this class."""

    effects_type: ClassVar[type[EffectLog]] = EffectLog
    settings: ClassVar[Mapping[str, str]] = SETTINGS

    def __init__(self, system: System, issuer: Issuer, clock: ManualClock, log: Log) -> None:
        self.clock, self.issuer, self.log = clock, issuer, log
        self.secrets, self.effects = system.secrets, self.effects_type()
        self.processes: dict[str, Process] = {}
        self.effects.processes = self.processes
        self.databases: dict[str, asyncpg.Connection] = {}
        self.http = httpx.AsyncClient(base_url=system.base_url, timeout=60, trust_env=False, verify=client_tls())
        self.gateway = Gateway.of(
            {"OPENING_BALANCE_MINOR": SETTINGS["OPENING_BALANCE_MINOR"]}, self.secrets, system.sandbox_url
        )
        self._gateway_key = self.secrets["GATEWAY_SECRET_KEY"].split(",", 1)[0].encode()
        sandbox = httpx.AsyncClient(base_url=system.sandbox_url, timeout=60, trust_env=False, verify=client_tls())
        self.sandbox = SandboxControl(sandbox, self._gateway_key)
        self.webhooks = WebhookQueue(lambda: self.sandbox.client)
        # Preparations of races repeat their requests at the same time.
        self._ending_leases = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def opened(cls, log: Log, further: Sequence[str] = ()) -> AsyncIterator[Self]:
        """Servers, migrations and a sandbox of a new system, and all processes inside this program.

        `further`: processes besides those that move money.
        """
        _prepare_program()
        clock = ManualClock(SystemClock().now())
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="campus-stepped-")))
            servers = stack.enter_context(throwaway_servers())
            log("starting the servers, migrating")
            yield await cls._open(stack, folder, servers, clock, log, further)

    @classmethod
    async def _open(
        cls, stack: AsyncExitStack, folder: Path, servers: Servers, clock: ManualClock, log: Log, further: Sequence[str]
    ) -> Self:
        """Open the system on PostgreSQL, RabbitMQ and a sandbox process, with the demo data."""
        await asyncio.gather(asyncio.to_thread(servers.postgresql.start), asyncio.to_thread(servers.rabbitmq.start))
        issuer = await stack.enter_async_context(issuing(clock))
        sandbox = tuple(plan for plan in CAMPUS.processes if plan.service == "sandbox")
        plan = SystemPlan(SERVICES, sandbox, CAMPUS.demo_services)
        system = await stack.enter_async_context(
            System(folder, free_port_base(), cls.settings, plan=plan, servers=servers)
        )
        log("starting the processes")
        market = cls(system, issuer, clock, log)
        stack.push_async_callback(market._close)
        observe_connections(system.sandbox_url)
        common.process.runtime.Bus = SteppedBus  # type: ignore[attr-defined]
        await market.open_processes(cls.environments(system, servers), (*PROCESSES, _SEEDED_BY, *further), SERVICES)
        await market.run_until_idle()
        await market.time_passes()
        return market

    @classmethod
    def environments(cls, system: System, servers: Servers) -> Environments:
        """Return the environments of a system's processes, with the settings of a run."""
        return Environments(
            callers_environment(cls.settings),
            port_base=system.port_base,
            state_dir=system.state_dir,
            servers=servers,
            secrets=system.secrets,
        )

    async def open_processes(
        self, environments: Environments, names: Sequence[str], services: Sequence[Service]
    ) -> None:
        """Start these processes on the databases of these services, with the sandbox's settings of a run."""
        plans = {plan.name: plan for plan in CAMPUS.processes}
        by_name = {service.name: service for service in services}
        for name in names:
            plan = plans[name]
            environment = environments.for_process(plan, by_name[plan.service])
            # Quotas are counted in the process, and the tokens are this program's.
            environment |= {"RATE_LIMIT_STORE_URL": "", "JWKS_URL": self.issuer.jwks_url}
            self.processes[name] = Process(plan, environment, self.clock, self.effects)
        for service in services:
            url = urlsplit(self.secrets["DATABASE_URL"])._replace(path=f"/{service.database}").geturl()
            self.databases[service.name] = await asyncpg.connect(url)
        await self.sandbox.configure()
        await self.sandbox.set_faults()
        await self.revive()

    async def _close(self) -> None:
        for process in self.processes.values():
            await process.stop()
        for connection in self.databases.values():
            await connection.close()
        await self.http.aclose()
        await self.sandbox.client.aclose()

    # Time and messages

    async def run_until_idle(self) -> None:
        """Publish, deliver and handle until nothing moves any more."""
        for _ in range(_ROUNDS_MAX):
            if not (await self.move_once() or await self.release_rows()):
                return
        raise NotSettled

    async def move_once(self) -> bool:
        """Publish what is committed, deliver what is published, and send the gateway's webhooks, each in its turn."""
        moved = False
        for name in self.relays():
            moved |= await self.relay(name)
        for queue in self.waiting_queues():
            moved |= bool(await self.deliver(queue))
        for webhook in await self.webhooks.waiting():
            await self.send_webhook(webhook.body)
            self.webhooks.discard(webhook)
            moved = True
        return moved

    def relays(self) -> list[str]:
        """Return the processes with unpublished rows in memory."""
        return [name for name, process in self.processes.items() if process.has_waiting_rows]

    async def relay(self, name: str) -> bool:
        """Publish what a process committed."""
        if waiting := self.processes[name].has_waiting_rows:
            await self.processes[name].relay()
            await self.revive()
        return waiting

    def waiting_queues(self) -> list[str]:
        """Return the consumed queues with messages that may be delivered, in order of their names."""
        return sorted(queue for queue in self._consumed_queues() if queue in ARRIVALS.waiting())

    def _consumed_queues(self) -> set[str]:
        return set().union(*(process.queues for process in self.processes.values()))

    def consumer_of(self, queue: str) -> Process:
        return next(process for process in self.processes.values() if queue in process.queues)

    async def deliver(self, queue: str) -> int:
        """Deliver the messages of a queue, also those that arrive within moments."""
        expected = ARRIVALS.claim(queue)
        deadline = asyncio.get_running_loop().time() + _ARRIVAL_SECONDS_MAX
        handled = 0
        while True:
            handled += await self.consumer_of(queue).consume(queue)
            await self.revive()
            if handled >= expected or asyncio.get_running_loop().time() > deadline:
                return max(handled, 1)
            await asyncio.sleep(0.005)

    async def send_webhook(self, body: bytes) -> None:
        """Send a signed webhook as the gateway does: until the response is 200."""
        for _ in range(_ATTEMPTS_MAX):
            response = await self.send_webhook_once(body)
            await self.revive()
            if response is not None and response.status_code == 200:
                return
        raise StepRejected("POST", "gateway-webhook", response)

    async def send_webhook_once(self, body: bytes) -> httpx.Response | None:
        """Send a signed webhook; None when no response came."""
        signature = hmac.digest(self._gateway_key, body, hashlib.sha512).hex()
        headers = {"x-gateway-signature": signature, "Content-Type": "application/json"}
        return await self._send("POST", "/functions/v1/gateway-webhook", content=body, headers=headers)

    async def release_rows(self) -> bool:
        """Publish the rows of dead processes and unconfirmed ones, which wait in the table for the end of a lease."""
        released = False
        for service, connection in self.databases.items():
            relay = next((process for process in self.processes.values() if process.service == service), None)
            if relay is None or not await connection.fetchval(_UNPUBLISHED):
                continue
            await connection.execute("UPDATE outbox SET next_attempt_at = clock_timestamp() WHERE published_at IS NULL")
            await relay.relay()
            await self.revive()
            released = True
        return released

    async def time_passes(self, times: int = 1) -> None:
        """Minutes pass: leases end, timers run."""
        for _ in range(times):
            self.clock.advance(_MINUTES)
            await self.end_leases()
            for name, timers in _TIMERS.items():
                await self.run_timers(name, *timers)
            await self.run_until_idle()

    async def run_timers(self, name: str, *timers: str) -> None:
        """One round of each of these timers of a worker."""
        for timer in timers:
            await self.processes[name].run_loop(timer)
            await self.revive()

    async def revive(self) -> None:
        """Wait for running requests, and start each dead process again."""
        for process in self.processes.values():
            await process.is_quiet()
        for process in self.processes.values():
            # An instance may die while it starts.
            while process.is_dead:
                await process.start()

    async def roll_out(self, values: Mapping[str, str]) -> None:
        """Restart each process that has one of these variables, with the new values."""
        for process in self.processes.values():
            if any(process.variable(name) is not None for name in values):
                process.configure(values)
                await process.start()
                await self.revive()
        await self.run_until_idle()

    async def run_command(self, name: str, command: str) -> None:
        """Run a command of a worker's service, repeated by its operator after a crash."""
        for _ in range(_ATTEMPTS_MAX):
            process = self.processes[name]
            starts = process.starts
            await process.run(process.command(command))
            await self.revive()
            if process.starts == starts:
                return
        raise NotSettled

    async def end_leases(self) -> None:
        """End the time of a dead process's idempotency keys."""
        async with self._ending_leases:
            await self.databases["api-gateway"].execute(
                "UPDATE idempotency_records SET leased_until = clock_timestamp() WHERE leased_until > clock_timestamp()"
            )

    # The API

    async def get(self, path: str, user: User) -> Any:
        return (await self.request("GET", path, user)).json()["data"]

    async def post(self, path: str, user: User, body: Mapping[str, Any] | None = None) -> Any:
        """POST with a key of its own, repeated with the same key after a crash. Returns the data."""
        return (await self.request("POST", path, user, body or {})).json()["data"]

    async def put(self, path: str, user: User, body: Mapping[str, Any]) -> Any:
        return (await self.request("PUT", path, user, body)).json()["data"]

    async def request(
        self, method: str, path: str, user: User, body: Mapping[str, Any] | None = None
    ) -> httpx.Response:
        """Return a request as a good client sends it: repeated while there is no answer. Raises StepRejected."""
        key = str(uuid4()) if method == "POST" else None
        response = None
        for _ in range(_ATTEMPTS_MAX):
            response = await self.request_once(method, path, user, body, key)
            if response is not None and response.is_success:
                return response
            if response is not None and response.status_code == 401:
                # The clock has advanced for another request meanwhile. A client takes a new token.
                continue
            if response is not None and response.status_code < 500 and "Retry-After" not in response.headers:
                break
            await self.wait_for_retry()
        raise StepRejected(method, path, response)

    async def request_once(
        self, method: str, path: str, user: User, body: Mapping[str, Any] | None, key: str | None
    ) -> httpx.Response | None:
        """Send a request with a new token, and with an idempotency key where one is given; None without a response."""
        headers = {"Authorization": f"Bearer {self.issuer.token(user.id, **user.claims)}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        response = await self._send(method, path, headers=headers, json=body)
        await self.revive()
        return response

    async def wait_for_retry(self) -> None:
        """Let the time pass after which a client sends its request again, for some minutes."""
        self.clock.advance(_RETRY_AFTER)
        await self.end_leases()

    async def _send(self, method: str, path: str, **request: Any) -> httpx.Response | None:
        try:
            return await self.http.request(method, path, **request)
        except httpx.TransportError:
            return None

    # The verdict

    async def findings(self) -> set[str]:
        """Return the audit of all services, and messages or claims that nothing will ever finish."""
        return await findings_of(self.databases, self.gateway, self.processes.values())
