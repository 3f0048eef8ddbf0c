"""A posting to the escrow ledger, compared with pgbench and the transaction in one pipeline."""

from lab.bench.calls import ledger_post
from lab.bench.closed_loop import calling
from lab.bench.environment import BenchEnvironment, enter_concurrently
from lab.bench.figures import Goal, Reading, Row
from lab.bench.pgbench import script
from lab.bench.recording import repeatable


async def measure(bench: BenchEnvironment) -> list[Row]:
    urls, pgbench = bench.databases["payments"], "pgbench, the transaction in one pipeline"
    text = script(await repeatable(urls, "service", ledger_post), pipelined=True)

    async def limit(seconds: float) -> Reading:
        return await bench.load_database(urls.service, seconds, text, grows=(urls.admin, "ledger_transactions"))

    async with enter_concurrently(
        calling(bench, "ledger_post_alone", "payments"), calling(bench, "ledger_post", "payments")
    ) as (
        alone,
        in_a_unit_of_work,
    ):
        goal = Goal("ratio", 0.9, at_least=True)
        return [
            await bench.compare("ledger post, the call alone", alone, pgbench, limit, goal),
            await bench.compare("ledger post in a unit of work", in_a_unit_of_work, pgbench, limit),
        ]
