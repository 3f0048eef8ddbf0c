"""The open feed streams of one process (`deliveries.use_cases.feed`).

A stream holds only a position in its user's feed. Each wake-up reads a bounded number of rows after that position. A
slow client therefore costs no memory, and no notification is lost between connections.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import Clock
from common.primitives.problems import Unavailable
from common.process.loops import Loop, run_loop
from common.process.runtime import Runtime
from contracts.identity import SessionRevoked
from contracts.notifications import NotificationShown
from contracts.orders import MessagePosted
from notifications.deliveries.domain.errors import TooManyStreams
from notifications.deliveries.domain.feed import FeedItem
from notifications.deliveries.queries.feed import (
    list_feed_after,
    list_last_positions,
    notification_response,
)
from notifications.deliveries.responses.feed import PostedMessage
from notifications.deliveries.store.feed import save_streamed
from notifications.streams.event_streams import PING, SLOW_READER_SECONDS, event_bytes

log: Final = get_logger(__name__)

# Rows of one read: the most that a stream holds in memory.
ROWS_MAX: Final = 50
# Concurrent reads of all streams, which share the connections of the endpoints.
READERS_MAX: Final = 4
# Streams of one process; each costs some tens of kilobytes.
STREAMS_MAX: Final = 2_000
# New notifications of a user are published to all processes for so long after a stream was announced.
STREAMED_FOR: Final = timedelta(seconds=60)
# Messages of conversations that wait for a slow stream; a client reads older ones in the conversation.
MESSAGES_MAX: Final = 100
# Milliseconds until a client reconnects.
RECONNECT_MS: Final = 3_000


@dataclass(slots=True, eq=False)
class Stream:
    """One connection that follows a feed, after the notification `start_id`. `last_polled` is the position of the last
    wake-up by the poll.
    """

    caller: Caller
    start_id: UUID
    position: int
    last_polled: int = 0
    is_closed: bool = False
    wake_up: asyncio.Event = field(default_factory=asyncio.Event)
    messages: deque[MessagePosted] = field(default_factory=lambda: deque(maxlen=MESSAGES_MAX))


class FeedStreams:
    """The streams of this process by user. `is_revoked` checks a caller's session, as every request does."""

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
        # The time limit of a write to a client that reads nothing.
        self.slow_reader_seconds = SLOW_READER_SECONDS
        self._readers = asyncio.Semaphore(READERS_MAX)
        self._polling: asyncio.Task[None] | None = None
        self._is_stopped = False
        self._announce_at = clock.now()

    def subscribe(self, runtime: Runtime) -> None:
        """Subscribe to the broadcasts of all processes and to the stop of this one."""
        runtime.on_broadcast[NotificationShown] = lambda event: self.wake(event.user_id)
        runtime.on_broadcast[MessagePosted] = self.add_message
        runtime.on_broadcast[SessionRevoked] = lambda event: self.wake(event.user_id)
        runtime.on_stop.append(self.stop)

    def open(self, caller: Caller, start_id: UUID, position: int) -> Stream:
        """Open a stream after the notification `start_id` at `position`; the caller must remove it.

        Raises TooManyStreams, and Unavailable while the process stops.
        """
        streams = self._by_user.get(caller.id, set())
        if self._is_stopped or self._count >= STREAMS_MAX:
            raise Unavailable
        if len(streams) >= self._per_user_max:
            raise TooManyStreams(self._per_user_max)
        stream = Stream(caller, start_id, position)
        self._by_user.setdefault(caller.id, set()).add(stream)
        self._count += 1
        if self._polling is None:
            self._polling = asyncio.create_task(
                run_loop(Loop("refresh-feed-streams", self.poll_once, self._poll_seconds))
            )
        return stream

    def remove(self, stream: Stream) -> None:
        streams = self._by_user[stream.caller.id]
        streams.discard(stream)
        self._count -= 1
        if not streams:
            del self._by_user[stream.caller.id]

    def wake(self, user_id: UUID) -> None:
        """Wake the user's streams after a new notification or the end of a session."""
        for stream in self._by_user.get(user_id, ()):
            stream.wake_up.set()

    def add_message(self, event: MessagePosted) -> None:
        """Send the message to the streams of its reader. Streams that open later do not get it."""
        for stream in self._by_user.get(event.reader_id, ()):
            stream.messages.append(event)
        self.wake(event.reader_id)

    def stop(self) -> None:
        """Close every stream; clients reconnect to another process."""
        self._is_stopped = True
        for streams in self._by_user.values():
            for stream in streams:
                stream.is_closed = True
                stream.wake_up.set()

    async def close(self) -> None:
        """Stop the streams and the poll."""
        self.stop()
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.gather(self._polling, return_exceptions=True)

    async def poll_once(self) -> None:
        """Wake the streams that missed a broadcast, with one query for the whole process, and announce them in time."""
        if not self._by_user:
            return
        if self._clock.now() >= self._announce_at:
            self._announce_at = self._clock.now() + STREAMED_FOR / 3
            await self._announce(*self._by_user)
        async with self._database.unit_of_work(acting_as=THE_SERVICE) as uow:
            last_positions = await list_last_positions(uow, self._by_user.keys())
        for user_id, last in last_positions.items():
            for stream in self._by_user.get(user_id, ()):
                if last > max(stream.position, stream.last_polled):
                    stream.last_polled = last
                    stream.wake_up.set()

    async def events(self, stream: Stream) -> AsyncGenerator[bytes]:
        """Yield events until the token expires, the session is revoked or the process stops."""
        # With an id and without data: a client resumes after it, and no event is dispatched.
        yield f"retry: {RECONNECT_MS}\nid: {stream.start_id}\n\n".encode()
        is_announced = False
        while not self._is_over(stream):
            stream.wake_up.clear()
            try:
                if not is_announced:
                    await self._announce(stream.caller.id)
                    is_announced = True
                items = await self._read(stream)
            except Unavailable as error:
                # The client reconnects with its position; a stream of pings would hide the outage.
                log.warning("feed stream closed: database unavailable", error=repr(error))
                return
            for item in items:
                yield event_bytes("notification", notification_response(item), event_id=str(item.id))
                stream.position = item.position
            while stream.messages:
                yield event_bytes("message", _message_response(stream.messages.popleft()))
            if len(items) < ROWS_MAX and not await self._wait_for_wake_up(stream):
                yield PING

    async def _announce(self, *user_ids: UUID) -> None:
        """Have the new notifications of these users published: without a stream they would have no receiver."""
        async with self._database.unit_of_work(acting_as=THE_SERVICE, async_commit=True) as uow:
            await save_streamed(uow, user_ids, self._clock.now() + STREAMED_FOR)

    async def _read(self, stream: Stream) -> list[FeedItem]:
        async with self._readers, self._database.unit_of_work(acting_as=stream.caller) as uow:
            return await list_feed_after(uow, stream.caller.id, stream.position, ROWS_MAX)

    def _is_over(self, stream: Stream) -> bool:
        expires_at = stream.caller.expires_at
        is_expired = expires_at is not None and self._clock.now() >= expires_at
        return stream.is_closed or is_expired or self._is_revoked(stream.caller)

    async def _wait_for_wake_up(self, stream: Stream) -> bool:
        """Return False when a ping is due or the token has expired."""
        seconds = self._ping_seconds
        if stream.caller.expires_at is not None:
            remaining = (stream.caller.expires_at - self._clock.now()).total_seconds()
            seconds = min(seconds, max(remaining, 0.0))
        try:
            async with asyncio.timeout(seconds):
                await stream.wake_up.wait()
        except TimeoutError:
            return False
        return True


def _message_response(event: MessagePosted) -> PostedMessage:
    return PostedMessage(
        id=event.message_id, conversation_id=event.conversation_id, author=event.author, created_at=event.posted_at
    )
