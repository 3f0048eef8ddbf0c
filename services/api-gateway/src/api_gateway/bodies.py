"""Reading request bodies within their limits (contract section 4)."""

import asyncio
from collections.abc import AsyncIterator, Mapping

from starlette.types import Receive

from api_gateway.connection import ClientDisconnected
from common.primitives.problems import Problem, ValidationFailed
from common.web.endpoint_table import JSON_BYTES_MAX, Media, Route


class BodyTooLarge(ValidationFailed):
    status, detail = 413, "The body is too large."


class WrongMediaType(ValidationFailed):
    status, detail = 415, "This operation does not accept this media type."


class BodyTooSlow(ValidationFailed):
    status, detail = 408, "The body did not arrive in time."

    def __init__(self) -> None:
        super().__init__(headers={"Connection": "close"})


def check_announced_body(route: Route, headers: Mapping[bytes, bytes]) -> None:
    """Reject by its headers a body that is compressed, too large, or of another media type.

    Raises WrongMediaType (415) and BodyTooLarge (413).
    """
    encoding = headers.get(b"content-encoding")
    if encoding is not None and encoding.strip().lower() not in (b"", b"identity"):
        raise WrongMediaType("Compressed bodies are not accepted.")
    length = headers.get(b"content-length")
    if length is not None and int(length) > route.body_bytes_max:
        raise too_large(route)
    if length == b"0" or (length is None and b"transfer-encoding" not in headers):
        return
    media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if route.media is not Media.ANY and media != route.media.value.encode():
        raise WrongMediaType(f"The body must be {route.media.value}.")


def too_large(route: Route) -> Problem:
    """Return the error that names the route's limit."""
    return BodyTooLarge(f"The body is larger than {route.body_bytes_max // 1024} KiB.")


async def read_body(receive: Receive, route: Route, seconds_max: float | None) -> bytes | AsyncIterator[bytes]:
    """Return a complete or JSON body as bytes, another as a stream that raises BodyTooLarge at the limit.

    The whole body must arrive within `seconds_max`; None: it has arrived. Raises BodyTooLarge, BodyTooSlow,
    ClientDisconnected.
    """
    if route.body_bytes_max <= JSON_BYTES_MAX:
        return await read_whole_body(receive, route, seconds_max)
    deadline = _deadline(seconds_max)
    first, more = await _next(receive, deadline)
    return _rest(receive, route, first, deadline) if more else _within(first, route)


async def read_whole_body(receive: Receive, route: Route, seconds_max: float | None) -> bytes:
    """Return the whole body. Raises BodyTooLarge, BodyTooSlow, ClientDisconnected."""
    deadline = _deadline(seconds_max)
    first, more = await _next(receive, deadline)
    if not more:
        return _within(first, route)
    return b"".join([chunk async for chunk in _rest(receive, route, first, deadline)])


def _deadline(seconds_max: float | None) -> float | None:
    return None if seconds_max is None else asyncio.get_running_loop().time() + seconds_max


async def _next(receive: Receive, deadline: float | None) -> tuple[bytes, bool]:
    """Return the next chunk, and whether more follows. Raises BodyTooSlow, ClientDisconnected."""
    if deadline is None:
        message = await receive()
    else:
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError as error:
            raise BodyTooSlow from error
    if message["type"] == "http.disconnect":
        raise ClientDisconnected
    return message.get("body", b""), message.get("more_body", False)


def _within(body: bytes, route: Route) -> bytes:
    if len(body) > route.body_bytes_max:
        raise too_large(route)
    return body


async def _rest(receive: Receive, route: Route, first: bytes, deadline: float | None) -> AsyncIterator[bytes]:
    size = len(first)
    if size > route.body_bytes_max:
        raise too_large(route)
    if first:
        yield first
    more = True
    while more:
        chunk, more = await _next(receive, deadline)
        size += len(chunk)
        if size > route.body_bytes_max:
            raise too_large(route)
        if chunk:
            yield chunk
