"""The effects of processes: numbered, at some of which a process is killed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple, Protocol

from lab.stepped.reached import REACHED

Kind = Literal["statement", "commit", "publish", "acknowledgement", "call"]
KINDS: tuple[Kind, ...] = ("statement", "commit", "publish", "acknowledgement", "call")
Side = Literal["before", "after"]
SIDES: tuple[Side, ...] = ("before", "after")


class ProcessKilled(BaseException):
    """The process is dead: no code of it runs on. Not an `Exception`, so that no handler of the product catches it."""


class ObservedProcess(Protocol):
    """A process that can be killed."""

    name: str
    is_dead: bool
    connections: list[Any]

    @property
    def effects(self) -> "EffectLog":
        """Where its effects are numbered."""

    def die(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect: the process, its kind, and a text that is the same in each run."""

    process: str
    kind: Kind
    label: str


@dataclass(frozen=True, slots=True)
class Crash:
    """The process of the effect with this number, counted from 0, dies on this side of it, and `also` dies with it."""

    number: int
    side: Side
    also: str = ""


class Session(NamedTuple):
    """The database connection of an effect, 0 without one, and whether a transaction was open before the effect."""

    connection: int
    is_open: bool


NO_SESSION: Final = Session(0, False)

# The process whose code runs: inherited by each task that the code starts.
CURRENT: ContextVar[ObservedProcess | None] = ContextVar("process of a crash run", default=None)


@dataclass(slots=True)
class EffectLog:
    """Numbers the effects while it is recording, and kills at the planned ones."""

    processes: Mapping[str, ObservedProcess] = field(default_factory=dict)
    # Since the start, or since the last crash.
    seen: list[Effect] = field(default_factory=list)
    # Of each effect in `seen`.
    sessions: list[Session] = field(default_factory=list)
    # Those at which a process died.
    fired: list[Effect] = field(default_factory=list)
    is_recording: bool = False
    # By process and kind: what happens before the next such effect.
    meanwhile: dict[tuple[str, Kind], Callable[[], None]] = field(default_factory=dict)
    _kinds: Collection[Kind] = KINDS
    _counted_process: str = ""
    _planned: list[Crash] = field(default_factory=list)
    _numbered: list[Effect] = field(default_factory=list)
    _first: int = 0

    def start(self, *crashes: Crash, kinds: Collection[Kind] = KINDS, process: str = "") -> None:
        """Count the effects of these kinds from 0, and from 0 again after each crash, from which the next one
        counts. `process`: count those of this one only.
        """
        self._kinds, self._planned, self._counted_process = kinds, list(crashes), process
        self.fired, self._numbered, self.is_recording = [], [], True
        self._count_again()

    def stop(self) -> None:
        """Later effects have no number."""
        self.is_recording = False

    async def turn(self, process: str, kind: Kind, label: str) -> None:
        """Return when the process may have this effect: at once, unless two actions take turns (`lab.races`)."""

    def before(self, process: ObservedProcess, kind: Kind, label: str, session: Session = NO_SESSION) -> int | None:
        """Return the number of the effect that follows. Raises ProcessKilled."""
        if process.is_dead:
            raise ProcessKilled
        if happens := self.meanwhile.pop((process.name, kind), None):
            happens()
        if not self.is_recording:
            return None
        effect = Effect(process.name, kind, label)
        self.seen.append(effect)
        self.sessions.append(session)
        if kind not in self._kinds or self._counted_process not in ("", process.name):
            return None
        self._numbered.append(effect)
        number = len(self._numbered) - 1
        self._kill_at(process, number, "before")
        return number

    def after(self, process: ObservedProcess, number: int | None) -> None:
        """Crash where it is due; called when the effect is complete. Raises ProcessKilled."""
        if process.is_dead:
            raise ProcessKilled
        if number is not None:
            self._kill_at(process, number, "after")

    def _kill_at(self, process: ObservedProcess, number: int, side: Side) -> None:
        if not self._planned or (number - self._first, side) != (self._planned[0].number, self._planned[0].side):
            return
        crash = self._planned.pop(0)
        self.fired.append(self._numbered[number])
        REACHED.add(f"death: {process.name} at a {self._numbered[number].kind}")
        self._count_again()
        if crash.also:
            self.processes[crash.also].die()
        process.die()
        raise ProcessKilled

    def _count_again(self) -> None:
        self.seen, self.sessions, self._first = [], [], len(self._numbered)


def crashes_of(effects: Sequence[Effect]) -> list[Crash]:
    """Before and after each effect."""
    return [Crash(number, side) for number in range(len(effects)) for side in SIDES]


def distinct_crashes_of(log: EffectLog) -> list[Crash]:
    """Keep only the last crash inside one transaction, before its commit: PostgreSQL rolls all of them back.

    Effects that follow each other on one connection, while its transaction is open, have no other effect between them.
    """
    sessions = log.sessions
    same: set[Crash] = set()
    for number, (former, latter) in enumerate(pairwise(sessions)):
        if latter.is_open and former.connection == latter.connection:
            same.add(Crash(number, "after"))
            if former.is_open:
                same.add(Crash(number, "before"))
    return [crash for crash in crashes_of(log.seen) if crash not in same]
