"""The composition root of the gateway, and its process: the edge on the public port, metrics on the internal one.

After SIGTERM the gateway drains. For `SHUTDOWN_DRAIN_SECONDS` readiness is 503, new connections are accepted, and
each response closes its connection. Then running requests finish. With a load balancer that probes more often, no
request fails in a rolling restart (`test_rolling_restart.py`). A second signal ends the drain at once.

Without the broker every route works. Catalog pages expire by time, and revocations are delayed, which
`broadcasts_unheard_seconds` and the alert `revocations-late` show.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from api_gateway.addresses import ClientAddresses
from api_gateway.cells import CellRouter, upstream_of
from api_gateway.cors import CrossOrigin
from api_gateway.edge import ClientTimeouts, Edge
from api_gateway.forwarding import Forwarder
from api_gateway.gateway_endpoints import GatewayEndpoints
from api_gateway.guides import Guides, guides_folder
from api_gateway.headers import security_headers
from api_gateway.idempotent_requests import IdempotentExecutor
from api_gateway.key_tokens import KeyTokens
from api_gateway.limits import LIMITS, EdgeLimits
from api_gateway.load import Load
from api_gateway.metrics import Metrics
from api_gateway.page_cache import PageCache
from api_gateway.protocol import EdgeProtocol
from api_gateway.quotas import ProcessQuotas, Quotas
from api_gateway.readiness import Check, Readiness
from api_gateway.routing import RouteTable
from api_gateway.services import IDENTITY, NOTIFICATIONS, ORDERS, PAYMENTS, PAYOUTS
from api_gateway.settings import Settings
from api_gateway.sliding_window import MICROSECONDS, SlidingWindows
from api_gateway.store import IdempotencyRecords
from api_gateway.tiers import Limits, Tiers
from api_gateway.tracing import ServerSpans
from api_gateway.upstream import Upstreams
from api_gateway.work import MergedLists
from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.observability import access_log, logging, telemetry
from common.primitives.cells import Cells
from common.primitives.clock import Clock
from common.process.loops import Loop
from common.process.runtime import Runtime, Service, running
from common.process.server import serve, serve_internal
from common.process.service import background, http_app
from common.standard_endpoints.settings_routes import settings_of_service
from common.web.endpoint_table import read_routes
from contracts.orders import ProductChanged

SWEEP_EVERY_SECONDS = 15.0
# A replaced proxy is counted as one client for at most as long.
RESOLVE_EVERY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The open parts of the gateway."""

    settings: Settings
    clock: Clock
    edge: Edge
    records: IdempotencyRecords
    windows: SlidingWindows


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime, limits: EdgeLimits = LIMITS) -> AsyncIterator[Dependencies]:
    """Build the edge. An invalid route table stops the start."""
    routes = RouteTable(read_routes())
    windows = SlidingWindows(settings.rate_window_seconds)
    metrics, spans = Metrics(), ServerSpans()
    quotas: Quotas = ProcessQuotas(windows)
    if settings.rate_limit_store_url:
        from api_gateway.store_quotas import StoreQuotas

        quotas = StoreQuotas(
            settings.rate_limit_store_url, windows, metrics, seconds_max=limits.quota_store_seconds_max
        )
    cells = settings.all_cells
    upstreams = Upstreams(
        _addresses_of(settings, cells), settings.upstream_connections_max, limits, settings.inside_tls
    )
    runtime.on_stop.append(upstreams.close_streams)
    records = IdempotencyRecords(
        runtime.database,
        lock_seconds=settings.idempotency_lock_seconds,
        keep_seconds=settings.idempotency_keep_seconds,
        acquire_seconds_max=limits.acquire_seconds_max,
    )
    load = Load(settings.requests_in_flight_max)
    metrics.in_flight, metrics.in_flight_max = lambda: load.running, load.limit
    runtime.on_stop.append(lambda: setattr(load, "is_draining", True))
    forwarder = Forwarder(upstreams, load, settings.gateway_signature_header)
    page_cache = None
    if settings.edge_cache_seconds:
        page_cache = PageCache(forwarder, metrics, routes, settings.edge_cache_seconds, limits)
        runtime.on_broadcast[ProductChanged] = lambda event: page_cache.invalidate_product(event.product_id)
    readiness = Readiness(upstreams, _database_check(runtime.database), limits.readiness_seconds_max)
    addresses = ClientAddresses(settings.trusted_proxies)
    await addresses.resolve()
    edge = Edge(
        routes=routes,
        verifier=runtime.verifier,
        key_tokens=KeyTokens(upstreams, runtime.clock),
        clock=runtime.clock,
        addresses=addresses,
        tiers=Tiers(_limits_of(settings), settings.shared_addresses),
        quotas=quotas,
        window_seconds=settings.rate_window_seconds,
        timeouts=ClientTimeouts(
            settings.client_head_seconds_max, settings.client_body_seconds_max, settings.client_answer_seconds_max
        ),
        load=load,
        forwarder=forwarder,
        idempotent_requests=IdempotentExecutor(records, forwarder, metrics),
        page_cache=page_cache,
        cells=None if cells is None else CellRouter(cells, forwarder),
        work=MergedLists(forwarder, metrics, limits.work_seconds_max, settings_of_service("api-gateway", settings)),
        pages=GatewayEndpoints(
            readiness, load, settings.base_url, Guides(guides_folder(), settings.base_url), settings.events_address
        ),
        cross_origin=CrossOrigin(settings.allowed_origins),
        metrics=metrics,
        spans=spans,
        base_url=settings.base_url,
        security_headers=security_headers(settings.base_url),
    )
    try:
        yield Dependencies(settings, runtime.clock, edge, records, windows)
    finally:
        await upstreams.close()
        await records.close()
        await quotas.close()


