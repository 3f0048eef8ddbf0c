"""The processes of a service: `api` (with a relay), `worker` (consumers, relay, timers), `all`, `migrate`, and its own commands.

A background loop that fails takes its process down, and whoever started the process starts it again: there is no half-dead state.
"""

import asyncio
import gc
import inspect
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import uvicorn
import uvloop
from aio_pika.abc import AbstractIncomingMessage
from fastapi import APIRouter
from starlette.types import ASGIApp

from common.auth.caller import THE_SERVICE
from common.auth.tokens import RENEW_KEYS_EVERY_SECONDS, REVOCATIONS_REMEMBERED, Revocations, TokenVerifier
from common.auth.user_lookup import IdentityUserLookup
from common.auth.verification_keys import KeySet
from common.database.retention import EVERY_SECONDS, Rule, message_retention_rules, purge_expired_once
from common.database.unit_of_work import Database, UnitOfWork, is_unavailable
from common.messaging import declaring, republishing
from common.messaging.bus import Bus
from common.messaging.consumers import Consumers
from common.messaging.faults import PermanentFault
from common.messaging.messages import Received, Subscription, WorkItem, read_envelope, read_payload
from common.messaging.provenance import check_broadcast, route_of
from common.messaging.relay import MEASURE_EVERY_SECONDS, measure_once, run_relay
from common.messaging.topology import declared_topology
from common.migrations.runner import migrate
from common.observability import logging, telemetry
from common.observability.outages import Outage
from common.primitives.clock import Clock, SystemClock
from common.primitives.retry import jittered
from common.process.settings import ServiceSettings
from common.web.http import HttpContext, create_app
from common.web.http_protocol import JoinedProtocol
from common.web.personal_records import Section
from common.web.request_scope import RequestScope
from common.web.standard_routers import health_routes, standard_routes
from contracts.event import Event
from contracts.identity import SessionRevoked

log = logging.get_logger(__name__)

# Requests that run get this long to end after the signal; Kubernetes kills after thirty.
DRAIN_SECONDS: Final = 8
# Well within the 60 s in which a log-out must take effect everywhere (contract section 5).
RELOAD_REVOCATIONS_SECONDS: Final = 20.0
EXIT_UNKNOWN_COMMAND: Final = 64


@dataclass(frozen=True, slots=True)
class Loop:
    """A background loop: `run_once` at least every so many seconds, until the process ends."""

    name: str
    run_once: Callable[[], Awaitable[Any]]
    every_seconds: float


@dataclass(slots=True)
class Runtime:
    """What every process of a service has open."""

    service: str
    clock: Clock
    database: Database
    bus: Bus
    verifier: TokenVerifier
    on_broadcast: dict[type[Event], Callable[[Any], None]] = field(default_factory=dict)
    # Whether the broker must have validated the account of a message's publisher.
    account_required: bool = True
    # Called at the signal to end: answers that would last for ever end here, so that the drain is short.
    on_stop: list[Callable[[], None]] = field(default_factory=list)
    # What is kept of the messages, for how long.
    kept: Sequence[Rule] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """A service as a value: its composition root and its tables of routes, subscriptions, work, loops and what is kept for a time."""

    name: str
    settings: type[ServiceSettings]
    compose: Callable[[Any, Runtime], AbstractAsyncContextManager[Any]]
    routers: Sequence[APIRouter]
    personal_records: Sequence[Section] = ()
    subscriptions: Sequence[Subscription[Any]] = ()
    work_items: Sequence[WorkItem[Any]] = ()
    loops: Callable[[Any], Sequence[Loop]] = lambda _: ()
    kept: Callable[[Any], Sequence[Rule]] = lambda _: ()
    commands: Mapping[str, Callable[..., Awaitable[None]]] = field(default_factory=dict)

    @property
    def package(self) -> str:
        return self.name.replace("-", "_")


def main(service: Service) -> None:
    """`python -m <service> api | worker | all | migrate | declare-broker | republish | <its own commands>`."""
    command, arguments = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if command == "migrate" and not arguments:
        migrate(service.package)
    elif command == declaring.COMMAND and not arguments:
        declaring.declare_by_command()
    elif command in ("api", "worker", "all") and not arguments:
        uvloop.run(_run(service, command))
    elif command == republishing.COMMAND or (
        command in service.commands and _takes(service.commands[command], arguments)
    ):
        uvloop.run(_run(service, command, arguments))
    else:
        known = ", ".join(
            ["api", "worker", "all", "migrate", declaring.COMMAND, republishing.COMMAND, *service.commands]
        )
        sys.stderr.write(f"python -m {service.package}: expected one of {known}\n")
        raise SystemExit(EXIT_UNKNOWN_COMMAND)


def _takes(command: Callable[..., Awaitable[None]], arguments: Sequence[str]) -> bool:
    try:
        inspect.signature(command).bind(None, *arguments)
    except TypeError:
        return False
    return True


