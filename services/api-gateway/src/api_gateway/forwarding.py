"""Forwarding of a request to its service, and of the response to the client.

`HEAD` is `GET` without its body. The body of a `GET` is not forwarded.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Final

from api_gateway.call import Call
from api_gateway.compression import ENCODED, Accepted, accepted_codings, compressed, with_weak_etag
from api_gateway.connection import ClientDisconnected, Connection, DisconnectWatcher
from api_gateway.headers import (
    PASSED_TO_GATEWAYS,
    PASSED_TO_SERVICES,
    Headers,
    content_type_of,
    has_content_policy,
    passed_from_gateway,
    passed_to_client,
    request_head,
    without_policy,
)
from api_gateway.load import Load
from api_gateway.upstream import Upstreams
from common.auth.guards import Access
from common.observability.telemetry import trace_headers
from common.primitives.problems import Problem, ValidationFailed
from common.web.client_address import CLIENT_ADDRESS
from common.web.endpoint_table import Route
from common.web.request_path import VERSION, VERSION_HEADER

# A response stored under a key is held in memory. The longest one is a dispatch of some hundred transfers.
STORED_BYTES_MAX: Final = 1024 * 1024
# A client that reads nothing of a stream for this long is disconnected: its service would buffer events in vain.
SLOW_READER_SECONDS: Final = 20.0


class Forwarder:
    """Forward requests to the services."""

    def __init__(self, upstreams: Upstreams, load: Load, signature_header: str) -> None:
        self._upstreams, self._load = upstreams, load
        self._passed = PASSED_TO_SERVICES | {signature_header.encode()}
        self._passed_to_gateways = PASSED_TO_GATEWAYS | {signature_header.encode()}

    async def send_request(
        self,
        call: Call,
        route: Route,
        body: bytes | AsyncIterator[bytes],
        *,
        watch_client: bool,
        headers: Mapping[bytes, bytes] | None = None,
        passed: frozenset[bytes] | None = None,
        query: bytes | None = None,
    ) -> Connection:
        """Send the request and wait for the head of the response. Raises UpstreamFailed and ClientDisconnected.

        `headers` replace the client's own, for a request on behalf of several clients. `passed` names those that are
        sent. `query` replaces the client's own.
        """
        if route.parts and not route.is_merged_list:
            return await self._send_until_found(call, route, body, watch_client=watch_client)
        upstream = self._upstreams[route.upstream]
        method = "GET" if call.method == "HEAD" else call.method
        own_headers = {"x-request-id": call.request_id, **trace_headers()}
        if route.access is Access.CREDENTIALS:
            # Identity counts wrong codes and messages by source. A client's own header of this name is not passed.
            own_headers[CLIENT_ADDRESS] = call.address
        is_for_gateway = passed is self._passed_to_gateways
        if call.is_versioned and not is_for_gateway:
            # A problem names the path of the client.
            own_headers[VERSION_HEADER] = VERSION
        own = "".join([f"{name}: {text}\r\n" for name, text in own_headers.items()]).encode()
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
            _target(
                call.scope["raw_path"] if is_for_gateway else call.path.encode(),
                call.scope["query_string"] if query is None else query,
            ),
            upstream.host_header,
            call.headers if headers is None else headers,
            own,
            with_token=route.passes_token or route.access is not Access.CREDENTIALS,
            passed=passed or self._passed,
        )
        if is_stream and b"content-length" not in call.headers:
            body = _chunked(body)  # type: ignore[arg-type]
        disconnected: DisconnectWatcher | None = _disconnect_watcher(call) if watch_client else None
        return await upstream.send_request(
            head, body, seconds_max=route.seconds_max, may_repeat=method == "GET", disconnected=disconnected
        )

    async def _send_until_found(
        self, call: Call, route: Route, body: bytes | AsyncIterator[bytes], *, watch_client: bool
    ) -> Connection:
        """Send the request to one part after the other while the response is 404; return the last response."""
        for part in route.parts:
            one_part = replace(route, upstream=part, parts=())
            response = await self.send_request(call, one_part, body, watch_client=watch_client)
            if response.status != 404 or part == route.parts[-1]:
                break
            try:
                await read_response(response)
            finally:
                response.release()
        return response

    async def send_to_gateway(
        self,
        call: Call,
        route: Route,
        upstream: str,
        body: bytes | AsyncIterator[bytes],
        more_headers: Mapping[bytes, bytes],
    ) -> Connection:
        """Send the client's request to another cell's gateway, which knows the client by `X-Forwarded-For`. Raises as
        `send_request` does.
        """
        peer = call.scope["client"][0] if call.scope["client"] else ""
        forwarded_for = b", ".join([*filter(None, [call.headers.get(b"x-forwarded-for")]), peer.encode()])
        headers = {**call.headers, b"x-forwarded-for": forwarded_for, **more_headers}
        to_gateway = replace(route, upstream=upstream, passes_token=True)
        return await self.send_request(
            call, to_gateway, body, watch_client=True, headers=headers, passed=self._passed_to_gateways
        )

    async def relay_of_gateway(self, call: Call, response: Connection) -> None:
        """Relay the response of another cell's gateway, which set the headers for the client."""
        call.extra = []
        headers = passed_from_gateway(response.headers, private=call.is_private or response.status >= 400)
        if _is_event_stream(response.headers):
            await self._relay_stream(call, response, headers)
        else:
            await self._relay_unchanged(call, response, headers)

    async def relay(self, call: Call, response: Connection) -> None:
        """Relay the response: in one piece if it is complete, else chunk by chunk."""
        if response.status >= 400 and not _is_json(response.headers):
            await read_response(response)
            raise problem_of_status(response.status)
        headers = passed_to_client(response.headers, private=call.is_private or response.status >= 400)
        if call.route is not None and call.route.page and has_content_policy(headers):
            call.extra = without_policy(call.extra)
        if _is_event_stream(response.headers):
            await self._relay_stream(call, response, headers)
            return
        if response.status == 200 and call.route is not None and call.route.compressed:
            headers = with_weak_etag(headers)
            accepted = accepted_codings(call.headers.get(b"accept-encoding"))
            if accepted.gzip:
                await self._relay_compressed(call, response, headers, accepted)
                return
        await self._relay_unchanged(call, response, headers)

    async def _relay_unchanged(self, call: Call, response: Connection, headers: Headers) -> None:
        await call.start(response.status, headers)
        if response.is_complete:
            await call.send({"type": "http.response.body", "body": await response.next_chunk() or b""})
            return
        while (chunk := await response.next_chunk()) is not None:
            await call.send({"type": "http.response.body", "body": chunk, "more_body": True})
        await call.send({"type": "http.response.body", "body": b""})

    async def _relay_compressed(self, call: Call, response: Connection, headers: Headers, accepted: Accepted) -> None:
        """Relay a catalog response, compressed unless it is too short or too long for memory."""
        body, is_whole = await read_up_to_limit(response)
        if not is_whole:
            await self._relay_from(call, response, headers, body)
            return
        headers = [pair for pair in headers if pair[0] != b"content-length"]
        if accepted.compresses(len(body)):
            await call.respond(200, [ENCODED, *headers], compressed(body))
        else:
            await call.respond(200, headers, body)

    async def _relay_from(self, call: Call, response: Connection, headers: Headers, prefix: bytes) -> None:
        """Relay the part that was read, then the rest chunk by chunk."""
        await call.start(response.status, headers)
        await call.send({"type": "http.response.body", "body": prefix, "more_body": True})
        while (chunk := await response.next_chunk()) is not None:
            await call.send({"type": "http.response.body", "body": chunk, "more_body": True})
        await call.send({"type": "http.response.body", "body": b""})

    async def _relay_stream(self, call: Call, response: Connection, headers: Headers) -> None:
        """Relay an event stream. The route's `seconds_max` bounds the service's silence; it pings more often."""
        if call.method == "HEAD":
            await call.start(response.status, headers)
            await call.send({"type": "http.response.body", "body": b""})
            return
        response.mark_as_stream()
        with self._load.exclude_stream():
            await self._relay_events(call, response, headers)

    async def _relay_events(self, call: Call, response: Connection, headers: Headers) -> None:
        await call.start(response.status, headers)
        while (chunk := await response.next_chunk()) is not None:
            try:
                async with asyncio.timeout(SLOW_READER_SECONDS):
                    await call.send({"type": "http.response.body", "body": chunk, "more_body": True})
            except TimeoutError:
                raise ClientDisconnected from None
        await call.send({"type": "http.response.body", "body": b""})

    async def relay_body(self, call: Call, status: int, headers: Headers, body: bytes) -> None:
        """Relay a response that was read to its end."""
        if status >= 400 and not _is_json(headers):
            raise problem_of_status(status)
        passed = [pair for pair in passed_to_client(headers, private=True) if pair[0] != b"content-length"]
        await call.respond(status, passed, body)

    async def relay_rest(self, call: Call, response: Connection, prefix: bytes) -> None:
        """Relay a response of which a part was read, then the rest chunk by chunk."""
        if response.status >= 400 and not _is_json(response.headers):
            raise problem_of_status(response.status)
        await self._relay_from(call, response, passed_to_client(response.headers, private=True), prefix)


