"""Several actions at once, of which one runs at a time: a schedule says after how many effects another one
continues.
"""

import asyncio
import contextvars
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final

from common.observability.logging import REQUEST_ID
from common.primitives.ids import new_request_id
from lab.stepped.effects import Effect, EffectLog, Kind

Actor = str
"""One letter: the name of an actor in a schedule."""
ACTORS: Final[Sequence[Actor]] = ("a", "b", "c")

# The actor whose code runs: inherited by each task that it starts. Servers run in tasks of their own: see `Scheduler`.
ACTOR: ContextVar[Actor | None] = ContextVar("actor of an interleaving", default=None)

_EDGE: Final = "api-gateway"
# A transaction begins with its first statement, which BEGIN may contain, and no other statement reads the mark of a
# published row.
_WITHOUT_TURN: Final = ("ROLLBACK", "WITH marked AS (UPDATE outbox")
# So many random schedules in a row that were given before: there are no others.
_REPEATED_MAX: Final = 200
# How often a waiting actor is looked for in PostgreSQL.
_POLL_SECONDS: Final = 0.02
# An actor without an effect for so long waits inside a process, such as for a connection. The turn passes.
_STALLED_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Segment:
    """This actor runs until it has had so many effects; None: to its end."""

    actor: Actor
    until: int | None = None


Schedule = tuple[Segment, ...]


def schedule_of(first: Actor, until: int, then_until: int | None = None) -> Schedule:
    """Run the first of two actors to its effect `until`, the other to `then_until`, then both to their ends."""
    second: Actor = "b" if first == "a" else "a"
    return (Segment(first, until), Segment(second, then_until), Segment(first), Segment(second))


def text_of(schedule: Schedule) -> str:
    """Return the schedule in one line, as `--schedule` takes it."""
    return " ".join(f"{part.actor}{'' if part.until is None else part.until}" for part in schedule)


def parse_schedule(text: str) -> Schedule:
    """Return the inverse of `text_of`."""
    return tuple(Segment(part[0], int(part[1:]) if part[1:] else None) for part in text.split())


def sequential(actors: Iterable[Actor]) -> Sequence[Schedule]:
    """One after the other, in each order."""
    return [tuple(map(Segment, order)) for order in permutations(actors)]


def schedules(effects: Mapping[Actor, int], borders: Mapping[Actor, Sequence[int]], seed: int) -> Iterator[Schedule]:
    """All schedules of two actors, or random ones of more, each once."""
    seeded = random.Random(seed)
    return _of_two(effects, borders, seeded) if len(effects) == 2 else _of_more(effects, borders, seeded)


def _of_more(
    effects: Mapping[Actor, int], borders: Mapping[Actor, Sequence[int]], seeded: random.Random
) -> Iterator[Schedule]:
    """Each actor runs to a border of its transactions, or in half of the schedules to any effect; then each to its end.

    The last one of the first round does not stop in half of the schedules.
    """
    given: set[Schedule] = set()
    repeated = 0
    while repeated < _REPEATED_MAX:
        places = borders if seeded.random() < 0.5 else {actor: range(1, count) for actor, count in effects.items()}
        order = seeded.sample(sorted(effects), len(effects))
        stops = {actor: seeded.choice(places[actor]) if places[actor] else None for actor in order}
        if seeded.random() < 0.5:
            stops[order[-1]] = None
        rest = [actor for actor in seeded.sample(order, len(order)) if stops[actor] is not None]
        schedule = (*(Segment(actor, stops[actor]) for actor in order), *map(Segment, rest))
        repeated = repeated + 1 if schedule in given else 0
        if not repeated:
            given.add(schedule)
            yield schedule