async def _run(service: Service, command: str, arguments: Sequence[str] = ()) -> None:
    settings = service.settings.from_environment()
    process = service.name if command == "all" else f"{service.name}-{command}"
    logging.start(process, settings.log_level)
    telemetry.start(process)
    try:
        async with running(service, settings, process) as (runtime, dependencies):
            if command == republishing.COMMAND:
                return await republishing.republish_by_command(runtime.database, arguments)
            if command in service.commands:
                return await service.commands[command](dependencies, *arguments)
            await _serve(service, settings, runtime, dependencies, command)
    finally:
        telemetry.stop()


@asynccontextmanager
async def running(
    service: Service, settings: ServiceSettings, process: str, clock: Clock | None = None
) -> AsyncIterator[tuple[Runtime, Any]]:
    """Opens what a process needs and composes the service's dependencies; tests open a service the same way."""
    async with (
        open_runtime(service.name, settings, process, clock) as runtime,
        service.compose(settings, runtime) as dependencies,
    ):
        yield runtime, dependencies


@asynccontextmanager
async def open_runtime(
    service: str, settings: ServiceSettings, process: str, clock: Clock | None = None
) -> AsyncIterator[Runtime]:
    """Database pools, broker connection and token verifier of one process."""
    clock = clock or SystemClock()
    standings = IdentityUserLookup(settings.identity_address) if settings.trusted_issuers else None
    verifier = TokenVerifier(
        KeySet(settings.jwks_url, clock),
        issuer=settings.base_url,
        clock=clock,
        revocations=Revocations(),
        trusted=settings.trusted_issuers,
        standings=standings,
    )
    bus = Bus(settings.broker_url, declared_topology(settings.ladder), process)
    async with Database.connect(
        api_url=settings.api_database_url, service_url=settings.service_database_url, name=process
    ) as database:
        try:
            yield Runtime(
                service,
                clock,
                database,
                bus,
                verifier,
                account_required=settings.broker_verified_publishers,
                kept=message_retention_rules(settings),
            )
        finally:
            await bus.close()
            if standings is not None:
                await standings.close()


def http_app(
    service: Service,
    settings: ServiceSettings,
    runtime: Runtime,
    dependencies: Any,
    *,
    with_routes: bool = True,
    needs_broker: bool = False,
) -> RequestScope:
    """The ASGI application of a process; without routes it has health and metrics only."""
    context = HttpContext(runtime.verifier, runtime.clock, settings.base_url, settings.service_keys)
    routers = [health_routes(runtime, needs_broker=needs_broker)]
    if with_routes:
        routers += [*standard_routes(service, settings, runtime), *service.routers]
    return RequestScope(create_app(title=service.name, routers=routers, context=context, dependencies=dependencies))


def background(service: Service, runtime: Runtime, dependencies: Any, command: str) -> list[Awaitable[None]]:
    """Everything that a process does beside answering requests, as coroutines to run until cancelled."""
    # What was said while no process listened is stored by a consumer at any later moment: so the stored ones are read again.
    revocations = Loop("stored revocations", lambda: load_stored_revocations(runtime), RELOAD_REVOCATIONS_SECONDS)
    tasks: list[Awaitable[None]] = [
        run_relay(runtime.database, runtime.bus),
        telemetry.watch_event_loop(),
        # What a service hears for the answers that it holds open is nothing to a process that answers nobody.
        consume_broadcasts(runtime, revocations_only=command == "worker"),
        run_loop(revocations),
    ]
    if command in ("api", "all"):
        renewal = Loop("verification keys", runtime.verifier.renew_keys_once, RENEW_KEYS_EVERY_SECONDS)
        tasks.append(run_loop(renewal))
    if command in ("worker", "all"):
        subscriptions = [*service.subscriptions, Subscription(SessionRevoked, on_session_revoked)]
        consumers = Consumers(
            service.name,
            runtime.database,
            runtime.bus,
            dependencies,
            subscriptions,
            service.work_items,
            account_required=runtime.account_required,
        )
        tasks.append(consumers.run())
        measuring = Loop("measures", lambda: measure_once(runtime.database), MEASURE_EVERY_SECONDS)
        rules = (*runtime.kept, *service.kept(dependencies))
        retention = Loop("retention", lambda: purge_expired_once(runtime.database, rules, runtime.clock), EVERY_SECONDS)
        tasks.extend(run_loop(loop) for loop in (measuring, retention, *service.loops(dependencies)))
    return tasks


async def _serve(
    service: Service, settings: ServiceSettings, runtime: Runtime, dependencies: Any, command: str
) -> None:
    is_worker = command == "worker"
    app = http_app(service, settings, runtime, dependencies, with_routes=not is_worker, needs_broker=is_worker)
    beside = background(service, runtime, dependencies, command)
    on_stop = [*runtime.on_stop, app.leave]
    await serve(
        app,
        settings.host,
        settings.port,
        beside,
        on_stop=on_stop,
        shutdown_drain_seconds=settings.shutdown_drain_seconds,
    )


