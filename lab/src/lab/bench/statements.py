"""`python -m lab.bench.statements [--orders N | --payouts N]`: the statements of a whole order, or of a payout, by
process and transaction, its rows by table, and its messages by queue.

Payouts are requested one by one and sent in one batch, as in `lab.bench order`, up to the bank's confirmation.

Counts depend on the code alone, so they hold on a busy machine. PostgreSQL logs each statement, and counts rows; the
broker counts messages. A period without requests of the same length is subtracted.
"""

import argparse
import asyncio
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from campus_tools.launcher import StartFailed
from campus_tools.servers import ServerUnavailable
from lab.bench.counted_trade import counted_trade
from lab.bench.counting import Counts
from lab.bench.programs import BenchFailed
from lab.bench.versions import running_version, this_version
from lab.orders import Trade
from lab.systems import RunningSystem, logger
from operations.connecting import connected

_log = logger("statements")
_WARM_ORDERS: Final = 5
# Deliveries of an order and the marks of its relays end before.
_QUIET_SECONDS: Final = 8.0
_LINE: Final = re.compile(
    r"\x01(?P<pid>\d+)\x01(?P<process>[^\x01]*)\x01LOG:  (?:statement|execute [^:]*): (?P<sql>.*)"
)
_SHOWN: Final = 150
_WRITES: Final = re.compile(r"\b(?:INSERT INTO|UPDATE|DELETE FROM|ledger_post)\b")
# BEGIN with a first statement has its values as literals.
_INBOX_VALUES: Final = re.compile(r"(INTO inbox \(event_id, consumer\)) VALUES .* ON")


@dataclass(frozen=True, slots=True)
class Executed:
    """A statement that a process sent, without its values."""

    pid: int
    process: str
    statement: str


@dataclass(frozen=True, slots=True)
class Transaction:
    """The statements of one transaction, of which those of one round trip for many rows follow one another."""

    process: str
    statements: tuple[str, ...]

    @property
    def round_trips(self) -> int:
        """Return the number of statements, counting equal neighbours once."""
        return sum(1 for before, one in zip(("", *self.statements), self.statements, strict=False) if before != one)

    @property
    def writes(self) -> bool:
        """Return whether its commit writes a record: a read alone waits for no disk."""
        return any(_WRITES.search(statement.replace("FOR NO KEY UPDATE", "")) for statement in self.statements)


@dataclass(slots=True)
class Period:
    """The transactions of a period, by how often each occurred."""

    seconds: float
    transactions: Counter[Transaction] = field(default_factory=Counter)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.statements", description=__doc__)
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--orders", type=int, default=10, help="orders to count, one after the other")
    chosen.add_argument("--payouts", type=int, default=0, help="payouts to count, in one batch, in place of orders")
    arguments = parser.parse_args()
    of_payout = arguments.payouts > 0
    count = arguments.payouts or arguments.orders
    try:
        found, idle, rows_and_messages = asyncio.run(_measure(count, of_payout=of_payout))
    except (BenchFailed, StartFailed, ServerUnavailable) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    print("\n".join([*report(found, idle, count), *rows_and_messages]))
    return 0


async def _measure(count: int, *, of_payout: bool) -> tuple[Period, Period, list[str]]:
    async with (
        running_version(this_version(), _log) as system,
        counted_trade(system) as (counters, trade),
        _logged(system) as log,
    ):
        _log("warming up")
        # Each order pays for more than one payout.
        for _ in range(_WARM_ORDERS + (count if of_payout else 0)):
            await trade.order()
        await trade.payouts(1)
        await asyncio.sleep(_QUIET_SECONDS)
        before = await counters.counts()
        _log(f"{count} {'payouts' if of_payout else 'orders'}")
        found = await _period(log, trade, count, of_payout=of_payout)
        after = await counters.counts()
        _log("a period without requests")
        idle = await _period(log, trade, 0, seconds=found.seconds)
        return found, idle, counted(before, after, await counters.counts(), count)


@asynccontextmanager
async def _logged(system: RunningSystem) -> AsyncIterator[Path]:
    """Let PostgreSQL log each statement; yield the file."""
    async with connected(system.database_url("postgres")) as connection:
        for name, value in (("log_line_prefix", r"E'\x01%p\x01%a\x01'"), ("log_statement", "'all'")):
            await connection.execute(f"ALTER SYSTEM SET {name} = {value}")
        await connection.execute("SELECT pg_reload_conf()")
        yield system.state_dir / "servers" / "postgresql.log"


