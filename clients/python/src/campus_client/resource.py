"""The base classes of the generated resources."""

from collections.abc import AsyncGenerator, Callable, Generator
from typing import TypeVar

from campus_client.calls import Call
from campus_client.events import Event
from campus_client.pages import AsyncPages, Page, PageCall
from campus_client.session import Session
from campus_client.transport import iterate, run

T = TypeVar("T")
Item = TypeVar("Item")
Meta = TypeVar("Meta")
OnOpen = Callable[[], None]


class Resource:
    """The operations of one resource, blocking."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def _call(self, call: Call[T]) -> T:
        return run(self._session.call(call))

    def _list(self, call: PageCall[Item, Meta]) -> Page[Item, Meta]:
        return Page(*run(self._session.call(call)), self._session, call)

    def _follow(
        self, call: Call[Callable[[str], T]], *, resumes: bool, on_open: OnOpen | None
    ) -> Generator[Event[T], None, None]:
        return iterate(self._session.follow(call, resumes=resumes, on_open=on_open))


class AsyncResource:
    """The operations of one resource, on an event loop."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def _call(self, call: Call[T]) -> T:
        return await self._session.call(call)

    def _list(self, call: PageCall[Item, Meta]) -> AsyncPages[Item, Meta]:
        return AsyncPages(self._session, call)

    def _follow(
        self, call: Call[Callable[[str], T]], *, resumes: bool, on_open: OnOpen | None
    ) -> AsyncGenerator[Event[T], None]:
        return self._session.follow(call, resumes=resumes, on_open=on_open)
