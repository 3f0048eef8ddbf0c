"""A buyer's orders under row security, compared with pgbench and the same page without policies."""

from common.auth.caller import THE_SERVICE
from lab.bench import seeds
from lab.bench.calls import own_orders
from lab.bench.closed_loop import calling
from lab.bench.environment import BenchEnvironment, opened_database
from lab.bench.figures import Goal, Reading, Row
from lab.bench.pgbench import script
from lab.bench.programs import BenchFailed
from lab.bench.recording import Repeatable, record


async def measure(bench: BenchEnvironment) -> list[Row]:
    urls = bench.databases["orders"]
    async with opened_database(urls) as database:
        sent = await record(database.service, lambda: own_orders(database, 1, THE_SERVICE))
    reads = [one for one in sent if "FROM orders" in one.statement]
    if len(reads) != 1:
        raise BenchFailed(f"the page was read by {len(reads)} statements, expected one")
    buyer = f"({seeds.BUYER_IDS}' || lpad(to_hex(:buyer::bigint), 12, '0'))::uuid"
    page = await Repeatable(reads, reads, {seeds.buyer_id(1): buyer}).statements(urls.admin)
    text = script(page, draws={"buyer": seeds.BUYERS})

    async def limit(seconds: float) -> Reading:
        return await bench.load_database(urls.service, seconds, text)

    async with calling(bench, "own_orders", "orders") as call:
        limit_name, goal = "pgbench, the page alone, past the policies", Goal("ratio", 0.7, at_least=True)
        return [await bench.compare("own orders under row security", call, limit_name, limit, goal)]
