"""Input and output, blocking or on an event loop.

The client is written once, as coroutines. `AsyncTransport` suspends them; `BlockingTransport` never does, so that `run`
plays a coroutine to its end within one step.
"""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from types import TracebackType
from typing import Protocol, TypeVar

import httpx

from campus_client.errors import RequestTimeoutError, TransportError

T = TypeVar("T")


class Transport(Protocol):
    """Transport of the client. Failures of the network are `TransportError`."""

    @property
    def http(self) -> httpx.Client | httpx.AsyncClient:
        """The client that builds the requests."""

    refreshing: AbstractAsyncContextManager[object]
    """A lock: one refresh of the tokens at a time."""

    async def send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        """Send the request once; without `stream` the body is read."""

    async def read(self, response: httpx.Response) -> None:
        """Read the body of a streamed response."""

    def lines(self, response: httpx.Response) -> AsyncIterator[str]:
        """Return the lines of a streamed response as they arrive."""

    async def release(self, response: httpx.Response) -> None:
        """Close a streamed response."""

    async def sleep(self, seconds: float) -> None:
        """Wait between two attempts."""


class AsyncTransport:
    """On the running event loop."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.refreshing: AbstractAsyncContextManager[object] = asyncio.Lock()

    async def send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        """Send the request once; without `stream` the body is read."""
        with _as_transport_errors():
            return await self.http.send(request, stream=stream)

    async def read(self, response: httpx.Response) -> None:
        """Read the body of a streamed response."""
        with _as_transport_errors():
            await response.aread()

    async def lines(self, response: httpx.Response) -> AsyncIterator[str]:
        """Yield the lines of a streamed response as they arrive."""
        with _as_transport_errors():
            async for line in response.aiter_lines():
                yield line

    async def release(self, response: httpx.Response) -> None:
        """Close a streamed response."""
        await response.aclose()

    async def sleep(self, seconds: float) -> None:
        """Wait between two attempts."""
        await asyncio.sleep(seconds)


class BlockingTransport:
    """On the calling thread. No method suspends."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.refreshing: AbstractAsyncContextManager[object] = _ThreadLock()

    async def send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        """Send the request once; without `stream` the body is read."""
        with _as_transport_errors():
            return self.http.send(request, stream=stream)

    async def read(self, response: httpx.Response) -> None:
        """Read the body of a streamed response."""
        with _as_transport_errors():
            response.read()

    async def lines(self, response: httpx.Response) -> AsyncIterator[str]:
        """Yield the lines of a streamed response as they arrive."""
        with _as_transport_errors():
            for line in response.iter_lines():
                yield line

    async def release(self, response: httpx.Response) -> None:
        """Close a streamed response."""
        response.close()

    async def sleep(self, seconds: float) -> None:
        """Wait between two attempts."""
        time.sleep(seconds)  # noqa: ASYNC251


class _ThreadLock:
    """A lock of threads in the form of an asyncio lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    async def __aenter__(self) -> None:
        self._lock.acquire()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def run(awaitable: Awaitable[T]) -> T:
    """Return the result of a coroutine over a `BlockingTransport`."""
    try:
        next(iter(awaitable.__await__()))
    except StopIteration as end:
        result: T = end.value
        return result
    raise RuntimeError("A coroutine of the blocking client was suspended.")


def iterate(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """Yield the items of an asynchronous generator over a `BlockingTransport`."""
    try:
        while True:
            try:
                item = run(anext(items))
            except StopAsyncIteration:
                return
            yield item
    finally:
        run(items.aclose())


@contextmanager
def _as_transport_errors() -> Generator[None, None, None]:
    try:
        yield
    except httpx.TimeoutException as error:
        raise RequestTimeoutError(f"No response within the time-out ({type(error).__name__}).") from error
    except httpx.RequestError as error:
        raise TransportError(f"No response: {error or type(error).__name__}") from error
    except AttributeError as error:
        # On uvloop httpx looks for the peer of a connection that was lost as soon as it was open.
        if error.obj is None and error.name == "getpeername":
            raise TransportError("No response: the connection was lost as soon as it was open.") from error
        raise
