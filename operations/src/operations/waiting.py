"""Waiting for what another process does: one rule for journeys, programs of the lab and tests."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

Seen = TypeVar("Seen")

# No objective: it only ends a wait that would last for ever.
WAIT_SECONDS_MAX: Final = 60.0
# Short beside what people and timers wait for.
PAUSE_SECONDS_MAX: Final = 0.25


class NeverHappened(TimeoutError):
    """The condition did not hold in time; the message has the last value."""


async def eventually(
    probe: Callable[[], Awaitable[Seen | None] | Seen | None],
    within: float = WAIT_SECONDS_MAX,
    *,
    every: float = 0.05,
    what: str = "",
) -> Seen:
    """Call `probe` until its result is true, and return it. `within` and `every` are seconds, `what` names the wait.

    The calls of a long wait take CPU from what it waits for: a pause grows from `every` to a quarter of the time so
    far, at most to five times `every` and `PAUSE_SECONDS_MAX`.

    A probe may be async or not; an `AssertionError` of it means "not yet" and is part of the description.

    Raises:
        NeverHappened: with the last result of the probe.
    """
    began = time.monotonic()
    while True:
        try:
            result = probe()
            seen = await result if inspect.isawaitable(result) else result
            if seen:
                return seen
            last = repr(seen)
        except AssertionError as error:
            last = f"AssertionError: {error}"
        waited = time.monotonic() - began
        if waited > within:
            what = what or getattr(probe, "__qualname__", repr(probe)).replace("<locals>.", "")
            raise NeverHappened(f"{what}: not within {within:g} s; last seen: {last}")
        await asyncio.sleep(max(every, min(waited / 4, 5 * every, PAUSE_SECONDS_MAX)))