async def read_response(response: Connection) -> bytes:
    """Return the whole body, at most STORED_BYTES_MAX. Raises ResponseTooLong."""
    content, is_whole = await read_up_to_limit(response)
    if not is_whole:
        raise ResponseTooLong
    return content


async def read_up_to_limit(response: Connection) -> tuple[bytes, bool]:
    """Return the body up to the limit, and whether it is complete."""
    parts, size = [], 0
    while (chunk := await response.next_chunk()) is not None:
        parts.append(chunk)
        size += len(chunk)
        if size > STORED_BYTES_MAX:
            return b"".join(parts), False
    return b"".join(parts), True


class ResponseTooLong(Exception):
    """The response exceeds the limit of a stored one."""


def problem_of_status(status: int) -> Problem:
    """Return the problem document for an error response without one."""
    if status >= 500:
        return Problem(status=status)
    return ValidationFailed("The request is not valid.", status=status)


def _is_event_stream(headers: Headers) -> bool:
    return content_type_of(headers).startswith(b"text/event-stream")


def _is_json(headers: Headers) -> bool:
    return b"json" in content_type_of(headers)


def _target(path: bytes, query: bytes) -> bytes:
    return path + b"?" + query if query else path


def _disconnect_watcher(call: Call) -> DisconnectWatcher:
    async def wait_for_disconnect() -> None:
        while (await call.receive())["type"] != "http.disconnect":
            pass

    return wait_for_disconnect


async def _chunked(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in body:
        yield b"%x\r\n%b\r\n" % (len(chunk), chunk)
    yield b"0\r\n\r\n"
