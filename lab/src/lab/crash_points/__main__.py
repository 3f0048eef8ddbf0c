"""`make crash-points`: kill one process, or two, at every point of each scenario, and check the end and the audit."""

import argparse
import asyncio
import random
import sys
from collections.abc import Sequence
from functools import partial

from lab.crash_points.exploration import (
    DEATHS,
    CrashChoice,
    Deaths,
    Exploration,
    explore,
    finds_lost_messages,
    line_of,
    record,
)
from lab.stepped.effects import KINDS, Crash, Effect
from lab.stepped.marketplace import Marketplace, Opened
from lab.stepped.scenarios import MONEY, SCENARIOS
from lab.systems import logger


def main() -> None:
    """Exit with status 1 when a promise did not hold, or a point was not reached."""
    sys.exit(0 if asyncio.run(run(parse())) else 1)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of these arguments, by default those of the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="default: all")
    parser.add_argument("--sample", type=int, default=0, help="so many crashes of each scenario, instead of all")
    parser.add_argument("--seed", type=int, default=0, help="chooses the sample")
    parser.add_argument(
        "--distinct", action="store_true", help="of the crashes inside one transaction only that before its commit"
    )
    parser.add_argument(
        "--deaths",
        action="append",
        choices=DEATHS,
        help="two: at each commit, and again at each commit of the recovery; together: at each commit, with each other "
        "process; default: one",
    )
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first point")
    parser.add_argument("--point", action="append", type=int, help="only this point, as `--list` numbers it")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only these effects; default: all, or commits")
    parser.add_argument("--list", action="store_true", help="print the points, and crash at none")
    parser.add_argument(
        "--self-check", action="store_true", help="and, with a broker that forgets messages, find that a promise breaks"
    )
    return parser.parse_args(arguments)


async def run(options: argparse.Namespace, opened: Opened[Marketplace] = Marketplace.opened) -> bool:
    """Explore the chosen scenarios, print a line for each, and return whether all promises held."""
    log = logger("crash-points")
    explorations: list[Exploration] = []
    finds_faults = True
    deaths: Sequence[Deaths] = options.deaths or ["one"]
    names = options.scenario or (SCENARIOS if "one" in deaths else MONEY)
    for further in dict.fromkeys(SCENARIOS[name].further for name in names):
        async with opened(log, further) as market:
            for name in names:
                if SCENARIOS[name].further == further:
                    explorations += [await explore_one(market, name, one, options) for one in deaths]
            if options.self_check:
                finds_faults &= await finds_lost_messages(market)
    print_table(explorations)
    if not finds_faults:
        print("SELF-CHECK FAILED: a broker that forgets messages broke no promise")
    return finds_faults and all(exploration.holds for exploration in explorations)


async def explore_one(market: Marketplace, name: str, deaths: Deaths, options: argparse.Namespace) -> Exploration:
    """Explore a scenario, or only print its points."""
    scenario = SCENARIOS[name]
    if options.list:
        await record(market, scenario)
        points = await record(market, scenario)
        for number, point in enumerate(points):
            print(f"{number:4} {point.process:16} {point.kind:16} {point.label}")
        return Exploration(name, points)
    choice = CrashChoice(
        partial(chosen, options),
        distinct=options.distinct and deaths == "one",
        deaths=deaths,
        kinds=KINDS if deaths == "one" else options.kind or ("commit",),
        choose_second=partial(chosen_second, random.Random(options.seed), options.sample),
    )
    exploration = await explore(market, name, scenario, choice)
    market.log(line_of(exploration))
    return exploration


def chosen(options: argparse.Namespace, points: Sequence[Effect], crashes: list[Crash]) -> list[Crash]:
    """All crashes, those from a point on, those at some points or kinds of effects, or a sample."""
    kinds, numbers = options.kind or KINDS, options.point or range(options.first, len(points))
    crashes = [crash for crash in crashes if crash.number in numbers and points[crash.number].kind in kinds]
    return random.Random(options.seed).sample(crashes, min(options.sample, len(crashes))) if options.sample else crashes


def chosen_second(seeded: random.Random, sample: int, crashes: list[Crash]) -> list[Crash]:
    """All crashes in a recovery; in a sample one of them."""
    return [seeded.choice(crashes)] if sample and crashes else crashes


def print_table(explorations: Sequence[Exploration]) -> None:
    """Print a line for each scenario, and each crash that broke a promise."""
    for exploration in explorations:
        print(line_of(exploration))
        print(f"  {dict(sorted(exploration.kinds.items()))}")
        for text in exploration.broken:
            print(f"  BROKEN {text}")
        for text in exploration.not_reached:
            print(f"  NOT REACHED {text}")


if __name__ == "__main__":
    main()
