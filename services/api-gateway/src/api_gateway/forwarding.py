"""Carrying a request to its service and the answer back."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Final

from api_gateway.call import Call
from api_gateway.compression import ENCODED, Accepted, accepted_codings, compressed, weakened
from api_gateway.connection import ClientGone, Connection, Gone
from api_gateway.headers import Headers, passed_to_client, request_head, shows_policy, without_policy
from api_gateway.load import Load
from api_gateway.routing import Access, Route
from api_gateway.upstream import Upstreams
from common.observability.telemetry import trace_headers
from common.primitives.problems import Problem, ValidationFailed

# An answer that is stored under a key is held in memory; the longest of ours is a dispatch of some hundred transfers.
STORED_BYTES_MAX: Final = 1024 * 1024
# A client that takes nothing of a stream for this long is not waited for: the service would keep its events for nobody.
SLOW_READER_SECONDS: Final = 20.0


class Forwarder:
    """Knows how to reach the services."""

    def __init__(self, upstreams: Upstreams, load: Load) -> None:
        self._upstreams, self._load = upstreams, load

    async def ask(
        self,
        call: Call,
        route: Route,
        body: bytes | AsyncIterator[bytes],
        *,
        watch_client: bool,
        headers: Mapping[bytes, bytes] | None = None,
    ) -> Connection:
        """Sends the request on and waits for the head of the answer. Raises UpstreamFailed, ClientGone.

        `headers` stand in the place of the client's own, for what is asked on behalf of several.
        """
        upstream = self._upstreams[route.upstream]
        method = "GET" if call.method == "HEAD" else call.method
        told = {"x-request-id": call.request_id, **trace_headers()}
        own = "".join([f"{name}: {text}\r\n" for name, text in told.items()]).encode()
        is_stream = not isinstance(body, bytes)
        if is_stream:
            length = call.headers.get(b"content-length")
            own += b"transfer-encoding: chunked\r\n\r\n" if length is None else b"content-length: %b\r\n\r\n" % length
        elif method == "GET":
            own += b"\r\n"
        else:
            own += b"content-length: %d\r\n\r\n" % len(body)  # type: ignore[arg-type]
        head = request_head(
            method,
            _target(call),
            upstream.host_header,
            call.headers if headers is None else headers,
            own,
            with_token=route.passes_token or route.access is not Access.CREDENTIALS,
        )
        if is_stream and b"content-length" not in call.headers:
            body = _chunked(body)  # type: ignore[arg-type]
        gone: Gone | None = _departure(call) if watch_client else None
        return await upstream.ask(head, body, seconds_max=route.seconds_max, may_repeat=method == "GET", gone=gone)

    async def relay(self, call: Call, answer: Connection) -> None:
        """Passes the answer through: in one piece when it is already here, else as it comes."""
        if answer.status >= 400 and not _is_json(answer.headers):
            await read_answer(answer)
            raise problem_of_status(answer.status)
        headers = passed_to_client(answer.headers, private=call.is_private or answer.status >= 400)
        if call.route is not None and call.route.is_page and shows_policy(headers):
            call.extra = without_policy(call.extra)
        if _lasts(answer.headers):
            await self._relay_stream(call, answer, headers)
            return
        if answer.status == 200 and call.route is not None and call.route.is_compressed:
            headers = weakened(headers)
            accepted = accepted_codings(call.headers.get(b"accept-encoding"))
            if accepted.gzip:
                await self._relay_compressed(call, answer, headers, accepted)
                return
        await call.start(answer.status, headers)
        if answer.is_complete:
            await call.send({"type": "http.response.body", "body": await answer.next_chunk() or b""})
            return
        while (chunk := await answer.next_chunk()) is not None:
            await call.send({"type": "http.response.body", "body": chunk, "more_body": True})
        await call.send({"type": "http.response.body", "body": b""})

    async def _relay_compressed(self, call: Call, answer: Connection, headers: Headers, accepted: Accepted) -> None:
        """Passes on an answer of the catalog, compressed unless it is short or too long for memory."""
        body, is_whole = await read_beginning(answer)
        if not is_whole:
            await self._relay_from(call, answer, headers, body)
            return
        headers = [pair for pair in headers if pair[0] != b"content-length"]
        if accepted.compresses(len(body)):
            await call.answer(200, [ENCODED, *headers], compressed(body))
        else:
            await call.answer(200, headers, body)

    async def _relay_from(self, call: Call, answer: Connection, headers: Headers, beginning: bytes) -> None:
        """Passes on what was read of an answer, and the rest as it comes."""
        await call.start(answer.status, headers)
        await call.send({"type": "http.response.body", "body": beginning, "more_body": True})
        while (chunk := await answer.next_chunk()) is not None:
            await call.send({"type": "http.response.body", "body": chunk, "more_body": True})
        await call.send({"type": "http.response.body", "body": b""})

    async def _relay_stream(self, call: Call, answer: Connection, headers: Headers) -> None:
        """Passes on events as they come, for as long as they come. The route's `seconds_max` is how long a service may be
        silent; it pings more often."""
        if call.method == "HEAD":
            await call.start(answer.status, headers)
            await call.send({"type": "http.response.body", "body": b""})
            return
        answer.set_apart()
        with self._load.set_apart():
            await self._pass_events(call, answer, headers)

    async def _pass_events(self, call: Call, answer: Connection, headers: Headers) -> None:
        await call.start(answer.status, headers)
        while (chunk := await answer.next_chunk()) is not None:
            try:
                async with asyncio.timeout(SLOW_READER_SECONDS):
                    await call.send({"type": "http.response.body", "body": chunk, "more_body": True})
            except TimeoutError:
                raise ClientGone from None
        await call.send({"type": "http.response.body", "body": b""})

    async def relay_whole(self, call: Call, status: int, headers: Headers, body: bytes) -> None:
        """Passes on an answer that was read to its end."""
        if status >= 400 and not _is_json(headers):
            raise problem_of_status(status)
        passed = [pair for pair in passed_to_client(headers, private=True) if pair[0] != b"content-length"]
        await call.answer(status, passed, body)

    async def relay_rest(self, call: Call, answer: Connection, beginning: bytes) -> None:
        """Passes on an answer whose beginning was read, and the rest as it comes."""
        if answer.status >= 400 and not _is_json(answer.headers):
            raise problem_of_status(answer.status)
        await self._relay_from(call, answer, passed_to_client(answer.headers, private=True), beginning)


async def read_answer(answer: Connection) -> bytes:
    """The whole body of an answer, at most STORED_BYTES_MAX; raises AnswerTooLong."""
    content, is_whole = await read_beginning(answer)
    if not is_whole:
        raise ResponseTooLong
    return content


async def read_beginning(answer: Connection) -> tuple[bytes, bool]:
    """The body as far as it can be kept, and whether that is all of it."""
    parts, size = [], 0
    while (chunk := await answer.next_chunk()) is not None:
        parts.append(chunk)
        size += len(chunk)
        if size > STORED_BYTES_MAX:
            return b"".join(parts), False
    return b"".join(parts), True


class ResponseTooLong(Exception):
    """An answer is longer than what can be kept."""


def problem_of_status(status: int) -> Problem:
    """The problem document for an error that a service's server gave without one."""
    if status >= 500:
        return Problem(status=status)
    return ValidationFailed("The request is not valid.", status=status)


def _lasts(headers: Headers) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/event-stream") for name, value in headers)


def _is_json(headers: Headers) -> bool:
    return any(name == b"content-type" and b"json" in value for name, value in headers)


def _target(call: Call) -> bytes:
    query: bytes = call.scope["query_string"]
    path = call.path.encode()
    return path + b"?" + query if query else path


def _departure(call: Call) -> Gone:
    async def gone() -> None:
        while (await call.receive())["type"] != "http.disconnect":
            pass

    return gone


async def _chunked(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in body:
        yield b"%x\r\n%b\r\n" % (len(chunk), chunk)
    yield b"0\r\n\r\n"
