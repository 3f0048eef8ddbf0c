"""One request at the edge: what is known of it so far, and how it is answered with the headers that every answer carries."""

import re
import time
from datetime import datetime
from typing import Final
from urllib.parse import quote

from starlette.types import Message, Receive, Scope, Send

from api_gateway.headers import NO_STORE, Headers, quota_headers
from api_gateway.routing import Route, canonical_path
from api_gateway.sliding_window import MICROSECONDS, QuotaStatus
from common.auth.caller import Caller
from common.primitives import problems
from common.primitives.ids import is_request_id, new_request_id
from common.primitives.problems import Problem
from common.web import envelope

PROBLEM: Final = b"application/problem+json"
JSON: Final = b"application/json"


# Longer than every path that the API knows; a refusal does not repeat 8 KiB of its request.
_INSTANCE_CHARACTERS_MAX: Final = 512
_CUT_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]?$")


class Call:
    """A request in work. `now` and `window` are microseconds."""

    __slots__ = (
        "address",
        "began",
        "caller",
        "extra",
        "head_was_sent",
        "headers",
        "instant",
        "is_private",
        "method",
        "now",
        "path",
        "receive",
        "request_id",
        "route",
        "scope",
        "send",
        "standing",
        "status",
        "window",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, instant: datetime, window_seconds: int) -> None:
        self.scope, self.receive, self.send = scope, receive, send
        self.instant, self.window = instant, window_seconds * MICROSECONDS
        self.now = int(instant.timestamp() * MICROSECONDS)
        self.began = time.perf_counter()
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        if len(self.headers) < len(scope["headers"]):
            self.headers = _joined(scope["headers"])
        self.method: str = scope["method"]
        self.path = canonical_path(scope["raw_path"].decode("ascii", "replace"))
        offered = self.headers.get(b"x-request-id")
        self.request_id = _request_id(offered)
        self.is_private = self.method not in ("GET", "HEAD") or b"authorization" in self.headers
        self.address = ""
        self.caller: Caller | None = None
        self.route: Route | None = None
        self.standing: QuotaStatus | None = None
        self.extra: Headers = []
        self.status = 0
        self.head_was_sent = False

    @classmethod
    def unread(cls, raw_path: bytes, instant: datetime, window_seconds: int) -> "Call":
        """What could not be read as a request, so that it is answered like one."""
        scope = {"method": "", "path": "", "raw_path": raw_path, "query_string": b"", "headers": [], "state": {}}
        return cls(scope, _nothing, _nowhere, instant=instant, window_seconds=window_seconds)

    async def start(self, status: int, headers: Headers) -> None:
        """Sends status and headers, and with them what stands on every answer."""
        self.status = status
        self.head_was_sent = True
        headers.append((b"x-request-id", self.request_id.encode()))
        headers.append((b"api-version", b"v1"))
        if self.standing is not None:
            headers.extend(quota_headers(self.standing, self.now, self.window))
        headers.extend(self.extra)
        if self.is_private or status >= 400:
            headers.append(NO_STORE)
        await self.send({"type": "http.response.start", "status": status, "headers": headers})

    async def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """A whole answer."""
        if status != 204:
            headers.append((b"content-length", b"%d" % len(body)))
        await self.start(status, headers)
        await self.send({"type": "http.response.body", "body": body})

    async def succeed(self, payload: object) -> None:
        """The success envelope of an endpoint of the gateway's own."""
        body = envelope.render(payload, request_id=self.request_id, now=self.instant)
        await self.answer(200, [(b"content-type", JSON)], body)

    async def refuse(self, problem: Problem, base_url: str) -> None:
        """The problem document."""
        body = problems.render(
            problem, instance=_instance_of(self.scope["raw_path"]), request_id=self.request_id, base_url=base_url
        )
        headers = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
        await self.answer(problem.answer_status, [*headers, (b"content-type", PROBLEM)], body)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


async def _nowhere(_: Message) -> None:
    """Its sender is set by who asked for it."""


def _joined(headers: Headers) -> dict[bytes, bytes]:
    """A header that was sent twice is one list (RFC 9110, 5.3), here and at the service: what may stand once only is then no good value."""
    joined: dict[bytes, bytes] = {}
    for name, value in headers:
        joined[name] = joined[name] + b", " + value if name in joined else value
    return joined


def _instance_of(raw_path: bytes) -> str:
    """The path as it was sent, as a URI reference of bounded length."""
    return _CUT_ESCAPE.sub("", quote(raw_path, safe="/%:@!$&'()*+,;=-._~")[:_INSTANCE_CHARACTERS_MAX])


def _request_id(offered: bytes | None) -> str:
    if offered is not None:
        text = offered.decode("latin-1")
        if is_request_id(text):
            return text
    return new_request_id()
