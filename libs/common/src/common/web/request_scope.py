"""The outermost ASGI layer of a service: request id, span, metrics, and logging of bugs."""

import time
from typing import Final

from opentelemetry.trace import SpanKind
from prometheus_client import Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from common.observability import telemetry
from common.observability.logging import REQUEST_ID, get_logger
from common.primitives.changing import CHANGES
from common.primitives.ids import is_request_id, new_request_id

log = get_logger(__name__)

_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_TRACE_HEADERS: Final = frozenset({b"traceparent", b"tracestate", b"x-request-id"})


class RequestScope:
    """Adds request id, span and metrics to each request, and logs unhandled exceptions."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._records_spans = telemetry.is_recording()
        self._seconds: dict[tuple[str, str, int], Histogram] = {}
        self._in_flight = 0
        self._is_draining = False
        telemetry.REQUESTS_IN_FLIGHT.set_function(lambda: self._in_flight)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in _TRACE_HEADERS
        }
        offered = headers.get("x-request-id", "")
        request_id = offered if is_request_id(offered) else new_request_id()
        scope.setdefault("state", {})["request_id"] = request_id
        REQUEST_ID.set(request_id)
        CHANGES.set(scope["method"] not in _READING)
        started, status = time.perf_counter(), 500
        self._in_flight += 1

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
                if self._is_draining:
                    message["headers"].append((b"connection", b"close"))
            await send(message)

        try:
            # The span machinery costs 15 us, even when nothing is recorded.
            if self._records_spans and scope["path"] not in telemetry.UNTRACED_PATHS:
                with telemetry.span(scope["method"], SpanKind.SERVER, headers):
                    try:
                        await self._run(scope, receive, send_with_id)
                    finally:
                        telemetry.record_response(scope["method"], _route_of(scope), status)
            else:
                telemetry.continue_trace(headers.get("traceparent"))
                await self._run(scope, receive, send_with_id)
        finally:
            self._in_flight -= 1
            self._measured(scope["method"], _route_of(scope), status).observe(time.perf_counter() - started)

    def start_draining(self) -> None:
        """Make every response the last of its connection, so that clients reconnect to another instance."""
        self._is_draining = True

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            # `respond_internal_error` has responded; the framework raises the exception again for logging.
            log.error("unhandled exception", path=scope["path"], exc_info=error)

    def _measured(self, method: str, route: str, status: int) -> Histogram:
        """Return the cached histogram of these labels: its lookup costs more than an observation."""
        known = self._seconds.get((method, route, status))
        if known is None:
            known = self._seconds[method, route, status] = telemetry.REQUEST_SECONDS.labels(method, route, status)
        return known


def _route_of(scope: Scope) -> str:
    route: str = getattr(scope.get("route"), "path", "unknown")
    return route