async def _period(log: Path, trade: Trade, count: int, *, of_payout: bool = False, seconds: float = 0.0) -> Period:
    start, began = log.stat().st_size, time.monotonic()
    if of_payout:
        await trade.payouts(count)
    else:
        for _ in range(count):
            await trade.order()
    await asyncio.sleep(max(_QUIET_SECONDS, seconds))
    with log.open("rb") as file:
        file.seek(start)
        text = file.read().decode(errors="replace")
    return Period(time.monotonic() - began, Counter(transactions_of(executed_in(text))))


def executed_in(text: str) -> Iterator[Executed]:
    """Return the statements of PostgreSQL's log in order. Those of connections without a name are the bench's own."""
    for entry in re.split(r"\n(?=\x01)", text):
        if (found := _LINE.match(entry)) and found["process"]:
            first, _, more = entry[found.start("sql") :].partition("\n")
            statement = _INBOX_VALUES.sub(r"\1 VALUES ... ON", " ".join(f"{first} {more}".split()))
            yield Executed(int(found["pid"]), found["process"], statement)


def transactions_of(executed: Iterable[Executed]) -> list[Transaction]:
    """Group the statements by the transactions of their connections. A ROLLBACK is a transaction's end, too."""
    open_by_pid: dict[int, list[str]] = defaultdict(list)
    ended = []
    for one in executed:
        statements = open_by_pid[one.pid]
        statements.append(one.statement)
        if one.statement.endswith(("COMMIT", "ROLLBACK")) or not statements[0].startswith("BEGIN"):
            ended.append(Transaction(one.process, tuple(statements)))
            del open_by_pid[one.pid]
    return ended


def report(found: Period, idle: Period, count: int) -> list[str]:
    """Return the lines to print: each transaction with its frequency, and the sums for an order or a payout."""
    share = found.seconds / idle.seconds
    lines, sums = list[str](), defaultdict[str, float](float)
    by_process: Mapping[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for transaction, seen in sorted(found.transactions.items(), key=lambda pair: pair[0].process):
        times = max(0.0, (seen - idle.transactions[transaction] * share) / count)
        if times < 0.05:
            continue
        counts = {
            "transactions": times,
            "that write": times * transaction.writes,
            "statements": times * len(transaction.statements),
            "round trips": times * transaction.round_trips,
        }
        for name, value in counts.items():
            by_process[transaction.process][name] += value
            sums[name] += value
        lines.append(f"{transaction.process}: {times:.1f} x")
        lines += [f"    {statement[:_SHOWN]}" for statement in transaction.statements]
    table = [_row("process", tuple(sums))]
    table += [_row(process, [f"{value:.1f}" for value in values.values()]) for process, values in by_process.items()]
    return [*lines, "", *table, _row("each", [f"{value:.1f}" for value in sums.values()])]


def counted(before: Counts, after: Counts, idle: Counts, count: int) -> list[str]:
    """Return the lines to print: for each of `count` the rows of a table, inserted and changed, and the messages."""
    share = (after.at - before.at) / (idle.at - after.at)

    def of_each(first: int, second: int, third: int) -> float:
        return max(0.0, (second - first - (third - second) * share) / count)

    def line(name: str, values: Sequence[float]) -> list[str]:
        return [_row(name, [f"{value:.1f}" for value in values])] if max(values) >= 0.05 else []

    three = (before, after, idle)
    tables = {
        name: [of_each(*(one.tables.get(name, (0, 0))[column] for one in three)) for column in range(2)]
        for name in sorted(after.tables)
    }
    messages = {name: [of_each(*(one.messages.get(name, 0) for one in three))] for name in sorted(after.messages)}
    lines = list[str]()
    for heading, found in ((("inserted", "changed"), tables), (("acknowledged",), messages)):
        lines += ["", _row("messages" if found is messages else "rows", heading)]
        for name, values in found.items():
            lines += line(name, values)
        lines += line("each", [sum(column) for column in zip(*found.values(), strict=True)])
    return lines


def _row(name: str, values: Sequence[str]) -> str:
    return f"{name:44}" + "".join(f"{value:>14}" for value in values)


if __name__ == "__main__":
    sys.exit(main())
