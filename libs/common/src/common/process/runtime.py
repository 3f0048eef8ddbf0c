"""A service as a value, and the runtime that each of its processes opens."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from importlib import import_module
from typing import Any

from common.auth.tokens import FurtherIssuers, Revocations, TokenVerifier
from common.auth.user_lookup import IdentityUserLookup, NoUserLookup
from common.auth.verification_keys import KeySet
from common.database.retention import Rule
from common.database.unit_of_work import Database
from common.messaging.bus import Bus
from common.messaging.messages import Subscription, WorkItem
from common.messaging.topology import declared_topology
from common.primitives.clock import Clock, SystemClock
from common.primitives.limits import WAIT_LIMITS, WaitLimits
from common.process.loops import Loop
from common.process.message_retention import message_retention_rules
from common.process.settings import ServiceSettings
from common.standard_endpoints.pending_work import WorkKind
from common.standard_endpoints.personal_records import Section
from common.standard_endpoints.stop_routes import Operation
from common.web.endpoints import Endpoints
from contracts.event import Event


@dataclass(slots=True)
class Runtime:
    """The open connections and clients that every process of a service has."""

    service: str
    clock: Clock
    database: Database
    bus: Bus
    verifier: TokenVerifier
    on_broadcast: dict[type[Event], Callable[[Any], None]] = field(default_factory=dict)
    # Whether the broker must have validated the account of a message's publisher.
    account_required: bool = True
    # Called at the shutdown signal: open-ended responses end here, so that the drain is short.
    on_stop: list[Callable[[], None]] = field(default_factory=list)
    retention_rules: Sequence[Rule] = ()
    # The time after which an unresolved dead letter is closed.
    dead_letter_life: timedelta = timedelta.max
    # The names of background loops that ended; the process is about to end.
    ended_loops: set[str] = field(default_factory=set)
    limits: WaitLimits = WAIT_LIMITS


@dataclass(frozen=True, slots=True)
class Service:
    """A service: its composition root and its tables of routes, subscriptions, work items, loops and retention
    rules.
    """

    name: str
    settings: type[ServiceSettings]
    compose: Callable[[Any, Runtime], AbstractAsyncContextManager[Any]]
    routes: str = ""
    """The module with the `ENDPOINTS` of the service; a worker does not import it."""
    personal_records: Sequence[Section] = ()
    pending_work: Sequence[WorkKind] = ()
    own_actions: str = ""
    """The SELECT of the actions of a member of staff, for `common.standard_endpoints.own_actions`."""
    stoppable: Operation | None = None
    """The operation that staff on call can stop."""
    subscriptions: Sequence[Subscription] = ()
    work_items: Sequence[WorkItem] = ()
    loops: Callable[[Any], Sequence[Loop]] = lambda _: ()
    retention_rules: Callable[[Any], Sequence[Rule]] = lambda _: ()
    commands: Mapping[str, Callable[..., Awaitable[None]]] = field(default_factory=dict)
    limits: WaitLimits = WAIT_LIMITS
    linger_seconds: float = 0.0
    """How long an event waits for others, to share a transaction with them; for services that no one waits for."""
    lock_by: Sequence[str] = ()
    """The fields of events with the ids of the rows that their handlers lock, the first lock first (decision 102)."""

    @property
    def package(self) -> str:
        return self.name.replace("-", "_")

    @property
    def endpoints(self) -> Sequence[Endpoints]:
        """The endpoints of the API process. Their models are a quarter of what an import of the service costs."""
        found: Sequence[Endpoints] = import_module(self.routes).ENDPOINTS if self.routes else ()
        return found


@asynccontextmanager
async def running(
    service: Service,
    settings: ServiceSettings,
    process: str,
    clock: Clock | None = None,
    database: Database | None = None,
) -> AsyncIterator[tuple[Runtime, Any]]:
    """Yield the runtime of a process and the composed dependencies of its service. Tests open a service the same
    way.
    """
    async with (
        open_runtime(service, settings, process, clock, database) as runtime,
        service.compose(settings, runtime) as dependencies,
    ):
        yield runtime, dependencies


@asynccontextmanager
async def open_runtime(
    service: Service,
    settings: ServiceSettings,
    process: str,
    clock: Clock | None = None,
    database: Database | None = None,
) -> AsyncIterator[Runtime]:
    """Yield the database pools, broker connection and token verifier of one process.

    An open `database` is used as it is and stays open.
    """
    clock, limits = clock or SystemClock(), service.limits
    tls = settings.inside_tls
    user_lookup = (
        IdentityUserLookup(settings.identity_address, limits.identity, tls) if settings.trusted_issuers else None
    )
    further = FurtherIssuers(settings.trusted_issuers, user_lookup or NoUserLookup(), limits.identity)
    verifier = TokenVerifier(
        KeySet(settings.jwks_url, clock, seconds_max=limits.identity, tls=tls),
        issuer=settings.base_url,
        clock=clock,
        revocations=Revocations(),
        further=further,
        cells=settings.all_cells,
    )
    bus = Bus(settings.broker_url, declared_topology(settings.ladder), process, limits.broker_connect)
    async with (
        nullcontext(database)
        if database
        else Database.connect(
            api_url=settings.api_database_url, service_url=settings.service_database_url, name=process, limits=limits
        )
    ) as opened:
        try:
            yield Runtime(
                service.name,
                clock,
                opened,
                bus,
                verifier,
                account_required=settings.broker_verified_publishers,
                retention_rules=message_retention_rules(settings),
                dead_letter_life=timedelta(days=settings.unresolved_dead_letters_keep_days),
                limits=limits,
            )
        finally:
            await bus.close()
            if user_lookup is not None:
                await user_lookup.close()
