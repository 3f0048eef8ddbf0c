"""The bench parses the reports of its programs and calculates with them; `make bench` measures."""

from datetime import UTC, datetime
from uuid import UUID

import asyncpg
import pytest

from campus_tools.servers import Server, Servers
from lab.bench import pgbench, wrk
from lab.bench.figures import QUICK, Figures, Goal, Reading, Row, Side, alternate, percentile
from lab.bench.programs import BenchFailed, find_pgbench
from lab.bench.recording import Repeatable, Sent, literal
from operations.connecting import connected

WRK = """\
Running 3s test @ http://127.0.0.1:8080/api/products
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     7.91ms    2.11ms  31.80ms   81.52%
    Req/Sec     1.02k   102.83     1.21k    66.67%
  Latency Distribution
     50%  980.00us
     75%    8.75ms
     90%   10.43ms
     99%    1.21s
  3051 requests in 3.01s, 23.94MB read
Requests/sec:   1013.62
Transfer/sec:      7.95MB
"""
PGBENCH = """\
transaction type: transaction.sql
scaling factor: 1
query mode: prepared
number of clients: 8
number of threads: 1
maximum number of tries: 1
duration: 3 s
number of transactions actually processed: 12715
number of failed transactions: 0 (0.000%)
latency average = 1.886 ms
initial connection time = 41.213 ms
tps = 4241.765432 (without initial connection time)
"""
ONE, OTHER = UUID(int=1 << 70), UUID(int=2 << 70)


def test_the_report_of_wrk_is_read_in_its_units() -> None:
    report = wrk.parse(WRK)
    assert (report.requests, report.seconds, report.failures) == (3051, 3.01, 0)
    assert report.p50_ms == pytest.approx(0.98)
    assert report.p99_ms == pytest.approx(1210)


def test_wrk_fills_up_whole_seconds_with_a_space() -> None:
    assert wrk.parse(WRK.replace("    1.21s\n", "    1.21s \n")).p99_ms == pytest.approx(1210)


def test_failed_responses_of_wrk_are_counted() -> None:
    report = WRK + "  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 5\n"
    assert wrk.parse(report).failures == 15


@pytest.mark.parametrize("parse", [wrk.parse, pgbench.parse])
def test_a_report_that_cannot_be_read_fails_instead_of_counting_as_nothing(parse) -> None:
    with pytest.raises(BenchFailed):
        parse("Segmentation fault")


def test_the_report_of_pgbench_is_read() -> None:
    assert pgbench.parse(PGBENCH) == pgbench.PgbenchReport(12715, 4241.765432, 0)


def test_failed_transactions_of_pgbench_are_counted() -> None:
    assert pgbench.parse(PGBENCH.replace("failed transactions: 0", "failed transactions: 7")).failures == 7


def test_the_log_of_pgbench_is_in_microseconds() -> None:
    assert pgbench.parse_log("0 1 1500 0 1790000000 1\n3 2 250 0 1790000000 9\n") == [1.5, 0.25]


def test_percentiles_are_nearest_ranks() -> None:
    times = [float(number) for number in range(1, 101)]
    assert (percentile(times, 0.5), percentile(times, 0.99), percentile([7.0], 0.99)) == (50, 99, 7)
    assert percentile([], 0.5) is None


def test_cpu_is_reported_per_request() -> None:
    reading = Reading(2_000, 2.0, cpu_seconds=0.5, database_cpu_seconds=0.2)
    assert (reading.rate, reading.cpu_us, reading.database_cpu_us) == (1_000, 250, 100)
    assert Reading(1, 1.0).cpu_us is None


def runs(*readings: Reading):
    """Return the readings one after the other; the first is that of the warm-up."""
    left = iter(readings)

    async def run(seconds: float) -> Reading:
        return next(left)

    return run


async def test_the_ratio_is_the_median_of_the_rounds() -> None:
    """Other load that halves a whole round changes no ratio."""
    row = await alternate(
        Side("path", runs(Reading(1, 1), Reading(500, 1), Reading(250, 1))),
        Side("limit", runs(Reading(1, 1), Reading(1_000, 1), Reading(500, 1))),
        measured="rate",
        effort=QUICK,
        goals=[Goal("ratio", 0.5, at_least=True)],
    )
    assert (row.ratio, row.met, row.figures.rate) == (0.5, True, 375)


