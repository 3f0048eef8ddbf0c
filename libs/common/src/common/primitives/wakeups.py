"""Wake-ups between tasks of one process, by a key: who waits for another task's commit need not poll for it."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import UUID


class Wakeups:
    """The waits of this process. A wake-up of another process is not noticed, so that each wait needs an end."""

    def __init__(self) -> None:
        self._events: defaultdict[UUID, set[asyncio.Event]] = defaultdict(set)

    @contextmanager
    def waiting_for(self, key: UUID) -> Iterator[asyncio.Event]:
        """Yield an event that each `wake` of the key sets."""
        event = asyncio.Event()
        self._events[key].add(event)
        try:
            yield event
        finally:
            self._events[key].remove(event)
            if not self._events[key]:
                del self._events[key]

    def is_awaited(self, key: UUID) -> bool:
        """Return whether anybody waits for the key."""
        return key in self._events

    def wake(self, key: UUID) -> None:
        """Wake those who wait for the key, and no one where nobody does."""
        for event in self._events.get(key, ()):
            event.set()


async def is_woken_before(event: asyncio.Event, end_at: float) -> bool:
    """Wait for the event until the loop's time is `end_at`. Return whether it was set; it is cleared."""
    # Not `wait_for`: a wake-up at the moment of a cancellation would swallow it.
    with suppress(TimeoutError):
        async with asyncio.timeout_at(end_at):
            await event.wait()
            event.clear()
            return True
    return False