class Server(uvicorn.Server):
    """uvicorn, with the signals in our hand: it would end the process before what is below the server is closed."""

    def __init__(
        self, config: uvicorn.Config, on_stop: Sequence[Callable[[], None]] = (), shutdown_drain_seconds: float = 0.0
    ) -> None:
        super().__init__(config)
        self._on_stop, self._leave_seconds = on_stop, shutdown_drain_seconds
        self._is_leaving = False

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        yield

    def _stop(self) -> None:
        """The second signal ends what the first one announced."""
        if self._is_leaving or self._leave_seconds == 0:
            self._exit()
        else:
            asyncio.get_running_loop().call_later(self._leave_seconds, self._exit)
        self._is_leaving = True
        for end in self._on_stop:
            end()

    def _exit(self) -> None:
        self.should_exit = True


async def serve(
    app: ASGIApp,
    host: str,
    port: int,
    beside: Sequence[Awaitable[None]],
    *,
    protocol: type[asyncio.Protocol] = JoinedProtocol,
    on_stop: Sequence[Callable[[], None]] = (),
    shutdown_drain_seconds: float = 0.0,
) -> None:
    """Serves until SIGTERM or SIGINT: no new requests, the running ones end, then the loops beside are cancelled.

    For `leave_seconds` after the signal new requests are still taken, so that whoever sends them can see that the process leaves.
    """
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=protocol,
        ws="none",
        # uvicorn would believe X-Forwarded-For of any client on this machine.
        proxy_headers=False,
        loop="none",
        lifespan="off",
        access_log=False,
        server_header=False,
        log_config=None,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_keep_alive=75,
    )
    server = Server(config, on_stop, shutdown_drain_seconds)
    gc.freeze()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_as_coroutine(loop)) for loop in beside]
        await server.serve()
        for task in tasks:
            task.cancel()


async def _as_coroutine(awaitable: Awaitable[None]) -> None:
    await awaitable


async def run_loop(loop: Loop) -> None:
    """`run_once` for ever; a failure is logged and the next round comes a little later."""
    failing = Outage(log, "loop failed", "loop goes on", loop=loop.name)
    while True:
        try:
            await loop.run_once()
            failing.ended()
        except Exception as error:
            # The database's own absence is said by itself.
            if not is_unavailable(error):
                failing.failed(error, is_bug=True)
        await asyncio.sleep(jittered(loop.every_seconds))


_STORE_REVOCATION: Final = "INSERT INTO session_revocations (user_id, session_id, not_before) VALUES ($1, $2, $3)"
# A hundred a second while a token of ours lives.
REVOCATIONS_LOADED_MAX: Final = 100_000
# The newest first: a flood of log-outs crowds out what covers no living token any more.
_RECENT_REVOCATIONS: Final = """
SELECT user_id, session_id, not_before FROM session_revocations
WHERE heard_at > now() - $1::interval ORDER BY heard_at DESC LIMIT $2
"""


async def on_session_revoked(event: SessionRevoked, received: Received, uow: UnitOfWork, dependencies: Any) -> None:
    """Keeps the revocation for the processes that start after it was said. Tokens live shorter than what is loaded."""
    await uow.execute(_STORE_REVOCATION, event.user_id, event.session_id, datetime.fromisoformat(event.not_before))


async def consume_broadcasts(runtime: Runtime, *, revocations_only: bool = False) -> None:
    """Hears revocations, and what the service itself wants to hear, on a queue of this process; catches up from the stored ones."""
    wanted = {} if revocations_only else runtime.on_broadcast

    async def on_message(message: AbstractIncomingMessage) -> None:
        try:
            received, payload = read_envelope(message.body, 1, is_last_attempt=True)
            check_broadcast(route_of(message), received, account_required=runtime.account_required)
            if received.type == SessionRevoked.TYPE:
                revoked: SessionRevoked = read_payload(payload, SessionRevoked)
                runtime.verifier.revocations.add(
                    revoked.user_id, revoked.session_id, datetime.fromisoformat(revoked.not_before)
                )
            for event, hear in wanted.items():
                if received.type == event.TYPE:
                    hear(read_payload(payload, event))
        except PermanentFault as fault:
            log.error("broadcast not understood", error=str(fault))
        await message.ack()

    telemetry.BROADCASTS_UNHEARD_SECONDS.set_function(runtime.bus.seconds_without_broadcasts)
    types = {SessionRevoked.TYPE, *(event.TYPE for event in wanted)}
    await runtime.bus.listen(sorted(types), on_message, on_open=lambda: load_stored_revocations(runtime))


async def load_stored_revocations(runtime: Runtime) -> None:
    """Believes no token that a stored revocation covers, and forgets those that cover none any more."""
    runtime.verifier.revocations.forget_old(runtime.clock.now())
    async with runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for row in await uow.fetch(_RECENT_REVOCATIONS, REVOCATIONS_REMEMBERED, REVOCATIONS_LOADED_MAX):
            runtime.verifier.revocations.add(row["user_id"], row["session_id"], row["not_before"])
