"""`make races`: two or three actions on one order or payout at once, interleaved at every effect, and audit."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from campus_tools.children import open_log
from lab.counts import one_or_more
from lab.races import balances, orders, payouts, purchases
from lab.races.actions import Combination, pairs_of
from lab.races.exploration import Explored, explore, run_schedule
from lab.races.marketplace import RacingMarketplace
from lab.races.three import three_at_once
from lab.stepped.marketplace import Opened
from lab.stepped.scheduler import parse_schedule
from lab.stepped.wrappers import ObservedConnection
from lab.systems import logger

SITUATIONS: Final = (*orders.SITUATIONS, *payouts.SITUATIONS, *purchases.SITUATIONS, *balances.SITUATIONS)
SCHEDULES: Final = 200
SCHEDULES_OF_SELF_CHECK: Final = 10
# The audit and the gateway's lists take longer with each order, so that a new system is opened now and then.
_PAIRS_OF_A_SYSTEM: Final = 6


def main() -> None:
    """Exit with status 1 when a race has a wrong end."""
    options = parse()
    pairs = chosen(options.pair, has_three=options.three)
    if options.list:
        for pair in pairs:
            print(pair.name)
        return
    sys.exit(0 if asyncio.run(run(pairs, options)) else 1)


def chosen(texts: Sequence[str] | None, *, has_three: bool = False) -> list[Combination]:
    """Return the combinations with these names, or with one of these texts in their name, in the order of the texts.

    Without texts all of them. `has_three`: of three actions; otherwise pairs, and those of three by a whole name.
    """
    three = three_at_once(SITUATIONS)
    among = three if has_three else pairs_of(SITUATIONS)
    if not texts:
        return among
    by_name = {one.name: one for one in (*three, *among)}
    return list(
        dict.fromkeys(
            one
            for text in texts
            for one in ([by_name[text]] if text in by_name else [one for one in among if text in one.name])
        )
    )


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of these arguments, by default those of the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pair", action="append", help="those whose name has this text, such as `paid: pin`")
    parser.add_argument(
        "--three", action="store_true", help="instead of pairs: the chosen combinations of three actions"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the pairs, and run none")
    parser.add_argument("--schedules", type=one_or_more, default=SCHEDULES, help="schedules of each pair")
    parser.add_argument("--schedule", help="only this schedule of each pair, as a report names it")
    parser.add_argument(
        "--self-check", action="store_true", help="and find that races break when no statement locks its rows"
    )
    parser.add_argument(
        "--results", type=Path, help="a file with a line for each complete pair; those without a wrong end are skipped"
    )
    parser.add_argument("--seed", type=int, default=0, help="chooses among the schedules")
    return parser.parse_args(arguments)


async def run(
    pairs: Sequence[Combination],
    options: argparse.Namespace,
    opened: Opened[RacingMarketplace] = RacingMarketplace.opened,
) -> bool:
    """Explore the pairs, print a table, and return whether all ends were right."""
    log = logger("races")
    explored: list[Explored] = []
    anomalies: list[str] = []
    results: Path | None = options.results
    complete = results.read_text().splitlines() if results is not None and results.exists() else []
    right = [line for line in complete if ", 0 broken, " in line]
    pairs = [pair for pair in pairs if not any(line.startswith(f"{pair.name}: ") for line in right)]
    finds_faults = not options.self_check
    for first in range(0, len(pairs), _PAIRS_OF_A_SYSTEM):
        batch = pairs[first : first + _PAIRS_OF_A_SYSTEM]
        async with opened(log) as market:
            explored += [await _explored(market, pair, options) for pair in batch]
            anomalies += await market.anomalies()
            finds_faults = finds_faults or await finds_missing_locks(market, batch, options.seed)
    print_table(explored)
    if not finds_faults:
        print("SELF-CHECK FAILED: without row locks no race was found")
    print(f"{len(anomalies)} anomalies in the history", *anomalies, sep="\n")
    return finds_faults and not anomalies and not any(one.broken for one in explored)


async def _explored(market: RacingMarketplace, pair: Combination, options: argparse.Namespace) -> Explored:
    """Explore a pair, or run the schedule of a report, and write its line."""
    if options.schedule:
        one, race = await run_schedule(market, pair, parse_schedule(options.schedule))
        market.log(race.outcome)
    else:
        one = await explore(market, pair, options.schedules, options.seed)
    market.log(one.line)
    for text in one.broken:
        market.log(f"BROKEN {text}")
    if options.results is not None:
        with open_log(options.results) as file:
            file.write("".join(f"{line}\n" for line in (one.line, *(f"  BROKEN {it}" for it in one.broken))).encode())
    return one


async def finds_missing_locks(market: RacingMarketplace, pairs: Sequence[Combination], seed: int) -> bool:
    """Return whether the races of these pairs have wrong ends when `FOR UPDATE` locks no row."""
    ObservedConnection.locks_rows = False
    try:
        for pair in pairs:
            if (await explore(market, pair, SCHEDULES_OF_SELF_CHECK, seed)).broken:
                return True
        return False
    finally:
        ObservedConnection.locks_rows = True


def print_table(explored: Sequence[Explored]) -> None:
    """Print a line for each pair."""
    table = Table("pair", "schedules", "waits for a lock", "ends", "broken")
    for one in explored:
        ends = "\n".join(f"{count} {end}" for end, count in one.ends.most_common())
        table.add_row(one.pair.name, str(one.races), str(one.blocked), ends, str(len(one.broken)))
    Console(width=200).print(table)
    broken = sum(len(one.broken) for one in explored)
    print(f"{len(explored)} pairs, {sum(one.races for one in explored)} schedules, {broken} broken")


if __name__ == "__main__":
    main()
