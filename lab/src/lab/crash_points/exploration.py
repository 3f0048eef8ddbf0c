"""One run of a scenario for each crash, and its verdict."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lab.stepped.effects import Crash, Effect, crashes_of, distinct_crashes_of
from lab.stepped.marketplace import Marketplace, line_of_error
from lab.stepped.rabbitmq import SteppedBus
from lab.stepped.scenarios import SCENARIOS, Scenario

# Each time some minutes: longer than every lease, and than the delay of every first retry.
TIMES = 2
# A lease of the product that ends by the real clock moves the numbers of a run on a busy machine.
_TRIES = 3
_REPORTED_EVERY = 50


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


async def record(market: Marketplace, scenario: Scenario) -> Sequence[Effect]:
    """Run without a crash, and return the points. Raises AssertionError when the scenario itself fails."""
    known = await market.findings()
    given = await scenario.prepare(market)
    market.effects.start(None)
    end = await scenario.run(market, given)
    market.effects.stop()
    await market.time_passes(TIMES)
    await end()
    assert not (found := await market.findings() - known), found
    return list(market.effects.seen)


async def explore(
    market: Marketplace,
    name: str,
    scenario: Scenario,
    choose: Callable[[Sequence[Effect], list[Crash]], list[Crash]],
    *,
    distinct: bool = False,
) -> Exploration:
    """Run the scenario once for each chosen crash; `distinct`: among those that no other one in a transaction equals."""
    # The first run creates rows that later ones find.
    await record(market, scenario)
    exploration, began = Exploration(name, await record(market, scenario)), time.monotonic()
    crashes = choose(exploration.points, (distinct_crashes_of if distinct else crashes_of)(market.effects))
    market.log(f"{name}: {len(exploration.points)} points, {len(crashes)} crashes")
    known = await market.findings()
    for crash in crashes:
        exploration.runs += 1
        for _ in range(_TRIES):
            missed = await _run(market, scenario, exploration, crash, known)
            if not missed:
                break
        else:
            exploration.not_reached.append(missed)
            market.log(f"NOT REACHED {name} {missed}")
        if exploration.runs % _REPORTED_EVERY == 0:
            market.log(line_of(exploration))
    exploration.seconds = time.monotonic() - began
    return exploration


async def _run(market: Marketplace, scenario: Scenario, exploration: Exploration, crash: Crash, known: set[str]) -> str:
    """One run, whose findings are known after it. Returns the point when it was not reached, and otherwise nothing."""
    point = exploration.points[crash.number]
    where = f"{crash.number} {crash.side} {point.process} {point.kind} {point.label}"
    missed = ""
    try:
        given = await scenario.prepare(market)
        market.effects.start(crash)
        end = await scenario.run(market, given)
        market.effects.stop()
        if not market.effects.is_fired or market.effects.seen[crash.number] != point:
            missed = f"{where}; seen: {market.effects.seen[crash.number : crash.number + 1]}"
        await market.time_passes(TIMES)
        await end()
        found = await market.findings() - known
        if found:
            known |= found
            exploration.record_broken(market, f"{where}: {sorted(found)}")
    except Exception as error:
        exploration.record_broken(market, f"{where}: {line_of_error(error)}")
    finally:
        market.effects.stop()
        await market.revive()
    return missed


async def finds_lost_messages(market: Marketplace) -> bool:
    """Return whether a run finds that a worker's crash loses a message, when the broker forgets it at its delivery."""

    def before_the_credit(points: Sequence[Effect], crashes: list[Crash]) -> list[Crash]:
        is_commit = [point.process == "payouts-worker" and point.kind == "commit" for point in points]
        return [[crash for crash in crashes if crash.side == "before" and is_commit[crash.number]][-1]]

    SteppedBus.forgets_at_delivery = True
    try:
        found = await explore(market, "purchase, messages forgotten", SCENARIOS["purchase"], before_the_credit)
        return bool(found.broken)
    finally:
        SteppedBus.forgets_at_delivery = False


def line_of(exploration: Exploration) -> str:
    return (
        f"{exploration.scenario}: {len(exploration.points)} points, {exploration.runs} crashes, "
        f"{len(exploration.broken)} broken, {len(exploration.not_reached)} not reached, {exploration.seconds:.0f} s"
    )
