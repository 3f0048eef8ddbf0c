"""A circuit breaker: calls to a counterpart that keeps failing are suspended, then probed once.

| State | Who may call |
|---|---|
| closed | every caller; `failures_max` failures within `window` open it |
| open | no caller, until `rest` has passed |
| half open | one, the probe: its success closes the circuit, its failure opens it again |

A fault that every call would have opens it at once (`suspend`), and so does a counterpart that names a time (`pause`).

The state belongs to one process and follows the injected clock.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from common.primitives.clock import Clock

# Circuits held at once, because their names come from clients; the least recently used is evicted first.
CIRCUITS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class CircuitLimits:
    """The number of failures within `window` that open a circuit, and the time that it stays open."""

    failures_max: int = 5
    window: timedelta = timedelta(seconds=60)
    rest: timedelta = timedelta(seconds=30)


class Circuit:
    """The circuit of one counterpart. Every admitted call ends with `succeeded` or `failed`."""

    def __init__(self, clock: Clock, limits: CircuitLimits) -> None:
        self._clock, self._limits = clock, limits
        self._failures: deque[datetime] = deque(maxlen=limits.failures_max)
        self._closed_to: datetime | None = None
        self._is_reported = self._is_suspended = False

    def admit(self) -> datetime | None:
        """Return None when the call may start, else the instant of the next probe.

        The first caller after the rest is the probe. A probe without a result is followed by another one after one more
        rest.
        """
        now = self._clock.now()
        if self._closed_to is None:
            return None
        if now < self._closed_to:
            return self._closed_to
        self._closed_to = now + self._limits.rest
        return None

    @property
    def is_paused(self) -> bool:
        """Return whether `admit` would reject a call. Reading it starts no probe."""
        return self._closed_to is not None and self._clock.now() < self._closed_to

    def succeeded(self) -> bool:
        """Record a success: closes the circuit and clears its failures. Returns True when it was open."""
        was_open = self._closed_to is not None
        self._failures.clear()
        self._closed_to = None
        self._is_reported = self._is_suspended = False
        return was_open

    def failed(self) -> bool:
        """Record a failure. Returns True when it opened a closed circuit, or is the first one after a pause."""
        now = self._clock.now()
        if self._closed_to is None:
            self._failures.append(now)
            is_full = len(self._failures) == self._limits.failures_max
            if not is_full or now - self._failures[0] > self._limits.window:
                return False
        self._failures.clear()
        return self._open(now + self._limits.rest)

    def suspend(self) -> bool:
        """Open the circuit for a fault that every call has, such as a rejected key. Returns True for the first one."""
        is_first, self._is_suspended = not self._is_suspended, True
        self._open(self._clock.now() + self._limits.rest)
        return is_first

    def pause(self, duration: timedelta) -> None:
        """Open the circuit for a time that the counterpart named. Only a failure after it is reported."""
        self._closed_to = max(self._closed_to or self._clock.now(), self._clock.now() + duration)

    def _open(self, until: datetime) -> bool:
        """Return True when the open circuit had not been reported."""
        is_first, self._is_reported = not self._is_reported, True
        self._closed_to = until
        return is_first


class Circuits:
    """The circuits of a process, by the name of the counterpart."""

    def __init__(self, clock: Clock, limits: CircuitLimits | None = None) -> None:
        self._clock, self._limits = clock, limits or CircuitLimits()
        self._circuits: OrderedDict[str, Circuit] = OrderedDict()

    def of(self, name: str) -> Circuit:
        """Return the circuit of that name, created at the first call."""
        circuit = self._circuits.pop(name, None) or Circuit(self._clock, self._limits)
        self._circuits[name] = circuit
        if len(self._circuits) > CIRCUITS_MAX:
            self._circuits.popitem(last=False)
        return circuit
