"""The product page: the orders service compared with a bare endpoint, and the path through the gateway."""

from datetime import UTC, datetime

from common.auth.caller import ANONYMOUS
from common.database.unit_of_work import Database
from common.primitives.cursors import CursorSigner
from lab.bench.cpu import Meter
from lab.bench.environment import BenchEnvironment, nginx
from lab.bench.figures import Goal, Reading, Row, alternate
from lab.bench.recording import record
from orders.queries.products import page_of_products

_PATH = "/api/products"
# Each request has another price bound above all prices, so that the edge has no cached page for it.
_EACH_ITS_OWN = """
local number = 0
request = function()
    number = number + 1
    return wrk.format("GET", "/api/products?maxPriceMinor=" .. (1000000000 + number))
end
"""


async def measure(bench: BenchEnvironment) -> list[Row]:
    statement = await _statement(bench)
    orders_url = f"http://127.0.0.1:{bench.system.process('orders-api').port}"
    async with bench.start_process(
        "lab.bench.direct",
        service="orders",
        BENCH_STATEMENT=statement,
    ) as direct:
        service_meter, direct_meter = bench.meter("orders-api"), Meter([direct.pid])
        whole_meter = bench.meter("orders-api", "api-gateway")

        async def at_the_service(seconds: float) -> Reading:
            return await bench.load(orders_url + _PATH, seconds, service_meter)

        async def at_the_bare_endpoint(seconds: float) -> Reading:
            return await bench.load(f"{direct.url}/page", seconds, direct_meter)

        async def through_the_gateway(seconds: float) -> Reading:
            url = bench.system.base_url + _PATH
            return with_database(await bench.load(url, seconds, whole_meter, script=_EACH_ITS_OWN))

        async def from_the_edge(seconds: float) -> Reading:
            return with_database(await bench.load(bench.system.base_url + _PATH, seconds, whole_meter))

        page = await bench.get(orders_url + _PATH)
        async with nginx(bench, upstream_url=orders_url, page=page) as front:
            front_meter = Meter([front.pid])

            async def from_nginx(seconds: float) -> Reading:
                return await bench.load(f"{front.url}/page", seconds, front_meter)

            return [
                await alternate(
                    path="product page, orders service",
                    run=at_the_service,
                    limit="Starlette + asyncpg + msgspec",
                    run_limit=at_the_bare_endpoint,
                    measured="cpu",
                    effort=bench.effort,
                    goals=[Goal("ratio", 1.5, unit="x")],
                ),
                await alternate(
                    path="product page through the gateway, database included",
                    run=through_the_gateway,
                    limit="nginx, the same bytes from a file",
                    run_limit=from_nginx,
                    measured="cpu",
                    effort=bench.effort,
                    goals=[Goal("cpu_us", 1000, unit=" us")],
                ),
                await alternate(
                    path="product page that anonymous readers share at the gateway",
                    run=from_the_edge,
                    limit="nginx, the same bytes from a file",
                    run_limit=from_nginx,
                    measured="cpu",
                    effort=bench.effort,
                    goals=[Goal("cpu_us", 150, unit=" us")],
                ),
            ]


def with_database(reading: Reading) -> Reading:
    """Return the reading with the database's CPU added to that of the path."""
    return Reading(
        reading.requests,
        reading.seconds,
        reading.p50_ms,
        reading.p99_ms,
        (reading.cpu_seconds or 0.0) + (reading.database_cpu_seconds or 0.0),
        reading.database_cpu_seconds,
    )


async def _statement(bench: BenchEnvironment) -> str:
    """Return the statement that the service sends for the first page."""
    urls = bench.databases["orders"]

    async with Database.connect(api_url=urls.api, service_url=urls.service, name="bench") as database:

        async def page() -> None:
            now = datetime.now(UTC)
            await page_of_products(database, CursorSigner("a cursor key"), ANONYMOUS, {}, "newest", 20, None, now=now)

        sent = await record(database.api, page)
    return sent[0].statement
