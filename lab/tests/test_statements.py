"""The statements of an order are counted from PostgreSQL's log."""

from collections import Counter

from lab.bench.counting import Counts
from lab.bench.statements import Executed, Period, Transaction, counted, executed_in, report, transactions_of

LOG = (
    "\x017\x01orders\x01LOG:  statement: BEGIN\n"
    "\x018\x01payments\x01LOG:  execute __asyncpg_stmt_1__: \n\tSELECT a,\n\t    b\n"
    "\x018\x01payments\x01DETAIL:  parameters: $1 = '5'\n"
    "\x019\x01\x01LOG:  execute __asyncpg_stmt_1__: SELECT of_the_bench\n"
    "\x017\x01orders\x01LOG:  execute __asyncpg_stmt_2__: INSERT INTO t\n"
    "\x017\x01orders\x01LOG:  execute __asyncpg_stmt_2__: INSERT INTO t\n"
    "\x017\x01orders\x01LOG:  statement: SELECT 1; COMMIT\n"
    "\x018\x01payments\x01LOG:  statement: BEGIN; INSERT INTO inbox (event_id, consumer) "
    "VALUES ('a', 'b'), ('c', 'd') ON CONFLICT\n"
)
ORDERS = Transaction("orders", ("BEGIN", "INSERT INTO t", "INSERT INTO t", "SELECT 1; COMMIT"))
PAYMENTS = Transaction("payments", ("SELECT a, b",))


def test_statements_are_read_without_the_benchs_own() -> None:
    assert list(executed_in(LOG)) == [
        Executed(7, "orders", "BEGIN"),
        Executed(8, "payments", "SELECT a, b"),
        Executed(7, "orders", "INSERT INTO t"),
        Executed(7, "orders", "INSERT INTO t"),
        Executed(7, "orders", "SELECT 1; COMMIT"),
        Executed(8, "payments", "BEGIN; INSERT INTO inbox (event_id, consumer) VALUES ... ON CONFLICT"),
    ]


def test_statements_are_grouped_by_transaction() -> None:
    assert transactions_of(executed_in(LOG)) == [PAYMENTS, ORDERS]


def test_rows_of_one_statement_are_one_round_trip() -> None:
    assert (ORDERS.round_trips, PAYMENTS.round_trips) == (3, 1)


def test_the_report_is_of_one_order_without_the_idle_share() -> None:
    orders = Period(10.0, Counter({ORDERS: 4, PAYMENTS: 3}))
    idle = Period(20.0, Counter({PAYMENTS: 6}))
    *_, line = report(orders, idle, 2)
    assert line.split() == ["each", "2.0", "2.0", "8.0", "6.0"]


def test_a_lock_and_a_read_alone_write_nothing() -> None:
    lock = Transaction("orders", ("BEGIN", "SELECT id FROM orders FOR NO KEY UPDATE", "COMMIT"))
    assert [one.writes for one in (ORDERS, PAYMENTS, lock)] == [True, False, False]


def test_rows_and_messages_are_of_one_order_without_the_idle_share() -> None:
    before, after, idle = (
        Counts(at, {}, {"orders.outbox": rows, "orders.products": (0, 0)}, {"orders.payments": acknowledged}, 0, 0)
        for at, rows, acknowledged in ((0.0, (5, 5), 1), (10.0, (12, 10), 5), (20.0, (13, 10), 5))
    )
    lines = [line.split() for line in counted(before, after, idle, 2)]
    assert ["orders.outbox", "3.0", "2.5"] in lines
    assert ["orders.payments", "2.0"] in lines
    assert [line for line in lines if line[:1] == ["each"]] == [
        ["each", "3.0", "2.5"],
        ["each", "2.0"],
    ]
    assert not any(line[:1] == ["orders.products"] for line in lines)
