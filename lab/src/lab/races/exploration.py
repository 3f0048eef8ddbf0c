"""The races of a combination of actions: its schedules, and the verdict on each."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final

from lab.races.actions import Action, Combination, End
from lab.races.marketplace import RacingMarketplace
from lab.stepped.actions import Facts
from lab.stepped.effects import Effect
from lab.stepped.errors import line_of_error
from lab.stepped.scheduler import Actor, Interleaving, Schedule, schedules, sequential, text_of

# Schedules with changes between transactions only that are tried before an end counts as not explained.
_EXPLANATIONS_MAX: Final = 40
# Among so many of them, the nearest ones are tried.
_CANDIDATES_MAX: Final = 20_000
# Behind each last effect.
_END: Final = 10_000


@dataclass(slots=True)
class Race:
    """One run of a schedule: its order or payout, and the responses."""

    schedule: Schedule
    given: Facts
    responses: dict[Actor, str] = field(default_factory=dict)
    interleaving: Interleaving | None = None
    end: End | None = None
    fault: str = ""

    @property
    def outcome(self) -> str:
        end = "" if self.end is None else self.end.text
        return f"{' and '.join(self.responses.get(actor, '') for actor in _actors_of(self.schedule))}: {end}"


@dataclass(slots=True)
class Explored:
    """The races of a pair. `broken`: a line for each one whose end is wrong."""

    pair: Combination
    races: int = 0
    blocked: int = 0
    stalled: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def line(self) -> str:
        return (
            f"{self.pair.name}: {self.races} schedules, {self.blocked} with a wait for a lock, {len(self.ends)} ends, "
            f"{len(self.broken)} broken, {self.seconds:.0f} s"
        )


async def explore(market: RacingMarketplace, pair: Combination, count: int, seed: int) -> Explored:
    """Run `count` schedules of a pair, or all if there are fewer."""
    explored, started = Explored(pair), time.monotonic()
    one_by_one = []
    for batch in _batches(sequential(pair.actors), pair.situation.batch):
        one_by_one += await _run_batch(market, explored, batch)
    effects: dict[Actor, int] = {
        actor: max((len(_effects(race, actor)) for race in one_by_one), default=0) for actor in pair.actors
    }
    borders = {actor: _borders(one_by_one, actor) for actor in pair.actors}
    explained = {race.outcome for race in one_by_one}
    chosen = islice(schedules(effects, borders, seed), max(0, count - len(one_by_one)))
    strange: dict[str, list[Race]] = {}
    for batch in _batches(chosen, pair.situation.batch):
        for race in await _run_batch(market, explored, batch):
            if race.fault:
                continue
            if _is_between_transactions(race, borders):
                explained.add(race.outcome)
            strange.setdefault(race.outcome, []).append(race)
    # A search for explanations takes long, and broken races are to be mended first.
    for outcome, races in [] if explored.broken else strange.items():
        if outcome not in explained and not await _is_explained(market, explored, races[0], borders):
            explored.broken.append(f"{_line_of(races[0])}: no order of transactions explains {outcome}")
    explored.seconds = time.monotonic() - started
    return explored


async def run_schedule(market: RacingMarketplace, pair: Combination, schedule: Schedule) -> tuple[Explored, Race]:
    """Run one schedule again, such as one that a run has reported."""
    explored = Explored(pair)
    [race] = await _run_batch(market, explored, [schedule])
    return explored, race


async def _run_batch(market: RacingMarketplace, explored: Explored, batch: Sequence[Schedule]) -> list[Race]:
    """Run each schedule on an order or payout of its own. Preparation, passage of time and audit happen once."""
    pair = explored.pair
    prepared = await market.run_concurrently([partial(pair.situation.prepare, market)] * len(batch))
    races = [await _run(market, pair, schedule, given) for schedule, given in zip(batch, prepared, strict=True)]
    started = [race for race in races if race.interleaving is not None]
    try:
        await pair.situation.settle(market, [race.given for race in started])
    except Exception as error:
        explored.broken.append(f"{pair.name}: {line_of_error(error)}")
    await market.run_concurrently([partial(_verdict_of, market, pair, race) for race in started])
    for finding in sorted(await market.new_findings()):
        explored.broken.append(f"{pair.name}: {[text_of(race.schedule) for race in races]}: {finding}")
    for race in races:
        explored.races += 1
        explored.ends[race.fault or race.outcome] += 1
        if race.interleaving is not None:
            explored.blocked += bool(race.interleaving.blocked)
            explored.stalled += bool(race.interleaving.stalled)
        if race.fault:
            explored.broken.append(f"{pair.name}: {_line_of(race)}: {race.fault}")
    return races


async def _run(market: RacingMarketplace, pair: Combination, schedule: Schedule, given: Facts) -> Race:
    race = Race(schedule, given)
    await pair.situation.start(market, given)
    prepared = {action.name: action for action in pair.actors.values()}
    for action in prepared.values():
        await action.prepare(market, race.given)

    async def act(actor: Actor, action: Action) -> None:
        race.responses[actor] = "999 ERROR"
        race.responses[actor] = await action.start(market, race.given)

    try:
        race.interleaving = await market.race(
            schedule, {actor: partial(act, actor, action) for actor, action in pair.actors.items()}
        )
    except Exception as error:
        race.fault = line_of_error(error)
    return race


async def _verdict_of(market: RacingMarketplace, pair: Combination, race: Race) -> None:
    forbidden = [
        race.responses[actor] for actor, action in pair.actors.items() if not action.allows(race.responses[actor])
    ]
    try:
        race.end = await pair.situation.read(market, race.given)
        pair.situation.check(race.end)
    except Exception as error:
        race.fault = line_of_error(error)
    if forbidden:
        race.fault = f"the responses {forbidden} are not allowed. {race.fault}"
    if race.fault:
        race.fault = f"{race.fault} {race.outcome}"


async def _is_explained(
    market: RacingMarketplace, explored: Explored, race: Race, borders: dict[Actor, list[int]]
) -> bool:
    """Return whether a schedule with changes between transactions only has the same outcome, the nearest ones first."""
    places = _stops(race.schedule)

    def distance(schedule: Schedule) -> int:
        moved = sum(abs(stop - places[actor]) for actor, stop in _stops(schedule).items())
        others = sum(one.actor != other.actor for one, other in zip(schedule, race.schedule, strict=False))
        return moved + _END * others

    no_effects = dict.fromkeys(borders, 0)
    tried = sorted(islice(schedules(no_effects, _with_ends(borders), 0), _CANDIDATES_MAX), key=distance)
    for batch in _batches(tried[:_EXPLANATIONS_MAX], explored.pair.situation.batch):
        if any(found.outcome == race.outcome for found in await _run_batch(market, explored, batch)):
            return True
    return False


def _with_ends(borders: dict[Actor, list[int]]) -> dict[Actor, list[int]]:
    """With a place behind each last effect, for a schedule with one change."""
    return {actor: [*places, _END] for actor, places in borders.items()}


def _is_between_transactions(race: Race, borders: dict[Actor, list[int]]) -> bool:
    return all(part.until is None or part.until in borders[part.actor] for part in race.schedule)


def _borders(races: Sequence[Race], actor: Actor) -> list[int]:
    """Return the numbers of effects at which no transaction of the actor is open."""
    places: set[int] = set()
    for race in races:
        effects = _effects(race, actor)
        places |= {
            number
            for number in range(1, len(effects))
            if effects[number - 1].kind != "statement" or effects[number - 1].process != effects[number].process
        }
    return sorted(places)


def _stops(schedule: Schedule) -> dict[Actor, int]:
    """Return the effect at which each actor stops first."""
    return {part.actor: part.until or _END for part in reversed(schedule)}


def _actors_of(schedule: Schedule) -> Sequence[Actor]:
    return sorted({part.actor for part in schedule})


def _effects(race: Race, actor: Actor) -> list[Effect]:
    return [] if race.interleaving is None else race.interleaving.effects[actor]


def _batches(chosen: Iterable[Schedule], size: int) -> Iterator[list[Schedule]]:
    left = iter(chosen)
    while batch := list(islice(left, size)):
        yield batch


def _line_of(race: Race) -> str:
    """Return the schedule, with the effects at which the turn passed."""
    if race.interleaving is None:
        return f"[{text_of(race.schedule)}]"
    places = []
    for part in race.schedule:
        effects = race.interleaving.effects[part.actor]
        if part.until is not None and part.until < len(effects):
            point = effects[part.until]
            places.append(f"{part.actor} before {point.process} {point.kind} {point.label}")
    return f"[{text_of(race.schedule)}] {'; '.join(places)}"
