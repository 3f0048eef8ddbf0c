"""A request at the edge and its response, with the headers of every response."""

import re
import time
from datetime import datetime
from typing import Final
from urllib.parse import quote

from starlette.types import Message, Receive, Scope, Send

from api_gateway.headers import NO_STORE, Headers, quota_headers
from api_gateway.routing import canonical_path
from api_gateway.sliding_window import MICROSECONDS, QuotaStatus
from common.auth.caller import Caller
from common.primitives import problems
from common.primitives.ids import is_request_id, new_request_id
from common.primitives.problems import Problem
from common.web import envelope
from common.web.endpoint_table import Route
from common.web.responses import Payload

PROBLEM: Final = b"application/problem+json"
JSON: Final = b"application/json"


# Longer than every path of the API; an error does not repeat 8 KiB of its request.
_INSTANCE_CHARACTERS_MAX: Final = 512
_CUT_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]?$")


class Call:
    """A request in progress. `now` and `window` are in microseconds."""

    __slots__ = (
        "address",
        "caller",
        "extra",
        "head_seconds",
        "head_was_sent",
        "headers",
        "instant",
        "is_admitted",
        "is_private",
        "is_versioned",
        "method",
        "now",
        "path",
        "quota_status",
        "receive",
        "request_id",
        "route",
        "scope",
        "send",
        "started_at",
        "status",
        "window",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, instant: datetime, window_seconds: int) -> None:
        self.scope, self.receive, self.send = scope, receive, send
        self.instant, self.window = instant, window_seconds * MICROSECONDS
        self.now = int(instant.timestamp() * MICROSECONDS)
        self.started_at = time.perf_counter()
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        if len(self.headers) < len(scope["headers"]):
            self.headers = _joined(scope["headers"])
        self.method: str = scope["method"]
        path = scope["raw_path"].decode("ascii", "replace")
        self.path = canonical_path(path)
        self.is_versioned = self.path != path
        offered = self.headers.get(b"x-request-id")
        self.request_id = _request_id(offered)
        self.is_private = self.method not in ("GET", "HEAD") or b"authorization" in self.headers
        self.address = ""
        self.caller: Caller | None = None
        self.route: Route | None = None
        self.quota_status: QuotaStatus | None = None
        self.extra: Headers = []
        self.status = 0
        self.head_was_sent = self.is_admitted = False
        self.head_seconds = 0.0

    @classmethod
    def unparsed(cls, raw_path: bytes, instant: datetime, window_seconds: int) -> "Call":
        """Return a call for input that is not a valid request, so that it gets a regular error."""
        scope = {"method": "", "path": "", "raw_path": raw_path, "query_string": b"", "headers": [], "state": {}}
        return cls(scope, _disconnected, _discard, instant=instant, window_seconds=window_seconds)

    async def start(self, status: int, headers: Headers) -> None:
        """Send status and headers, including those of every response."""
        self.status = status
        self.head_was_sent = True
        self.head_seconds = time.perf_counter() - self.started_at
        headers.append((b"x-request-id", self.request_id.encode()))
        headers.append((b"api-version", b"v1"))
        if self.quota_status is not None:
            headers.extend(quota_headers(self.quota_status, self.now, self.window))
        headers.extend(self.extra)
        if self.is_private or status >= 400:
            headers.append(NO_STORE)
        await self.send({"type": "http.response.start", "status": status, "headers": headers})

    async def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a whole response."""
        if status != 204:
            headers.append((b"content-length", b"%d" % len(body)))
        await self.start(status, headers)
        await self.send({"type": "http.response.body", "body": body})

    async def respond_ok(self, payload: Payload) -> None:
        """Send the success envelope of a gateway endpoint."""
        body = envelope.render(payload, request_id=self.request_id, now=self.instant)
        await self.respond(200, [(b"content-type", JSON)], body)

    async def respond_problem(self, problem: Problem, base_url: str) -> None:
        """Send the problem document."""
        body = problems.render(
            problem, instance=_instance_of(self.scope["raw_path"]), request_id=self.request_id, base_url=base_url
        )
        headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
        await self.respond(problem.http_status, [*headers, (b"content-type", PROBLEM)], body)


async def _disconnected() -> Message:
    return {"type": "http.disconnect"}


async def _discard(_: Message) -> None:
    """Discard the message: the caller replaces `send`."""


def _joined(headers: Headers) -> dict[bytes, bytes]:
    """Join repeated headers to one list (RFC 9110, 5.3), as the service does. A header that may occur once becomes
    invalid.
    """
    joined: dict[bytes, bytes] = {}
    for name, value in headers:
        joined[name] = joined[name] + b", " + value if name in joined else value
    return joined


def _instance_of(raw_path: bytes) -> str:
    """Return the path as sent, as a URI reference of bounded length."""
    return _CUT_ESCAPE.sub("", quote(raw_path, safe="/%:@!$&'()*+,;=-._~")[:_INSTANCE_CHARACTERS_MAX])


def _request_id(offered: bytes | None) -> str:
    if offered is not None:
        text = offered.decode("latin-1")
        if is_request_id(text):
            return text
    return new_request_id()
