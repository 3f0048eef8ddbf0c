"""The rows of the bench of orders, and how it waits for the results of a step."""

import asyncio
from dataclasses import replace

import asyncpg

from campus_tools.servers import Server, Servers
from common.primitives.ids import new_id
from lab.bench.counting import Changes, Idle, Step
from lab.bench.cpu import own_seconds, tree_seconds
from lab.bench.paths.order import Measured, Sample, rows, total
from lab.orders import Watch

STEP = Step(
    count=10,
    cpu_ms={"orders-api": 20, "orders-db": 8, "postgresql": 2, "broker": 10},
    commits={"orders": 4, "payments": 2},
    tables={"orders.orders": Changes(1, 3)},
    messages={"orders.payments": 2},
    log_bytes=1_000,
)


def measured(*steps: Step, idle_ms: float = 60) -> Measured:
    """Return the same steps in each phase."""
    found = Measured(Idle({"orders-api": idle_ms}, {"orders": 3}))
    for phase in ("purchase", "order", "rate", "payout"):
        found.samples[phase] = [Sample(step, 2.0, [5.0, 7.0], 6.0) for step in steps]
    return found


def test_an_order_is_the_mean_of_its_rounds() -> None:
    dearer = replace(STEP, cpu_ms={**STEP.cpu_ms, "orders-api": 40}, tables={"orders.orders": Changes(1, 1)})
    found = {row.path.partition(",")[0]: row for row in rows({"": measured(STEP, dearer)})}
    assert (found["order"].figures.cpu_us, found["order"].figures.database_cpu_us) == (50_000, 10_000)
    assert found["order"].figures.rate == 5
    assert {kind: found[f"{kind} of an order"].value for kind in ("commits", "rows", "messages")} == {
        "commits": 6,
        "rows": 3,
        "messages": 2,
    }


def test_two_versions_are_compared_round_by_round() -> None:
    """A round that other load makes three times as dear for both changes no ratio."""
    busy = replace(STEP, cpu_ms={name: 3 * spent for name, spent in STEP.cpu_ms.items()})
    half, busy_half = (
        replace(step, cpu_ms={name: spent / 2 for name, spent in step.cpu_ms.items()}) for step in (STEP, busy)
    )
    found = {
        row.path.partition(",")[0]: row
        for row in rows({"old": measured(STEP, busy), "new": measured(half, busy_half, idle_ms=15)})
    }
    assert (found["order"].limit, found["order"].ratio, found["commits of an order"].ratio) == ("old", 0.5, 1)
    assert (found["idle second"].ratio, found["idle second"].value) == (0.25, 15)


def test_rows_are_insertions_updates_and_deletions() -> None:
    assert (total(STEP, "rows"), total(STEP, "commits"), total(STEP, "messages")) == (4, 6, 2)


async def test_a_watch_returns_when_the_row_is_there_and_commits_nothing(postgresql: Server, servers: Servers) -> None:
    watching, writing = [await asyncpg.connect(servers.database_url) for _ in range(2)]
    first, second = str(new_id()), str(new_id())
    try:
        await writing.execute("CREATE TABLE watched (id uuid)")
        watch = Watch(watching, "SELECT id FROM watched WHERE id = ANY($1)")
        waiting = [asyncio.create_task(watch.reaches(key)) for key in (first, second)]
        await writing.execute("INSERT INTO watched VALUES ($1)", first)
        await asyncio.wait_for(waiting[0], 30)
        assert not waiting[1].done()
        assert watching.is_in_transaction()
        await writing.execute("INSERT INTO watched VALUES ($1)", second)
        await asyncio.wait_for(waiting[1], 30)
        while watching.is_in_transaction():
            await asyncio.sleep(0.01)
    finally:
        watching.terminate()
        await writing.execute("DROP TABLE watched")
        await writing.close()


async def test_the_time_of_a_tree_has_that_of_its_children() -> None:
    shell = await asyncio.create_subprocess_exec(
        "sh", "-c", "python3 -c 'sum(range(3000000)); input()'; :", stdin=asyncio.subprocess.PIPE
    )
    try:
        while tree_seconds([shell.pid])[shell.pid] < own_seconds(shell.pid) + 0.02:
            assert shell.returncode is None
            await asyncio.sleep(0.05)
    finally:
        shell.kill()
        await shell.wait()
