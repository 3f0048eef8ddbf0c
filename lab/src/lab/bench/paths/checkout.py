"""Checkout, compared with pgbench and the same statements: order, items, timer, stock and outbox in one commit."""

from lab.bench import seeds
from lab.bench.calls import buyer, checkout
from lab.bench.closed_loop import calling
from lab.bench.cpu import Meter
from lab.bench.environment import BenchEnvironment, enter_concurrently
from lab.bench.figures import Goal, Reading, Row
from lab.bench.paths.gateway import writing
from lab.bench.pgbench import script
from lab.bench.recording import repeatable

_PRODUCTS_DRAWN = 500


async def measure(bench: BenchEnvironment) -> list[Row]:
    urls, pgbench = bench.databases["orders"], "pgbench, the same statements"
    product = f"({seeds.PRODUCT_IDS}' || lpad(to_hex(:product::bigint), 12, '0'))::uuid"
    statements = await repeatable(urls, "api", lambda database: checkout(database, 1), {seeds.product_id(1): product})
    text = script(statements, draws={"product": seeds.PRODUCTS})

    async def limit(seconds: float) -> Reading:
        return await bench.load_database(urls.api, seconds, text, grows=(urls.admin, "outbox"))

    async with enter_concurrently(bench.endpoint("orders"), calling(bench, "checkout", "orders")) as (endpoint, call):
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
            await bench.compare("checkout, the use case", call, pgbench, limit, Goal("ratio", 0.5, at_least=True)),
            await bench.compare("checkout over HTTP", over_http, pgbench, limit),
        ]
