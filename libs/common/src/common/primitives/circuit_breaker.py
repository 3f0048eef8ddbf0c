"""A circuit breaker: somebody who fails again and again is left alone for a while, then asked once.

| State | Who may call |
|---|---|
| closed | everybody; `failures_max` failures within `window` open it |
| open | nobody, until `rest` has passed |
| half open | one, the probe: its success closes the circuit, its failure opens it again |

It lives in one process and asks the injected clock; each process finds out for itself.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from common.primitives.clock import Clock

# Circuits that are remembered at once, where their names come from outside; the least used is forgotten first.
CIRCUITS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class CircuitLimits:
    """How many failures within which time open a circuit, and how long it rests then."""

    failures_max: int = 5
    window: timedelta = timedelta(seconds=60)
    rest: timedelta = timedelta(seconds=30)


class Circuit:
    """The circuit of one counterpart. Every admitted call ends with `succeeded` or `failed`."""

    def __init__(self, clock: Clock, limits: CircuitLimits) -> None:
        self._clock, self._limits = clock, limits
        self._failures: deque[datetime] = deque(maxlen=limits.failures_max)
        self._closed_to: datetime | None = None

    def admit(self) -> datetime | None:
        """None: call now. Otherwise the instant at which it is worth asking again.

        After the rest the first to ask is the probe; a probe that never tells its end is followed by another after one more rest.
        """
        now = self._clock.now()
        if self._closed_to is None:
            return None
        if now < self._closed_to:
            return self._closed_to
        self._closed_to = now + self._limits.rest
        return None

    def succeeded(self) -> None:
        """It answered: whatever was before is forgotten."""
        self._failures.clear()
        self._closed_to = None

    def failed(self) -> bool:
        """It did not answer; whether this opened the circuit that was closed until now."""
        now = self._clock.now()
        if self._closed_to is not None:
            self._closed_to = now + self._limits.rest
            return False
        self._failures.append(now)
        is_full = len(self._failures) == self._limits.failures_max
        if not is_full or now - self._failures[0] > self._limits.window:
            return False
        self._failures.clear()
        self._closed_to = now + self._limits.rest
        return True


class Circuits:
    """The circuits of a process, by the name of the counterpart."""

    def __init__(self, clock: Clock, limits: CircuitLimits | None = None) -> None:
        self._clock, self._limits = clock, limits or CircuitLimits()
        self._circuits: OrderedDict[str, Circuit] = OrderedDict()

    def of(self, name: str) -> Circuit:
        """The circuit of that name, made at the first call."""
        circuit = self._circuits.pop(name, None) or Circuit(self._clock, self._limits)
        self._circuits[name] = circuit
        if len(self._circuits) > CIRCUITS_MAX:
            self._circuits.popitem(last=False)
        return circuit
