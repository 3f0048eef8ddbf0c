"""The open streams of a process: who follows their feed here, and what wakes them (README, Live updates).

A stream keeps nothing but a place in its user's feed. It reads what stands after that place whenever its bell rings, and each
reading is bounded; so a slow reader costs no memory, and what was said before a stream came, or while nobody listened, is found.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.primitives.problems import Unavailable
from common.process.service import Loop, Runtime, run_loop
from common.web.event_streams import PING, SLOW_READER_SECONDS, event_bytes
from contracts.identity import SessionRevoked
from contracts.notifications import NotificationShown
from notifications import queries
from notifications.domain.errors import TooManyStreams

log = get_logger(__name__)

# Rows of one reading: what a stream holds in memory at most.
ROWS_MAX: Final = 50
# Streams that read at the same time: the doors of the service share these connections.
READERS_MAX: Final = 4
# Of one process; each costs some tens of kilobytes.
STREAMS_MAX: Final = 2_000
# A browser comes back after so many milliseconds.
RECONNECT: Final = b"retry: 3000\n\n"


@dataclass(slots=True, eq=False)
class Stream:
    """One person who follows their feed by one connection. `heard` is the last place that the poll told of."""

    caller: Caller
    place: int
    heard: int = 0
    is_over: bool = False
    bell: asyncio.Event = field(default_factory=asyncio.Event)


class FeedStreams:
    """The streams of this process, by user. `is_revoked` judges a caller's session as every request's."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        is_revoked: Callable[[Caller], bool],
        *,
        per_user_max: int,
        ping_seconds: float,
        poll_seconds: float,
    ) -> None:
        self._database, self._clock, self._is_revoked = database, clock, is_revoked
        self._per_user_max, self._ping_seconds, self._poll_seconds = per_user_max, ping_seconds, poll_seconds
        self._by_user: dict[UUID, set[Stream]] = {}
        self._count = 0
        # How long a reader whose connection takes nothing is waited for.
        self.slow_reader_seconds = SLOW_READER_SECONDS
        self._reading = asyncio.Semaphore(READERS_MAX)
        self._polling: asyncio.Task[None] | None = None
        self._is_closed = False

    def hear(self, runtime: Runtime) -> None:
        """Listens to what every process of the service says, and to the signal to end."""
        runtime.on_broadcast[NotificationShown] = lambda event: self.wake(event.user_id)
        runtime.on_broadcast[SessionRevoked] = lambda event: self.wake(event.user_id)
        runtime.on_stop.append(self.end)

    def open(self, caller: Caller, place: int) -> Stream:
        """A stream from after `place`; whoever opens it leaves it. Raises TooManyStreams, and Unavailable at the end of the process."""
        streams = self._by_user.get(caller.id, set())
        if self._is_closed or self._count >= STREAMS_MAX:
            raise Unavailable
        if len(streams) >= self._per_user_max:
            raise TooManyStreams(self._per_user_max)
        stream = Stream(caller, place)
        self._by_user.setdefault(caller.id, set()).add(stream)
        self._count += 1
        if self._polling is None:
            self._polling = asyncio.create_task(
                run_loop(Loop("feed streams catch up", self.catch_up_once, self._poll_seconds))
            )
        return stream

    def leave(self, stream: Stream) -> None:
        """The stream is over."""
        streams = self._by_user[stream.caller.id]
        streams.discard(stream)
        self._count -= 1
        if not streams:
            del self._by_user[stream.caller.id]

    def wake(self, user_id: UUID) -> None:
        """Something happened to the user: a new line of the feed, or the end of a session."""
        for stream in self._by_user.get(user_id, ()):
            stream.bell.set()

    def end(self) -> None:
        """The process stops: every stream ends now, and its client comes back to another one."""
        self._is_closed = True
        for streams in self._by_user.values():
            for stream in streams:
                stream.is_over = True
                stream.bell.set()

    async def close(self) -> None:
        """Ends what runs beside the streams."""
        self.end()
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.gather(self._polling, return_exceptions=True)

    async def catch_up_once(self) -> None:
        """Wakes whom no word reached: the net under the broadcasts, one query for all streams of the process."""
        if not self._by_user:
            return
        async with self._database.unit_of_work(acting_as=THE_SERVICE) as uow:
            last_places = await queries.list_last_places(uow, self._by_user.keys())
        for user_id, last in last_places.items():
            for stream in self._by_user.get(user_id, ()):
                if last > max(stream.place, stream.heard):
                    stream.heard = last
                    stream.bell.set()

    async def events(self, stream: Stream) -> AsyncGenerator[bytes]:
        """What the stream tells, until its token ends, its session is revoked, or the process stops."""
        yield RECONNECT
        while not self._is_over(stream):
            stream.bell.clear()
            try:
                rows = await self._read(stream)
            except Unavailable as error:
                # The client comes back with its place; a stream that only pings would hide that nothing arrives.
                log.warning("feed stream ends without its database", error=repr(error))
                return
            for row in rows:
                yield event_bytes("notification", queries.feed_shape(row), event_id=str(row["id"]))
                stream.place = row["place"]
            if len(rows) < ROWS_MAX and not await self._rung(stream):
                yield PING

    async def _read(self, stream: Stream) -> list[Any]:
        async with self._reading, self._database.unit_of_work(acting_as=stream.caller) as uow:
            return await queries.list_feed_after(uow, stream.caller.id, stream.place, ROWS_MAX)

    def _is_over(self, stream: Stream) -> bool:
        ends_at: datetime | None = stream.caller.expires_at
        is_expired = ends_at is not None and self._clock.now() >= ends_at
        return stream.is_over or is_expired or self._is_revoked(stream.caller)

    async def _rung(self, stream: Stream) -> bool:
        """Whether the bell rang before it was time for a ping, or for the end of the token."""
        seconds = self._ping_seconds
        if stream.caller.expires_at is not None:
            left = (stream.caller.expires_at - self._clock.now()).total_seconds()
            seconds = min(seconds, max(left, 0.0))
        try:
            async with asyncio.timeout(seconds):
                await stream.bell.wait()
        except TimeoutError:
            return False
        return True
