"""uvicorn's HTTP protocol with the contract's limits (section 4), and problem documents for every invalid request.

Strict where two parsers of one request could differ (RFC 9112): one valid Host, no unknown framing.

**Ambiguous requests are 400, and the connection closes**: several or unknown framings, not exactly one valid host,
HTTP other than 1.0 and 1.1, an invalid target. Paths are compared byte by byte, without decoding `%` or resolving
dots. More than 128 headers are 431.

**Every wait for a client has a timeout.** Heads, and bodies of rejected requests, must arrive within
`CLIENT_HEAD_SECONDS_MAX`, bodies within `CLIENT_BODY_SECONDS_MAX` (408). A response that is not read for
`CLIENT_ANSWER_SECONDS_MAX` is aborted. Upgrade requests are processed without the upgrade, and the connection closes.
"""

import asyncio
import re
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    RequestResponseCycle,
)

from api_gateway.edge import HEAD_ERROR, WHOLE_BODY, Edge
from api_gateway.headers import Headers
from common.web.http_protocol import JoinedProtocol

HEADERS_BYTES_MAX: Final = 16 * 1024
URL_BYTES_MAX: Final = 8 * 1024
# A longer head is rejected before its end is parsed, so nothing beyond it is kept in memory. Twice the size of a read,
# because the bytes of a read count in full for every head that starts in it.
HEAD_BYTES_MAX: Final = 512 * 1024
# A browser through two proxies sends forty. Each header costs time at every step, whatever its length.
HEADERS_MAX: Final = 128

# A name, an IPv4 address or an IPv6 one in brackets, with or without a port (RFC 3986, 3.2.2).
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")

# Bytes that no header name or value may contain (RFC 9110, 5.1 and 5.5).
_NO_NAME: Final = bytes(range(33)) + b'()<>@,;:[]={}\\"\x7f'
_NO_VALUE: Final = bytes(code for code in range(32) if code != ord("\t")) + b"\x7f"


@lru_cache(1_024)
def _are_names(names: tuple[bytes, ...]) -> bool:
    """Return whether all are valid header names. Responses have few sets of names."""
    joined = b"".join(names)
    return len(joined.translate(None, _NO_NAME)) == len(joined)


def _path_of(url: bytes) -> bytes:
    """Return the path of a rejected URL, perhaps only its start; `/` when it cannot be parsed."""
    # The parser stores positions in 16 bits.
    prefix = url[:URL_BYTES_MAX].partition(b"?")[0].partition(b"#")[0]
    try:
        return httptools.parse_url(prefix).path or b"/"
    except httptools.HttpParserInvalidURLError:
        return b"/"


class _Exchange(RequestResponseCycle):
    """A request and its response. Its headers, fifteen here, are validated together instead of one by one: 10 us of
    100.
    """

    # HTTP/1.0 has no chunks: the end of the connection is the end of a body without a length (RFC 9112, 6.1).
    _ends_by_close = False

    async def send(self, message: Any) -> None:
        if self.response_started or message["type"] != "http.response.start":
            if self._ends_by_close:
                self.expected_content_length = len(message.get("body", b""))
            await super().send(message)
            return
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        self.response_started = True
        self.waiting_for_100_continue = False
        self.transport.write(self._head(message["status"], [*self.default_headers, *message["headers"]]))

    def _head(self, status: int, headers: Headers) -> bytes:
        """Return status and headers in bytes, and set the body's framing and the reuse of the connection.

        Header names are lower case.
        """
        named = dict(headers)
        if not _are_names(tuple(named)):
            raise RuntimeError("a header name is invalid")
        block = b"\r\n".join([b": ".join(header) for header in headers])
        # The ends of the lines are the only control characters.
        if len(block) - len(block.translate(None, _NO_VALUE)) != 2 * (len(headers) - 1):
            raise RuntimeError("a header value is invalid")
        lines = [STATUS_LINE[status], block, b"\r\n"]
        if b"close" in named.get(b"connection", b"").lower():
            self.keep_alive = False
        elif not self.keep_alive:
            lines.append(b"connection: close\r\n")
        length = named.get(b"content-length")
        if length is not None:
            self.expected_content_length, self.chunked_encoding = int(length), False
        elif self.scope["method"] != "HEAD" and status not in (204, 304) and self.scope["http_version"] == "1.0":
            self._ends_by_close, self.chunked_encoding = True, False
        elif self.scope["method"] != "HEAD" and status not in (204, 304):
            self.chunked_encoding = True
            lines.append(b"transfer-encoding: chunked\r\n")
        lines.append(b"\r\n")
        return b"".join(lines)