def loops(dependencies: Dependencies) -> Sequence[Loop]:
    """Remove subjects whose window is empty, and resolve the names of the proxies."""

    async def sweep_windows() -> None:
        dependencies.windows.sweep(int(dependencies.clock.now().timestamp() * MICROSECONDS))

    return (
        Loop("sweep-quota-windows", sweep_windows, SWEEP_EVERY_SECONDS),
        Loop("resolve-trusted-proxies", dependencies.edge.addresses.resolve, RESOLVE_EVERY_SECONDS),
    )


SERVICE = Service(
    name="api-gateway",
    settings=Settings,
    compose=compose,
    loops=loops,
    retention_rules=lambda dependencies: (dependencies.records.retention_rule,),
)


async def run_edge() -> None:
    """Run the gateway until SIGTERM or SIGINT."""
    settings = Settings.from_environment()
    logging.start(SERVICE.name, settings.log_level)
    access_log.start(SERVICE.name, enabled=settings.access_log_enabled)
    telemetry.start(SERVICE.name)
    try:
        async with running(SERVICE, settings, SERVICE.name) as (runtime, dependencies):
            dependencies.edge.metrics.publish()
            background_tasks = background(SERVICE, runtime, dependencies, "all")
            internal = http_app(SERVICE, settings, runtime, dependencies, with_routes=False)
            background_tasks.append(serve_internal(internal, settings, settings.metrics_port))
            await serve(
                dependencies.edge,
                settings,
                background_tasks,
                protocol=EdgeProtocol,
                on_stop=runtime.on_stop,
            )
    finally:
        telemetry.stop()


def _addresses_of(settings: Settings, cells: Cells | None) -> dict[str, str]:
    return {
        **({} if cells is None else {upstream_of(cell): cell.url for cell in cells.all if cell.name != cells.own}),
        IDENTITY: settings.identity_url,
        ORDERS: settings.orders_url,
        PAYMENTS: settings.payments_url,
        PAYOUTS: settings.payouts_url,
        NOTIFICATIONS: settings.notifications_url,
    }


def _limits_of(settings: Settings) -> Limits:
    return Limits(
        anonymous=settings.rate_tier_1,
        buyer=settings.rate_tier_2,
        merchant=settings.rate_tier_3,
        sensitive=settings.rate_tier_4,
        assistant=settings.rate_tier_5,
        account_address=settings.rate_tier_4_address,
        machines=settings.rate_machines,
        images=settings.rate_tier_media,
        refused_refreshes=settings.rate_refused_refreshes,
        api_keys=settings.rate_api_keys,
    )


def _database_check(database: Database) -> Check:
    async def ping() -> bool:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            return bool(await uow.fetch_value("SELECT true"))

    return ping
