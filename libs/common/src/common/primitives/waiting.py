"""Waits on another party's code: each has a limit of ours, and an end that is not ours is an error. Wake-ups of tasks
that wait for a commit of the same process.

A library may cancel what waits for it: aiormq ends its pending calls with `CancelledError` when a connection is lost.
In a loop of ours that would look like our own stop, and a `TaskGroup` ignores a task that ended so.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar
from uuid import UUID

ResultT = TypeVar("ResultT")


class NoResponse(ConnectionError):
    """The other side did not answer in time, or its library gave up."""


class LoopEnded(RuntimeError):
    """A loop that runs until the process stops ended before."""


async def bounded(call: Awaitable[ResultT], seconds_max: float | None) -> ResultT:
    """Return the result of a call of a library, after at most `seconds_max`; None for a call that may last.

    The call runs in a task of its own, so that its cancellation by the library is not taken for one of ours, and so
    that a call that ignores its cancellation does not hold its caller.

    Raises:
        NoResponse: there was no result in time, or the library cancelled the call.
    """
    task = asyncio.ensure_future(call)
    task.add_done_callback(_retrieve_exception)
    try:
        await asyncio.wait({task}, timeout=seconds_max)
        if not task.done():
            raise NoResponse(f"no answer within {seconds_max} s")
    finally:
        task.cancel()
    if task.cancelled():
        raise NoResponse("the library cancelled the call")
    return task.result()


async def never_ending(name: str, loop: Awaitable[None], on_end: Callable[[str], None] = lambda _: None) -> None:
    """Run a loop until it is cancelled. `on_end` receives its name when it ends before.

    Raises:
        LoopEnded: the loop returned, or was cancelled by a library.
    """
    try:
        await loop
    except asyncio.CancelledError:
        if is_cancelled_by_us():
            raise
        on_end(name)
        raise LoopEnded(f"the loop {name} was cancelled by a library") from None
    except BaseException:
        on_end(name)
        raise
    on_end(name)
    raise LoopEnded(f"the loop {name} returned")


class Wakeups:
    """The waits of this process by a key. Another process wakes none of them, so that each wait needs an end."""

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
        """Return whether a task waits for the key."""
        return key in self._events

    def wake(self, key: UUID) -> None:
        """Wake the tasks that wait for the key."""
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


def is_cancelled_by_us() -> bool:
    """Return whether the current task was cancelled; else its CancelledError comes from a library."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _retrieve_exception(task: "asyncio.Task[object]") -> None:
    """Asyncio would report the exception of an abandoned call as never retrieved."""
    if not task.cancelled():
        task.exception()