class EdgeProtocol(JoinedProtocol):
    """One client connection."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head_bytes = 0
        self._in_head = True
        self._head_started = False
        self._read_bytes = 0
        # Timeout of the client's next bytes: a started head, the first head, or the rest of a body whose response was
        # sent.
        self._client_timer: asyncio.TimerHandle | None = None
        # Timeout of the client's reading: an unread response blocks all that follow.
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._start_client_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_client_timer()
        self._cancel_write_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._read_bytes = len(data)
        if self._in_head:
            self._head_bytes += self._read_bytes
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            if self._head_bytes > HEAD_BYTES_MAX:
                self._reject(431)
            elif self._client_timer is None and self._timeout_is_off():
                self._start_client_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        awaits_client = self._head_started if self._in_head else self.cycle.more_body
        if awaits_client and self._client_timer is None and self.cycle.response_complete:
            self._start_client_timer()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self._edge.timeouts.response_seconds, self._abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel_write_timer()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_started = True

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.scope["state"][WHOLE_BODY] = True
        self._cancel_client_timer()
        # The rest of the same read is the next head.
        self._in_head = True
        self._head_bytes = self._read_bytes

    def on_headers_complete(self) -> None:
        self._in_head = self._head_started = False
        self._cancel_client_timer()
        version = self.parser.get_http_version()
        refused = self._check_head(version)
        raw_path, query, path = b"/", b"", "/"
        if not refused:
            try:
                target = httptools.parse_url(self.url)
                raw_path, query, path = target.path, target.query or b"", target.path.decode("ascii")
            except (httptools.HttpParserInvalidURLError, AttributeError, UnicodeDecodeError):
                # Without a URL or path, or not ASCII.
                refused = 400
        if refused:
            self.scope["state"][HEAD_ERROR] = refused
            raw_path, query, path = _path_of(self.url), b"", "/"
        self.scope["method"] = self.parser.get_method().decode("ascii")
        self.scope["http_version"] = version
        self.scope["path"] = unquote(path) if "%" in path else path
        self.scope["raw_path"] = raw_path
        self.scope["query_string"] = query
        # The last request of the connection: the process drains, an intermediary may parse on differently, or the
        # parser stops after an unsupported upgrade.
        is_last = refused == 400 or self.parser.should_upgrade() or self._edge.load.is_draining
        self._start_exchange(keep_alive=version != "1.0" and self.parser.should_keep_alive() and not is_last)

    def _start_exchange(self, *, keep_alive: bool) -> None:
        """Process the request after the previous one on this connection."""
        before = self.cycle
        self.cycle = _Exchange(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=keep_alive,
            on_response=self.on_response_complete,
        )
        if before is None or before.response_complete:
            self._start_asgi_task(self.cycle, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))

    def send_400_response(self, msg: str) -> None:
        self._reject(400)

    @property
    def _edge(self) -> Edge:
        edge: Edge = self.config.loaded_app
        return edge

    def _check_head(self, version: str) -> int:
        """Return the status that rejects the head, or 0."""
        # Only a head that may be too long is measured: `_head_bytes` is an upper bound of its length.
        if self._head_bytes > URL_BYTES_MAX:
            refused = self._oversized_head_status()
            if refused:
                return refused
        if len(self.headers) > HEADERS_MAX:
            return 431
        hosts, framings = [], []
        for name, value in self.headers:
            if name == b"host":
                hosts.append(value)
            elif name == b"transfer-encoding":
                framings.append(value.lower())
        # Unknown framings, and framings in HTTP/1.0, are parsed differently by other software.
        if framings and (framings != [b"chunked"] or version != "1.1"):
            return 400
        if version == "1.0":
            # Health probes of load balancers may omit the host.
            return 0 if all(_HOST.fullmatch(host) for host in hosts[:1]) and len(hosts) <= 1 else 400
        return 0 if version == "1.1" and len(hosts) == 1 and _HOST.fullmatch(hosts[0]) else 400

    def _oversized_head_status(self) -> int:
        if len(self.url) > URL_BYTES_MAX:
            return 414
        # Each line adds a colon, a space and its end.
        size = sum(len(name) + len(value) + 4 for name, value in self.headers)
        return 431 if size > HEADERS_BYTES_MAX else 0

    def _reject(self, status: int) -> None:
        """Respond to invalid input and close: the start of the next request is unknown."""
        self.flow.pause_reading()
        task = self.loop.create_task(self._respond_and_close(status))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _respond_and_close(self, status: int) -> None:
        response = await self._edge.error_without_request(
            self.client[0] if self.client else "", status, _path_of(self.url)
        )
        if not self.transport.is_closing():
            self.transport.write(response)
            self.transport.close()

    def _timeout_is_off(self) -> bool:
        """Return whether no other timeout ends this connection: no request is running and it is not idle."""
        return self.timeout_keep_alive_task is None and (self.cycle is None or self.cycle.response_complete)

    def _start_client_timer(self) -> None:
        self._client_timer = self.loop.call_later(self._edge.timeouts.head_seconds, self._close_idle)

    def _close_idle(self) -> None:
        self._client_timer = None
        if not self.transport.is_closing():
            self.transport.close()

    def _abort(self) -> None:
        self._write_timer = None
        self.transport.abort()

    def _cancel_client_timer(self) -> None:
        if self._client_timer is not None:
            self._client_timer.cancel()
            self._client_timer = None

    def _cancel_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
