"""Wrappers around the connections of a process, installed from outside: PostgreSQL, RabbitMQ, and HTTP to providers.

They do nothing for code that runs in no process of a crash run.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final, TypeVar

import aio_pika
import asyncpg
import httpx

from common.messaging.bus import Bus, Outgoing
from lab.stepped.effects import CURRENT, NO_SESSION, Kind, ProcessKilled, Session

Result = TypeVar("Result")

# Unwrapped, so that a further system of this program wraps them anew.
_CONNECT: Final = asyncpg.connect
_SEND: Final = httpx.AsyncClient.send

_SPACES: Final = re.compile(r"\s+")
# A value in a label would differ from run to run.
_VALUES: Final = re.compile(
    r"'[^']*'|[0-9a-f]{8}-[0-9a-f-]{27}|\b(?:CM|TRF|RCP|DSP)_?-?[A-Za-z0-9_-]{6,}|\b(?:po|re)-[0-9a-f]{32}|(?<=/)\d+\b"
)
_ROW_LOCK: Final = re.compile(r"\bFOR (NO KEY )?UPDATE( OF \w+)?( SKIP LOCKED| NOWAIT)?")
_LABEL_LENGTH: Final = 80
# asyncpg's own question about a type, at the first use of a connection.
_OF_THE_DRIVER: Final = "pg_catalog.pg_type"


@dataclass(slots=True)
class ProviderCalls:
    """How many calls have changed something at a provider, or may have."""

    count: int = 0


PROVIDER_CALLS: Final = ProviderCalls()


async def observed(
    kind: Kind, label: str, effect: Callable[[], Awaitable[Result]], session: Callable[[], Session] = lambda: NO_SESSION
) -> Result:
    process = CURRENT.get()
    if process is None:
        return await effect()
    await process.effects.turn(process.name, kind, label)
    number = process.effects.before(process, kind, label, session())
    try:
        result = await effect()
    except Exception as error:
        if process.is_dead:
            raise ProcessKilled from error
        raise
    process.effects.after(process, number)
    return result


@lru_cache(maxsize=10_000)
def label_of(text: str) -> str:
    """Return a short text without values."""
    return _VALUES.sub("?", _SPACES.sub(" ", text).strip())[:_LABEL_LENGTH]


class ObservedConnection(asyncpg.Connection):
    """A connection each of whose statements is a point."""

    # For the check of the checks: `FOR UPDATE` locks no row.
    locks_rows: ClassVar[bool] = True

    async def execute(self, query: str, *args: Any, **options: Any) -> str:
        text: str = await self._point(
            query, lambda: super(ObservedConnection, self).execute(self._sent(query), *args, **options)
        )
        return text

    async def executemany(self, command: str, args: Any, **options: Any) -> None:
        await self._point(command, lambda: super(ObservedConnection, self).executemany(command, args, **options))

    async def fetch(self, query: str, *args: Any, **options: Any) -> list[Any]:
        rows: list[Any] = await self._point(
            query, lambda: super(ObservedConnection, self).fetch(self._sent(query), *args, **options)
        )
        return rows

    async def fetchmany(self, query: str, args: Any, **options: Any) -> list[Any]:
        rows: list[Any] = await self._point(
            query, lambda: super(ObservedConnection, self).fetchmany(self._sent(query), args, **options)
        )
        return rows

    async def fetchrow(self, query: str, *args: Any, **options: Any) -> Any:
        return await self._point(
            query, lambda: super(ObservedConnection, self).fetchrow(self._sent(query), *args, **options)
        )

    async def fetchval(self, query: str, *args: Any, **options: Any) -> Any:
        return await self._point(
            query, lambda: super(ObservedConnection, self).fetchval(self._sent(query), *args, **options)
        )

    def _sent(self, statement: str) -> str:
        return statement if self.locks_rows else _ROW_LOCK.sub("", statement)

    async def _point(self, statement: str, run: Callable[[], Awaitable[Any]]) -> Any:
        if _OF_THE_DRIVER in statement:
            return await run()
        kind: Kind = "commit" if statement.endswith("COMMIT") else "statement"
        return await observed(kind, label_of(statement), run, self._session)

    def _session(self) -> Session:
        return Session(id(self), self.is_in_transaction())


class ObservedMessage(aio_pika.IncomingMessage):
    """A delivered message whose acknowledgement is a point."""

    async def ack(self, multiple: bool = False) -> None:
        await observed("acknowledgement", self.type or "", lambda: self.send_ack(multiple))

    async def send_ack(self, multiple: bool) -> None:
        """Acknowledge: the effect of the point."""
        await super().ack(multiple)


class ObservedBus(Bus):
    """A bus whose publishes are points."""

    async def _publish_one(self, channel: Any, message: Outgoing) -> bool:
        return await observed("publish", message.type, lambda: super(ObservedBus, self)._publish_one(channel, message))

    async def delay(self, message: Outgoing, queue: str, seconds: float) -> None:
        await observed("publish", f"delay {message.type}", lambda: self.send_delayed(message, queue, seconds))

    async def send_delayed(self, message: Outgoing, queue: str, seconds: float) -> None:
        """Send to the delay queue: the effect of the point."""
        await super().delay(message, queue, seconds)


def observe_connections(provider_url: str, provider: httpx.AsyncBaseTransport | None = None) -> None:
    """Wrap the connections that processes of this program open from now on.

    Calls to other addresses than those that start with `provider_url` are no points. With `provider`, it answers the
    calls to these addresses, also those of this program itself.
    """

    async def connect_observed(*arguments: Any, **options: Any) -> Any:
        process = CURRENT.get()
        if process is None:
            return await _CONNECT(*arguments, **options)
        connection = await _CONNECT(*arguments, **options, connection_class=ObservedConnection)
        process.connections.append(connection)
        return connection

    async def send_observed(self: httpx.AsyncClient, request: httpx.Request, **options: Any) -> httpx.Response:
        if not str(request.url).startswith(provider_url):
            return await _SEND(self, request, **options)
        label = label_of(f"{request.method} {request.url.path}")
        try:
            if provider is not None:
                return await observed("call", label, lambda: provider.handle_async_request(request))
            return await observed("call", label, lambda: _SEND(self, request, **options))
        finally:
            PROVIDER_CALLS.count += CURRENT.get() is not None or request.method != "GET"

    asyncpg.connect = connect_observed
    httpx.AsyncClient.send = send_observed  # type: ignore[method-assign]
