"""The calculation of docs/capacity.md for simple figures, and the page as made from the stored figures."""

from dataclasses import replace

import pytest

from lab.capacity import page
from lab.capacity.assumed import DAY, Assumed, rates_of
from lab.capacity.figures import Measured, Step, Table, kept
from lab.capacity.peak_hour import Cluster, Hour, Worker, play
from lab.capacity.planning import (
    broker_line,
    database_lines,
    one_node,
    process_lines,
    queue_lines,
    table_lines,
    whole_order,
)
from lab.capacity.shipped import Scaling, scalings
from operations.processes import CAMPUS

EVEN = Assumed(
    orders_a_day=864_000,  # ten a second
    day=(1,) * 24,
    burst=2.0,
    reads_an_order=10,
    orders_a_payout=5,
    busy_at_most=0.5,
    database_cores=2,
    broker_cores=1,
    connections_a_process=20,
    pooler_clients=50,
)
NOTHING = Step(1, {}, {}, {}, {}, 0)
ORDER = Step(
    count=1,
    cpu_ms={"orders-api": 40, "orders-worker": 10, "orders-db": 90, "postgresql": 9, "broker": 5},
    commits={"orders": 4},
    tables={"orders.orders": Table(1, 2, 100, 150)},
    messages={"orders.payments": 2},
    log_bytes=1_000,
)
PAYOUT = replace(NOTHING, cpu_ms={"orders-api": 50}, tables={"orders.orders": Table(0.5, 0, 100, 150)})
READ = replace(NOTHING, cpu_ms={"orders-api": 1})
MEASURED = Measured("2026-01-01", "2 cores", 1.0, {"orders-api": 100.0}, {}, ORDER, PAYOUT, READ)
SHIPPED = {"orders-api": Scaling(1, 4), "orders-worker": Scaling(1, 2, 100, 0.6)}
WORKER = Worker("orders-worker", {"orders.payments": 2.0}, 5.0, Scaling(2, 10, 100, 0.6))
# Twenty orders a second are forty messages, a fifth of one core.
QUIET = Hour(20.0, 1.5, killed_every=100_000, outage_seconds=0.0)


def test_a_day_of_equal_hours_has_its_mean_in_every_hour() -> None:
    rates = rates_of(EVEN)
    assert (rates.mean, rates.busiest_hour, rates.busiest_second) == (10, 10, 20)


def test_a_campus_s_day_has_a_busiest_hour_within_reason() -> None:
    rates = rates_of(Assumed())
    assert len(DAY) == 24
    assert 1.5 < rates.busiest_hour / rates.mean < 3


def test_an_order_includes_its_share_of_a_payout_and_its_page_reads() -> None:
    order = whole_order(MEASURED, EVEN)
    assert order.cpu_ms["orders-api"] == 40 + 50 / 5 + 1 * 10
    assert order.tables["orders.orders"].rows == 1 + 0.5 / 5


def test_processes_are_as_many_as_keeps_each_core_half_idle() -> None:
    lines = {line.name: line for line in process_lines(whole_order(MEASURED, EVEN), EVEN, SHIPPED)}
    # 60 ms at 20 a second are 1.2 cores; half of a core each makes 3; four of them use 2 cores, 1.67 times the day.
    assert lines["orders-api"].cores == pytest.approx(1.2)
    assert lines["orders-api"].instances == 3
    assert lines["orders-api"].shipped_orders_a_day == pytest.approx(864_000 * 2 / 1.2)
    assert set(lines) == {"orders-api", "orders-worker"}


def test_a_database_is_divided_when_it_outgrows_one_primary() -> None:
    order = whole_order(MEASURED, EVEN)
    lines = {line.service: line for line in database_lines(order, EVEN, process_lines(order, EVEN, SHIPPED))}
    # 90 ms and the server's 9 at 20 a second: 1.98 cores, where a primary gives one.
    assert lines["orders"].cores == pytest.approx(1.98)
    assert lines["orders"].shards == 2
    assert lines["orders"].commits_a_second == 80
    assert lines["orders"].gigabytes_a_month == pytest.approx(1.1 * 250 * 864_000 * 30 / 1e9)
    # Three API processes and one worker with twenty connections each, fifty to a pooler.
    assert (lines["orders"].clients, lines["orders"].poolers) == (80, 2)
    assert lines["identity"].shards == 1


