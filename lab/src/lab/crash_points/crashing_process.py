"""A real process that kills itself at a chosen effect, with SIGKILL."""

import os
import signal
from pathlib import Path
from typing import Any, Final

import aio_pika

import common.process.runtime
from lab.stepped.effects import CURRENT, NO_SESSION, EffectLog, Kind, Session
from lab.stepped.wrappers import ObservedBus, ObservedMessage, observe_connections

_FIRED: Final = ".fired"


class CrashingProcess:
    """This process, until its file in the folder names an effect that it reaches."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.is_dead = name, False
        self.connections: list[Any] = []
        self.plan = folder / name
        self.effects: EffectLog = PlannedEffects(self)

    def die(self) -> None:
        """Leave the file under another name as the proof, and end."""
        self.plan.rename(self.plan.with_name(self.name + _FIRED))
        os.kill(os.getpid(), signal.SIGKILL)


class PlannedEffects(EffectLog):
    """Counts down to the effect that the file names: `<kind> <number> <side>`."""

    def __init__(self, process: "CrashingProcess") -> None:
        super().__init__()
        self._process = process
        self._plan: tuple[str, int, str] | None = None
        self._met = 0

    def before(self, process: Any, kind: Kind, label: str, session: Session = NO_SESSION) -> int | None:
        self._read()
        if self._plan is None or self._plan[0] != kind:
            return None
        number, self._met = self._met, self._met + 1
        self._die_at(number, "before")
        return number

    def after(self, process: Any, number: int | None) -> None:
        if number is not None:
            self._die_at(number, "after")

    def _read(self) -> None:
        try:
            kind, number, side = self._process.plan.read_text().split()
        except (FileNotFoundError, ValueError):
            self._plan, self._met = None, 0
        else:
            self._plan = kind, int(number), side

    def _die_at(self, number: int, side: str) -> None:
        if self._plan is not None and self._plan[1:] == (number, side):
            self._process.die()


def observe_this_process(module: str, command: str, folder: str) -> None:
    """Observe this process; called before it starts."""
    service = module.replace("_", "-")
    process = CrashingProcess(service if service == "api-gateway" else f"{service}-{command}", Path(folder))
    CURRENT.set(process)
    observe_connections("http")
    common.process.runtime.Bus = ObservedBus  # type: ignore[attr-defined]
    aio_pika.IncomingMessage = ObservedMessage  # type: ignore[misc]
