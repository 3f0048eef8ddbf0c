"""`make capacity`: measure the cost of an order and calculate the needs of ten million orders a day.

Measures a separate system, stores the figures in docs/capacity-measured.json, and writes the tables of
docs/capacity.md. With `--kept` the tables are calculated from the stored figures without a measurement.
"""

import argparse
import asyncio
import sys

import httpx

from campus_tools.launcher import StartFailed
from campus_tools.servers import ServerUnavailable
from lab.capacity import page
from lab.capacity.assumed import Assumed
from lab.capacity.figures import KEPT, kept
from lab.capacity.measure import Effort, measure
from lab.counts import one_or_more
from lab.systems import logger
from operations.journey import StepFailed

_log = logger("capacity")
_STOPPED = (StartFailed, ServerUnavailable, StepFailed, TimeoutError, OSError, httpx.HTTPError)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make capacity", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kept", action="store_true", help="calculate from the stored figures without measuring")
    parser.add_argument("--orders", type=one_or_more, default=200)
    parser.add_argument("--payouts", type=one_or_more, default=40)
    parser.add_argument("--reads", type=one_or_more, default=2_000)
    parser.add_argument("--idle-seconds", type=float, default=30.0)
    parser.add_argument("--orders-a-day", type=float, help="print the calculation for this many orders only")
    options = parser.parse_args()
    if not options.kept and not options.orders_a_day:
        effort = Effort(options.orders, options.payouts, options.reads, options.idle_seconds)
        try:
            measured = asyncio.run(measure(effort, _log))
        except _STOPPED as error:
            sys.stderr.write(f"{error or type(error).__name__}\n")
            return 1
        KEPT.write_text(measured.written())
    assumed = Assumed(orders_a_day=options.orders_a_day) if options.orders_a_day else Assumed()
    for name, text in page.sections(kept(), assumed).items():
        print(f"\n== {name}\n\n{text}")
    if not options.orders_a_day:
        page.write(kept())
        print(f"\nWritten to {page.PAGE.name} and {KEPT.name}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