async def test_a_cpu_ratio_counts_the_servers_alone() -> None:
    row = await alternate(
        Side("path", runs(*[Reading(100, 1, cpu_seconds=0.06, database_cpu_seconds=9)] * 3)),
        Side("limit", runs(*[Reading(100, 1, cpu_seconds=0.01)] * 3)),
        measured="cpu",
        effort=QUICK,
        goals=[Goal("ratio", 5, unit="x")],
    )
    assert row.ratio == pytest.approx(6)
    assert row.met is False


def test_a_row_meets_its_goals_only_together() -> None:
    goals = (Goal("cpu_us", 280), Goal("p99_ms", 100))
    assert Row("", "", Figures(cpu_us=200, p99_ms=50), goals=goals).met is True
    assert Row("", "", Figures(cpu_us=200, p99_ms=150), goals=goals).met is False
    assert Row("", "", Figures(cpu_us=200), goals=goals).met is False
    assert Row("", "", Figures(cpu_us=200)).met is None


def test_no_literal_is_a_variable_of_pgbench() -> None:
    assert literal("orders") == "'orders'"
    assert ":" not in literal("charge:1") + literal({"a": "b"}) + literal(b":word")
    assert literal("it's:").count("'") == 2
    assert [literal(value) for value in (None, True, -5)] == ["NULL", "true", "-5"]


async def test_pgbench_compares_a_text_as_the_services_do(postgresql: Server, servers: Servers) -> None:
    """PostgreSQL uses no index with another collation than the column's, and the limit would be wrong."""
    text = "it's a \\ before :word, and ₦"
    async with connected(servers.database_url) as connection:
        assert await connection.fetchval(f"SELECT {literal(text)}::text") == text
        assert await connection.fetchval(f"SELECT pg_collation_for({literal(text)}::text)") == '"default"'


async def test_values_that_differ_between_two_runs_are_generated_for_each_transaction(
    postgresql: Server, servers: Servers
) -> None:
    statement = "SELECT $1::uuid, $2::text, $3::timestamptz, $4::uuid[], $5::bigint, 'orders:place'"
    first = [Sent(statement, (ONE, f"order:{ONE}", datetime(2026, 1, 1, tzinfo=UTC), [ONE, OTHER], 7))]
    second = [Sent(statement, (OTHER, f"order:{OTHER}", datetime(2026, 1, 2, tzinfo=UTC), [OTHER, OTHER], 7))]
    [made] = await Repeatable(first, second).statements(servers.database_url)
    assert made.count(":n") == 3
    assert str(ONE) not in made
    assert f"'{OTHER}'" in made
    assert "now()" in made
    assert "(7)::int8" in made
    assert ":place" not in made


async def test_a_path_that_sends_other_statements_each_time_has_no_limit(servers: Servers) -> None:
    with pytest.raises(BenchFailed):
        await Repeatable([Sent("SELECT 1", ())], [Sent("SELECT 2", ())]).statements(servers.database_url)


async def test_pgbench_repeats_a_recorded_transaction(postgresql: Server, servers: Servers) -> None:
    """pgbench accepts the script: pipelines, comments, and an id of each transaction, also in the caller's scope."""
    connection = await asyncpg.connect(servers.database_url)
    try:
        await connection.execute("CREATE TABLE bench_notes (id uuid PRIMARY KEY, text text)")
        scope = "BEGIN; SELECT 'a:b', set_config('app.user_id', '{}', true)"
        insert = (
            "-- By the caller alone.\nINSERT INTO bench_notes (id, text) SELECT $1::uuid, $2 "
            "WHERE $1::uuid::text = current_setting('app.user_id')"
        )
        sent = [[Sent(scope.format(id_), ()), Sent(insert, (id_, "x:y")), Sent("COMMIT", ())] for id_ in (ONE, OTHER)]
        statements = await Repeatable(*sent).statements(servers.database_url)
        for pipelined in (False, True):
            text = pgbench.script(statements, draws={"product": 5}, pipelined=pipelined)
            await pgbench.run(find_pgbench(print), servers.database_url, text, connections=2, seconds=1)
        assert await connection.fetchval("SELECT count(*) > 2 FROM bench_notes WHERE text = 'x:y'")
    finally:
        await connection.execute("DROP TABLE IF EXISTS bench_notes")
        await connection.close()
