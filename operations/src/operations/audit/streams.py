"""Ordered rows of several sources, joined without holding one of them in memory."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, Protocol, TypeVar

import asyncpg

# Rows of a server-side cursor that are in memory at once.
_PREFETCH: Final = 5_000


class Row(Protocol):
    """A row whose first column is its key."""

    def __getitem__(self, index: int, /) -> Any: ...


Left = TypeVar("Left", bound=Row)
Right = TypeVar("Right", bound=Row)


@asynccontextmanager
async def snapshots(*connections: asyncpg.Connection) -> AsyncIterator[None]:
    """Read-only transactions, each of which sees one state of its database. One that the caller began is kept."""
    async with AsyncExitStack() as stack:
        for connection in connections:
            if connection.is_in_transaction():
                continue
            transaction = connection.transaction(isolation="repeatable_read", readonly=True)
            await stack.enter_async_context(transaction)
        yield


async def rows_of(connection: asyncpg.Connection, statement: str, *values: Any) -> AsyncIterator[asyncpg.Record]:
    """Yield the rows of a statement, from a server-side cursor; inside of `snapshots`."""
    async for row in connection.cursor(statement, *values, prefetch=_PREFETCH):
        yield row


async def full_join(
    left: AsyncIterator[Left], right: AsyncIterator[Right]
) -> AsyncIterator[tuple[Any, Left | None, Right | None]]:
    """Join two sources by their first columns. Both must be in its order, texts by code point (`COLLATE "C"`)."""
    first, second = await anext(left, None), await anext(right, None)
    while first is not None and second is not None:
        if first[0] < second[0]:
            yield first[0], first, None
            first = await anext(left, None)
        elif second[0] < first[0]:
            yield second[0], None, second
            second = await anext(right, None)
        else:
            yield first[0], first, second
            first, second = await anext(left, None), await anext(right, None)
    while first is not None:
        yield first[0], first, None
        first = await anext(left, None)
    while second is not None:
        yield second[0], None, second
        second = await anext(right, None)


async def merged(first: AsyncIterator[Left], second: AsyncIterator[Left]) -> AsyncIterator[Left]:
    """Merge two ordered sources into one."""
    async for _, left, right in full_join(first, second):
        if left is not None:
            yield left
        if right is not None:
            yield right