def _of_two(
    effects: Mapping[Actor, int], borders: Mapping[Actor, Sequence[int]], seeded: random.Random
) -> Iterator[Schedule]:
    """All schedules with at most two changes before the first end, each once.

    First one change at each effect, both ways, from the first effects on; then two changes at the borders of
    transactions, and two changes anywhere, in a random order.
    """
    given: set[Schedule] = set()
    others: dict[Actor, Actor] = {"a": "b", "b": "a"}
    singles = sorted(
        (schedule_of(first, k) for first in effects for k in range(1, effects[first])),
        key=lambda schedule: schedule[0].until or 0,
    )
    at_borders = [
        schedule_of(first, k, j) for first in effects for k in borders[first] for j in borders[others[first]] if k and j
    ]
    anywhere = [
        schedule_of(first, k, j)
        for first in effects
        for k in range(1, effects[first])
        for j in range(1, effects[others[first]])
    ]
    for group in (at_borders, anywhere):
        seeded.shuffle(group)
    for group in (singles, at_borders, anywhere):
        for schedule in group:
            if schedule not in given:
                given.add(schedule)
                yield schedule


def _has_no_turn(label: str) -> bool:
    return label.startswith(_WITHOUT_TURN) or (label.startswith("BEGIN") and "INSERT" not in label)


@dataclass(slots=True)
class Scheduler(EffectLog):
    """Passes the turn between the actors of the interleaving that runs, at their effects.

    An effect belongs to the actor of its task, or to the one that sent the request which is served. The edge has no
    turns: it claims the idempotency keys of concurrent requests in one statement.
    """

    interleaving: "Interleaving | None" = None
    requests: dict[str, Actor] = field(default_factory=dict)

    def new_request_id(self) -> str:
        """Return an id for a request, which assigns the effects of its handling to the present actor."""
        request_id, actor = new_request_id(), ACTOR.get()
        if actor is not None:
            self.requests[request_id] = actor
        return request_id

    async def turn(self, process: str, kind: Kind, label: str) -> None:
        interleaving = self.interleaving
        if interleaving is None or process == _EDGE:
            return
        actor = ACTOR.get() or self.requests.get(REQUEST_ID.get())
        if actor is not None and not _has_no_turn(label):
            await interleaving.wait_for_turn(actor, Effect(process, kind, label))


class Interleaving:
    """One run of a schedule."""

    def __init__(self, schedule: Schedule, count_waiting: Callable[[], Awaitable[int]]) -> None:
        self.schedule = schedule
        self.effects: dict[Actor, list[Effect]] = {part.actor: [] for part in schedule}
        self.blocked = self.stalled = 0
        self._count_waiting = count_waiting
        self._index, self._ended = 0, set[Actor]()
        self._waiting = 0
        self._changed = asyncio.Event()

    @property
    def current(self) -> Actor | None:
        """Whose turn it is; None: all run."""
        return self.schedule[self._index].actor if self._index < len(self.schedule) else None

    async def wait_for_turn(self, actor: Actor, point: Effect) -> None:
        """Return when the actor may have its next effect."""
        while self.current is not None:
            if self.current != actor:
                await self._changed.wait()
                continue
            until = self.schedule[self._index].until
            if until is None or len(self.effects[actor]) < until:
                break
            self._pass()
        self.effects[actor].append(point)

    async def run(self, actions: Mapping[Actor, Callable[[], Awaitable[None]]]) -> None:
        """Run all actions to their ends. Raises the first error of an action."""
        loop = asyncio.get_running_loop()
        running = {self._start(actor, action): actor for actor, action in actions.items()}
        seen, seen_at, pending = -1, loop.time(), set(running)
        while pending:
            done, pending = await asyncio.wait(pending, timeout=_POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                self._ended.add(running[task])
            while self.current in self._ended:
                self._pass()
            count = sum(map(len, self.effects.values())) + len(self._ended)
            if count != seen:
                seen, seen_at = count, loop.time()
            elif self.current is not None and await self._is_blocked():
                self.blocked += 1
                self._pass()
            elif self.current is not None and loop.time() - seen_at > _STALLED_SECONDS:
                self.stalled += 1
                seen_at = loop.time()
                self._pass()
        for task in running:
            task.result()

    def _start(self, actor: Actor, action: Callable[[], Awaitable[None]]) -> "asyncio.Task[None]":
        async def run() -> None:
            await action()

        context = contextvars.copy_context()
        context.run(ACTOR.set, actor)
        return asyncio.get_running_loop().create_task(run(), context=context)

    def _pass(self) -> None:
        self._index += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _is_blocked(self) -> bool:
        """Return whether one more statement than before waits for a lock."""
        before, self._waiting = self._waiting, await self._count_waiting()
        return self._waiting > before
