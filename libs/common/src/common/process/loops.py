"""Background loops: `run_once` at an interval until the process ends."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from common.database.errors import is_unavailable
from common.observability.logging import get_logger
from common.observability.outages import Outage
from common.primitives.retry import jittered
from common.primitives.waiting import is_cancelled_by_us

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Loop:
    """A background loop that calls `run_once` every `every_seconds`, until the process ends.

    While `run_once` finds nothing (0, False or None), each pause is twice as long as the one before, up to
    `idle_seconds`.
    """

    name: str
    run_once: Callable[[], Awaitable[object]]
    every_seconds: float
    idle_seconds: float = 0.0

    def pause_after(self, pause_seconds: float, found: object) -> float:
        """Return the pause after a round that found `found`, in seconds; `pause_seconds` was the pause before it."""
        if found in (None, 0):
            return max(self.every_seconds, min(2 * pause_seconds, self.idle_seconds))
        return self.every_seconds


async def run_loop(loop: Loop) -> None:
    """Call `run_once` until cancelled. A failed round is logged, and the next round follows after the usual pause."""
    failing = Outage(log, "loop failed", "loop recovered", loop=loop.name)
    pause_seconds = loop.every_seconds
    while True:
        try:
            pause_seconds = loop.pause_after(pause_seconds, await loop.run_once())
            failing.ended()
        except (Exception, asyncio.CancelledError) as error:
            if is_cancelled_by_us():
                raise
            # `Database` logs its own outage.
            if not is_unavailable(error):
                failing.failed(error, is_bug=True)
        await asyncio.sleep(jittered(pause_seconds))
