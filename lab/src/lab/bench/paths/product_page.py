"""The product page: the orders service compared with a bare endpoint, and the path through the gateway."""

from dataclasses import replace
from datetime import UTC, datetime

from common.auth.caller import ANONYMOUS
from common.primitives.cursors import CursorSigner
from common.web.pages import CursorRequest
from lab.bench.cpu import Meter
from lab.bench.environment import BenchEnvironment, nginx, opened_database
from lab.bench.figures import Goal, Reading, Row, Run
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
    orders_url = f"http://127.0.0.1:{bench.system.process('orders').port}"
    async with bench.start_process("lab.bench.direct", service="orders", BENCH_STATEMENT=statement) as direct:
        service_meter, direct_meter = bench.meter("orders"), Meter([direct.pid])
        whole_meter = bench.meter("orders", "api-gateway")

        def loading(url: str, meter: Meter, script: str | None = None, *, has_database: bool = False) -> Run:
            async def run(seconds: float) -> Reading:
                reading = await bench.load(url, seconds, meter, script=script)
                return with_database(reading) if has_database else reading

            return run

        page = await bench.get(orders_url + _PATH)
        edge_url, same_bytes = bench.system.base_url + _PATH, "nginx, the same bytes from a file"
        async with nginx(bench, upstream_url=orders_url, page=page) as front:
            from_nginx = loading(f"{front.url}/page", Meter([front.pid]))
            return [
                await bench.compare(
                    "product page, orders service",
                    loading(orders_url + _PATH, service_meter),
                    "Starlette + asyncpg + msgspec",
                    loading(f"{direct.url}/page", direct_meter),
                    Goal("ratio", 1.5, unit="x"),
                    measured="cpu",
                ),
                await bench.compare(
                    "product page through the gateway, database included",
                    loading(edge_url, whole_meter, _EACH_ITS_OWN, has_database=True),
                    same_bytes,
                    from_nginx,
                    Goal("cpu_us", 1000, unit=" us"),
                    measured="cpu",
                ),
                await bench.compare(
                    "product page that anonymous readers share at the gateway",
                    loading(edge_url, whole_meter, has_database=True),
                    same_bytes,
                    from_nginx,
                    Goal("cpu_us", 150, unit=" us"),
                    measured="cpu",
                ),
            ]


def with_database(reading: Reading) -> Reading:
    """Return the reading with the database's CPU added to that of the path."""
    return replace(reading, cpu_seconds=(reading.cpu_seconds or 0.0) + (reading.database_cpu_seconds or 0.0))


async def _statement(bench: BenchEnvironment) -> str:
    """Return the statement that the service sends for the first page."""
    async with opened_database(bench.databases["orders"]) as database:

        async def page() -> None:
            now = datetime.now(UTC)
            requested = CursorRequest(CursorSigner("a cursor key"), 20, None)
            await page_of_products(database, requested, ANONYMOUS, {}, "newest", now=now)

        return (await record(database.api, page))[0].statement
