"""A posting to the escrow ledger, compared with pgbench and the transaction in one pipeline."""

from lab.bench.calls import ledger_post
from lab.bench.closed_loop import calling
from lab.bench.environment import BenchEnvironment, opened_database, together
from lab.bench.figures import Goal, Reading, Row, alternate
from lab.bench.pgbench import script
from lab.bench.recording import Repeatable, Sent, record


async def measure(bench: BenchEnvironment) -> list[Row]:
    urls = bench.databases["payments"]
    statements = await Repeatable(await _recorded(bench), await _recorded(bench)).statements(urls.admin)
    text = script(statements, pipelined=True)

    async def limit(seconds: float) -> Reading:
        return await bench.load_database(urls.service, seconds, text, grows=(urls.admin, "ledger_transactions"))

    async with together(calling(bench, "ledger_post_alone", "payments"), calling(bench, "ledger_post", "payments")) as (
        alone,
        in_a_unit_of_work,
    ):
        return [
            await alternate(
                path="ledger post, the call alone",
                run=alone,
                limit="pgbench, the transaction in one pipeline",
                run_limit=limit,
                measured="rate",
                effort=bench.effort,
                goals=[Goal("ratio", 0.9, at_least=True)],
            ),
            await alternate(
                path="ledger post in a unit of work",
                run=in_a_unit_of_work,
                limit="pgbench, the transaction in one pipeline",
                run_limit=limit,
                measured="rate",
                effort=bench.effort,
            ),
        ]


async def _recorded(bench: BenchEnvironment) -> list[Sent]:
    async with opened_database(bench.databases["payments"]) as database:
        return await record(database.service, lambda: ledger_post(database))
