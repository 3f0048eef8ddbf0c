"""Pages of a list, and lists followed to their end, by a cursor or by numbered pages."""

from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from campus_client.calls import Call
from campus_client.session import Session
from campus_client.transport import run

Item = TypeVar("Item")
Meta = TypeVar("Meta")
PageCall = Call[tuple[list[Item], Meta]]


@dataclass(frozen=True, slots=True)
class PageOfItems(Generic[Item, Meta]):
    """The items and the meta of one page, with the call that returned them."""

    items: list[Item]
    meta: Meta
    _session: Session
    _call: PageCall[Item, Meta]

    @property
    def has_next(self) -> bool:
        """Return whether there is a further page."""
        return self._next_call() is not None

    def _next_call(self) -> PageCall[Item, Meta] | None:
        meta: Any = self.meta
        if hasattr(meta, "next_cursor"):
            return self._call.with_query(cursor=meta.next_cursor) if meta.next_cursor else None
        return self._call.with_query(page=meta.page + 1) if meta.page < meta.total_pages else None


class Page(PageOfItems[Item, Meta]):
    """One page. Iterating over it gives its items and those of all pages after it."""

    __slots__ = ()

    def next(self) -> "Page[Item, Meta] | None":
        """Return the next page; None after the last."""
        call = self._next_call()
        return None if call is None else Page(*run(self._session.call(call)), self._session, call)

    def __iter__(self) -> Iterator[Item]:
        page: Page[Item, Meta] | None = self
        while page is not None:
            yield from page.items
            page = page.next()


class AsyncPage(PageOfItems[Item, Meta]):
    """One page. Iterating over it gives its items and those of all pages after it."""

    __slots__ = ()

    async def next(self) -> "AsyncPage[Item, Meta] | None":
        """Return the next page; None after the last."""
        call = self._next_call()
        return None if call is None else await AsyncPages(self._session, call)

    async def __aiter__(self) -> AsyncIterator[Item]:
        page: AsyncPage[Item, Meta] | None = self
        while page is not None:
            for item in page.items:
                yield item
            page = await page.next()


@dataclass(frozen=True, slots=True)
class AsyncPages(Generic[Item, Meta]):
    """A list: `await` it for one page, or iterate over all its items with `async for`."""

    _session: Session
    _call: PageCall[Item, Meta]

    def __await__(self) -> Generator[Any, None, AsyncPage[Item, Meta]]:
        return self._first().__await__()

    async def _first(self) -> AsyncPage[Item, Meta]:
        return AsyncPage(*await self._session.call(self._call), self._session, self._call)

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for item in await self:
            yield item