def test_tables_and_queues_grow_with_the_orders() -> None:
    order = whole_order(MEASURED, EVEN)
    (table,) = table_lines(order, EVEN)
    assert table.rows_a_month == pytest.approx(1.1 * 864_000 * 30)
    (queue,) = queue_lines(order, EVEN)
    assert queue.messages_a_second == 40


def test_every_node_of_the_broker_writes_every_message() -> None:
    line = broker_line(ORDER, EVEN)
    assert line.cores == pytest.approx(0.005 * 20 * 3)
    assert line.clusters == 1
    assert broker_line(ORDER, replace(EVEN, orders_a_day=8_640_000)).clusters == 2


def test_idle_processes_reduce_the_capacity_of_a_machine() -> None:
    node = one_node(MEASURED, EVEN, 2)
    # Of two cores one may be used, a tenth of it idles; an order is 174 ms.
    assert node.orders_a_second == pytest.approx((1 - 0.1) / 0.174)
    assert node.orders_a_day == pytest.approx(node.orders_a_second / 20 * 864_000)


def test_a_quiet_hour_has_no_waits_and_no_new_workers() -> None:
    played = play(WORKER, QUIET, Cluster(), 5.0)
    assert played.most_instances == 2
    assert played.wait_p99_seconds <= 1
    assert played.left < 50
    assert played.messages == pytest.approx(20 * 3600 * 2, rel=0.02)


def test_the_same_seed_plays_the_same_hour() -> None:
    assert play(WORKER, QUIET, Cluster(), 5.0) == play(WORKER, QUIET, Cluster(), 5.0)
    assert play(WORKER, QUIET, Cluster(), 5.0) != play(WORKER, replace(QUIET, seed=2), Cluster(), 5.0)


def test_webhooks_delayed_by_an_outage_are_processed() -> None:
    played = play(WORKER, replace(QUIET, outage_seconds=120.0, resend_seconds=5.0), Cluster(), 5.0)
    assert played.longest_queue > 1_000
    assert played.most_instances > 2
    assert played.messages == pytest.approx(20 * 3600 * 2, rel=0.02)
    assert played.left < 50
    assert played.late_share_undisturbed == 0


def test_too_few_workers_are_late() -> None:
    few = replace(WORKER, scaling=Scaling(1, 1, 100, 0.6))
    played = play(few, replace(QUIET, orders_a_second=110.0), Cluster(), 5.0)
    assert played.left > 1_000
    assert played.late_share > 0.5


def test_every_scaled_process_is_a_process_of_the_launcher() -> None:
    names = {plan.name for plan in CAMPUS.processes} - {"console", "sandbox"}
    assert set(scalings()) == names
    assert all(line.least <= line.most for line in scalings().values())


def test_shipped_autoscaling_meets_the_objective_in_the_busiest_hour() -> None:
    assumed, shipped = Assumed(), scalings()
    order = whole_order(kept(), assumed)
    cells = page.cells_of(process_lines(order, assumed, shipped), assumed)
    for played in page.busiest_hour(order, assumed, shipped, cells):
        # The objective of the journey: 99 of 100 within five seconds.
        assert played.late_share_undisturbed <= 0.01, played.name
        assert played.left < 1_000, played.name


def test_the_page_has_the_tables_of_the_stored_figures() -> None:
    text = page.PAGE.read_text()
    assert page.with_tables(text, page.sections(kept())) == text, "run `make capacity ARGS=--kept`"


def test_a_marker_without_a_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="places"):
        page.with_tables("<!-- measured: other -->\n<!-- end -->\n", {"run": ""})
