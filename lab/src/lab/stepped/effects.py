"""The effects of processes: numbered, at one of which its process is killed."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple, Protocol

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
    """The process of the point with this number, counted from 0, dies on this side of it."""

    number: int
    side: Side


class Session(NamedTuple):
    """The database connection of an effect, 0 without one, and whether a transaction was open before the effect."""

    connection: int
    is_open: bool


NO_SESSION: Final = Session(0, False)

# The process whose code runs: inherited by each task that the code starts.
CURRENT: ContextVar[ObservedProcess | None] = ContextVar("process of a crash run", default=None)


@dataclass(slots=True)
class EffectLog:
    """Numbers the effects while it is recording, and kills at the armed one."""

    seen: list[Effect] = field(default_factory=list)
    # Of each effect in `seen`.
    sessions: list[Session] = field(default_factory=list)
    is_recording: bool = False
    crash: Crash | None = None
    is_fired: bool = False

    def start(self, crash: Crash | None) -> None:
        """Count from 0. Without a crash the run is a recording only."""
        self.seen, self.sessions, self.crash, self.is_recording, self.is_fired = [], [], crash, True, False

    def stop(self) -> None:
        """Later effects have no number."""
        self.is_recording = False

    async def turn(self, process: str, kind: Kind, label: str) -> None:
        """Return when the process may have this effect: at once, unless two actions take turns (`lab.races`)."""

    def before(self, process: ObservedProcess, kind: Kind, label: str, session: Session = NO_SESSION) -> int | None:
        """Return the number of the effect that follows. Raises ProcessKilled."""
        if process.is_dead:
            raise ProcessKilled
        if not self.is_recording or self.is_fired:
            return None
        number = len(self.seen)
        self.seen.append(Effect(process.name, kind, label))
        self.sessions.append(session)
        self._kill_at(process, number, "before")
        return number

    def after(self, process: ObservedProcess, number: int | None) -> None:
        """Crash where it is due; called when the effect is complete. Raises ProcessKilled."""
        if process.is_dead:
            raise ProcessKilled
        if number is not None:
            self._kill_at(process, number, "after")

    def _kill_at(self, process: ObservedProcess, number: int, side: Side) -> None:
        if self.crash == Crash(number, side):
            self.is_fired = True
            process.die()
            raise ProcessKilled


def crashes_of(log: EffectLog) -> list[Crash]:
    """Before and after each effect of a recording."""
    return [Crash(number, side) for number in range(len(log.seen)) for side in SIDES]


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
    return [crash for crash in crashes_of(log) if crash not in same]
