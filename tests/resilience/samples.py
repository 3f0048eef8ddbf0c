"""`python -m tests.resilience.samples`: samples of races and of crash points on one marketplace, whose start takes
longer than either of them.
"""

import asyncio
import sys
from contextlib import nullcontext

from lab.crash_points import __main__ as crash_points
from lab.races import __main__ as races
from lab.races.marketplace import RacingMarketplace
from lab.systems import logger
from tests.resilience.lab_program import CRASHES, DEATHS, PAIRS, SCHEDULES


async def run() -> bool:
    """Return whether all promises held, and both programs found the faults of their self-checks."""
    of_races = races.parse(["--schedules", str(SCHEDULES), "--seed", "76", "--self-check"])
    chosen = ("--scenario", "payout", "--sample", str(CRASHES), "--seed", "69")
    of_crashes = crash_points.parse([*chosen, *(f"--deaths={number}" for number in DEATHS), "--self-check"])
    async with RacingMarketplace.opened(logger("samples")) as market:
        are_right = await races.run(races.chosen(PAIRS), of_races, lambda *_: nullcontext(market))
        return await crash_points.run(of_crashes, lambda *_: nullcontext(market)) and are_right


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(run()) else 1)
