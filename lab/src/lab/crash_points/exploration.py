"""One run of a scenario for each crash, or for each two, and its verdict."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Final, Literal

from lab.stepped.effects import KINDS, Crash, Effect, Kind, crashes_of, distinct_crashes_of
from lab.stepped.errors import line_of_error
from lab.stepped.marketplace import PROCESSES, Marketplace
from lab.stepped.rabbitmq import SteppedBus
from lab.stepped.scenarios import SCENARIOS, Scenario

# Each time some minutes: longer than every lease, and than the delay of every first retry.
TIMES = 2
# A lease of the product that ends by the real clock moves the numbers of a run on a busy machine.
_TRIES = 3
_REPORTED_EVERY = 50

Deaths = Literal["one", "two", "together"]
"""A process dies; then again one during the recovery; or two processes die at one effect."""
DEATHS: Final[tuple[Deaths, ...]] = ("one", "two", "together")

Planned = Sequence[tuple[Crash, Effect]]
"""The crashes of a run, each with the effect at which it happens."""


@dataclass(slots=True)
class Exploration:
    """Findings of the runs of one scenario. `broken`: a line for each crash after which a promise did not hold."""

    scenario: str
    points: Sequence[Effect]
    runs: int = 0
    broken: list[str] = field(default_factory=list)
    not_reached: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def kinds(self) -> Counter[str]:
        """The number of points of each kind."""
        return Counter(point.kind for point in self.points)

    def record_broken(self, market: Marketplace, text: str) -> None:
        self.broken.append(text)
        market.log(f"BROKEN {self.scenario} {text}")

    @property
    def holds(self) -> bool:
        return not self.broken and not self.not_reached


async def record(market: Marketplace, scenario: Scenario, *, with_minutes: bool = False) -> Sequence[Effect]:
    """Run without a crash, and return the points, `with_minutes` also those of the minutes after the scenario. Raises
    AssertionError when the scenario itself fails.
    """
    known = await market.findings()
    await _play(market, scenario, (), KINDS, with_minutes=with_minutes)
    assert not (found := await market.findings() - known), found
    return list(market.effects.seen)


async def _play(
    market: Marketplace, scenario: Scenario, crashes: Sequence[Crash], kinds: Collection[Kind], *, with_minutes: bool
) -> None:
    """Run the scenario with these crashes, and let minutes pass. Raises AssertionError at another end than promised."""
    given = await scenario.prepare(market)
    market.effects.start(*crashes, kinds=kinds)
    end = await scenario.run(market, given)
    if with_minutes:
        await market.time_passes(TIMES)
    market.effects.stop()
    await market.time_passes(TIMES)
    await end()


@dataclass(frozen=True, slots=True)
class CrashChoice:
    """The crashes of an exploration: the deaths of each, the kinds of effects, and the choice among all of them.

    `distinct`: only those that no other one in a transaction equals.
    """

    choose: Callable[[Sequence[Effect], list[Crash]], list[Crash]]
    distinct: bool = False
    deaths: Deaths = "one"
    kinds: Collection[Kind] = KINDS
    choose_second: Callable[[list[Crash]], list[Crash]] = list


async def explore(market: Marketplace, name: str, scenario: Scenario, choice: CrashChoice) -> Exploration:
    """Run the scenario once for each chosen crash, and with two deaths for each second one."""
    deaths, kinds = choice.deaths, choice.kinds
    # The first run creates rows that later ones find.
    await record(market, scenario)
    points = [point for point in await record(market, scenario) if point.kind in kinds]
    crashes = distinct_crashes_of(market.effects) if choice.distinct else crashes_of(points)
    if deaths == "together":
        crashes = [
            replace(crash, also=name) for crash in crashes for name in PROCESSES if name != points[crash.number].process
        ]
    crashes = choice.choose(points, crashes)
    usual = await record(market, scenario, with_minutes=True) if deaths == "two" else ()
    market.log(f"{name}: {len(points)} points, {len(crashes)} crashes")
    exploration, began = Exploration(name if deaths == "one" else f"{name}, deaths {deaths}", points), time.monotonic()
    runs = _Runs(market, scenario, exploration, await market.findings(), kinds, deaths == "two")
    for crash in crashes:
        first = (crash, points[crash.number])
        if await runs.explore([first]) and deaths == "two":
            recovery = [point for point in recovery_of(market.effects.seen, usual) if point.kind in kinds]
            for second in choice.choose_second(crashes_of(recovery)):
                await runs.explore([first, (second, recovery[second.number])])
        exploration.seconds = time.monotonic() - began
    return exploration


def recovery_of(seen: Sequence[Effect], usual: Sequence[Effect]) -> Sequence[Effect]:
    """Return the effects since a crash, up to the last one that a run without a crash does not have."""
    changes = SequenceMatcher(None, usual, seen, autojunk=False).get_opcodes()
    return seen[: max((end for tag, _, _, _, end in changes if tag in ("insert", "replace")), default=0)]


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs of one scenario. `known` are the findings so far: each is one of the run that found it."""

    market: Marketplace
    scenario: Scenario
    exploration: Exploration
    known: set[str]
    kinds: Collection[Kind]
    with_minutes: bool

    async def explore(self, planned: Planned) -> bool:
        """Run these crashes, again when they are not reached. Return whether they were and the promises held."""
        exploration, market = self.exploration, self.market
        exploration.runs += 1
        if exploration.runs % _REPORTED_EVERY == 0:
            market.log(line_of(exploration))
        broken = len(exploration.broken)
        for _ in range(_TRIES):
            missed = await self._run(planned)
            if not missed:
                return len(exploration.broken) == broken
        exploration.not_reached.append(missed)
        market.log(f"NOT REACHED {exploration.scenario} {missed}")
        return False

    async def _run(self, planned: Planned) -> str:
        """Run once; findings are known after it. Return the crashes when they were not reached."""
        market, exploration = self.market, self.exploration
        where = ", then ".join(_line_of(crash, point) for crash, point in planned)
        try:
            crashes = [crash for crash, _ in planned]
            await _play(market, self.scenario, crashes, self.kinds, with_minutes=self.with_minutes)
            found = await market.findings() - self.known
            if found:
                self.known.update(found)
                exploration.record_broken(market, f"{where}: {sorted(found)}")
        except Exception as error:
            exploration.record_broken(market, f"{where}: {line_of_error(error)}")
        finally:
            market.effects.stop()
            await market.revive()
        fired = market.effects.fired
        return "" if fired == [point for _, point in planned] else f"{where}; died at: {fired}"


def _line_of(crash: Crash, point: Effect) -> str:
    also = f" with {crash.also}" if crash.also else ""
    return f"{crash.number} {crash.side} {point.process} {point.kind} {point.label}{also}"


async def finds_lost_messages(market: Marketplace) -> bool:
    """Return whether a run finds that a worker's crash loses a message, when the broker forgets it at its delivery."""

    def before_the_credit(points: Sequence[Effect], crashes: list[Crash]) -> list[Crash]:
        is_commit = [point.process == "payouts-worker" and point.kind == "commit" for point in points]
        return [[crash for crash in crashes if crash.side == "before" and is_commit[crash.number]][-1]]

    SteppedBus.forgets_at_delivery = True
    try:
        found = await explore(
            market, "purchase, messages forgotten", SCENARIOS["purchase"], CrashChoice(before_the_credit)
        )
        return bool(found.broken)
    finally:
        SteppedBus.forgets_at_delivery = False


def line_of(exploration: Exploration) -> str:
    return (
        f"{exploration.scenario}: {len(exploration.points)} points, {exploration.runs} crashes, "
        f"{len(exploration.broken)} broken, {len(exploration.not_reached)} not reached, {exploration.seconds:.0f} s"
    )
