"""A database endpoint with tracing, exported to the sandbox, compared with the same endpoint without tracing."""

from lab.bench.cpu import Meter
from lab.bench.environment import BenchEnvironment, enter_concurrently
from lab.bench.figures import Goal, Reading, Row

_PATH = "/api/products"


async def measure(bench: BenchEnvironment) -> list[Row]:
    collector = f"{bench.system.sandbox_url}/otlp"
    async with enter_concurrently(
        bench.start_process("orders", "api", service="orders"),
        bench.start_process("orders", "api", service="orders", OTEL_EXPORTER_OTLP_ENDPOINT=collector),
    ) as (plain, traced):
        plain_meter, traced_meter = Meter([plain.pid]), Meter([traced.pid])
        product = (await bench.get_json(plain.url + _PATH))["data"][0]["id"]

        async def on(seconds: float) -> Reading:
            return await bench.load(f"{traced.url}{_PATH}/{product}", seconds, traced_meter)

        async def off(seconds: float) -> Reading:
            return await bench.load(f"{plain.url}{_PATH}/{product}", seconds, plain_meter)

        goal = Goal("ratio", 1.4, unit="x")
        return [await bench.compare("one product, tracing on", on, "tracing off", off, goal, measured="cpu")]
