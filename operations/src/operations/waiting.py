"""Waiting for what another process does: one rule for journeys, programs of the lab and tests."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

Seen = TypeVar("Seen")

# No objective: it only ends a wait that would last for ever.
WAIT_SECONDS_MAX: Final = 60.0


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

    A probe may be async or not; an `AssertionError` of it means "not yet" and is part of the description.

    Raises:
        NeverHappened: with the last result of the probe.
    """
    deadline = time.monotonic() + within
    while True:
        try:
            result = probe()
            seen = await result if inspect.isawaitable(result) else result
            if seen:
                return seen
            last = repr(seen)
        except AssertionError as error:
            last = f"AssertionError: {error}"
        if time.monotonic() > deadline:
            what = what or getattr(probe, "__qualname__", repr(probe)).replace("<locals>.", "")
            raise NeverHappened(f"{what}: not within {within:g} s; last seen: {last}")
        await asyncio.sleep(every)
