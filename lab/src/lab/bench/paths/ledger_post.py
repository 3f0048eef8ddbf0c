"""A posting to the escrow ledger beside pgbench, which sends the whole transaction in one pipeline."""

from lab.bench.calls import ledger_post
from lab.bench.closed_loop import calling
from lab.bench.figures import Goal, Reading, Row, alternate
from lab.bench.pgbench import script
from lab.bench.recording import Repeatable, Sent, record
from lab.bench.stage import Stage, opened_database, together


async def measure(stage: Stage) -> list[Row]:
    urls = stage.databases["payments"]
    statements = await Repeatable(await _recorded(stage), await _recorded(stage)).statements(urls.admin)
    text = script(statements, pipelined=True)

    async def limit(seconds: float) -> Reading:
        return await stage.load_database(urls.service, seconds, text, grows=(urls.admin, "ledger_transactions"))

    async with together(calling(stage, "ledger_post_alone", "payments"), calling(stage, "ledger_post", "payments")) as (
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
                effort=stage.effort,
                goals=[Goal("ratio", 0.9, at_least=True)],
            ),
            await alternate(
                path="ledger post in a unit of work",
                run=in_a_unit_of_work,
                limit="pgbench, the transaction in one pipeline",
                run_limit=limit,
                measured="rate",
                effort=stage.effort,
            ),
        ]


async def _recorded(stage: Stage) -> list[Sent]:
    async with opened_database(stage.databases["payments"]) as database:
        return await record(database.service, lambda: ledger_post(database))
