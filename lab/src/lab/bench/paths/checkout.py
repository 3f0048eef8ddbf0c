"""Checkout, compared with pgbench and the same statements: order, items, timer, stock and outbox in one commit."""

from lab.bench import seeds
from lab.bench.calls import buyer, checkout
from lab.bench.closed_loop import calling
from lab.bench.cpu import Meter
from lab.bench.environment import BenchEnvironment, opened_database, together
from lab.bench.figures import Goal, Reading, Row, alternate
from lab.bench.paths.gateway import writing
from lab.bench.pgbench import script
from lab.bench.recording import Repeatable, Sent, record

_PRODUCTS_DRAWN = 500


async def measure(bench: BenchEnvironment) -> list[Row]:
    urls = bench.databases["orders"]
    text = await _script(bench)

    async def limit(seconds: float) -> Reading:
        return await bench.load_database(urls.api, seconds, text, grows=(urls.admin, "outbox"))

    async with together(bench.endpoint("orders"), calling(bench, "checkout", "orders")) as (endpoint, call):
        endpoint_meter = Meter([endpoint.pid])
        token = bench.token(buyer(seeds.BUYER.id))
        bodies = [
            f'{{"items":[{{"productId":"{seeds.product_id(number)}","quantity":1}}]}}'
            for number in range(1, seeds.PRODUCTS + 1, seeds.PRODUCTS // _PRODUCTS_DRAWN)
        ]

        async def over_http(seconds: float) -> Reading:
            load = writing([token], bodies)
            return await bench.load(f"{endpoint.url}/api/orders/checkout", seconds, endpoint_meter, script=load)

        return [
            await alternate(
                path="checkout, the use case",
                run=call,
                limit="pgbench, the same statements",
                run_limit=limit,
                measured="rate",
                effort=bench.effort,
                goals=[Goal("ratio", 0.5, at_least=True)],
            ),
            await alternate(
                path="checkout over HTTP",
                run=over_http,
                limit="pgbench, the same statements",
                run_limit=limit,
                measured="rate",
                effort=bench.effort,
            ),
        ]


async def _script(bench: BenchEnvironment) -> str:
    first, second = await _recorded(bench), await _recorded(bench)
    product = f"({seeds.PRODUCT_IDS}' || lpad(to_hex(:product::bigint), 12, '0'))::uuid"
    statements = Repeatable(first, second, {seeds.product_id(1): product})
    return script(await statements.statements(bench.databases["orders"].admin), draws={"product": seeds.PRODUCTS})


async def _recorded(bench: BenchEnvironment) -> list[Sent]:
    async with opened_database(bench.databases["orders"]) as database:
        return await record(database.api, lambda: checkout(database, 1))
