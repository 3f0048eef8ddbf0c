"""The server span of a request at the edge.

A client's trace context is not continued, because it could force sampling or join foreign traces: it becomes a link. A
trusted proxy's context is continued.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import propagate, trace
from opentelemetry.trace import Link, SpanKind

from api_gateway.call import Call
from common.observability import telemetry


class ServerSpans:
    """Spans are recorded only while tracing is on; otherwise `start_trace` only sets the trace id."""

    def __init__(self) -> None:
        self.recording = telemetry.is_recording()
        self._tracer = trace.get_tracer("api_gateway")

    @staticmethod
    def start_trace(call: Call, *, trusted: bool) -> None:
        """Start a trace without spans, for the logs here and in the services."""
        offered = call.headers.get(b"traceparent") if trusted else None
        telemetry.continue_trace(None if offered is None else offered.decode("latin-1"))

    @contextmanager
    def of(self, call: Call, *, trusted: bool) -> Iterator[None]:
        """Run a call inside its span."""
        headers_found = {
            name: call.headers[name.encode()].decode("latin-1")
            for name in ("traceparent", "tracestate")
            if name.encode() in call.headers
        }
        offered = propagate.extract(headers_found) if headers_found else None
        links = []
        if offered is not None and not trusted:
            links = [Link(trace.get_current_span(offered).get_span_context())]
            offered = None
        # Spans never contain the path as sent: it may hold ids and arbitrary text.
        with self._tracer.start_as_current_span(
            call.method, context=offered, kind=SpanKind.SERVER, links=links, record_exception=False
        ) as span:
            try:
                yield
            finally:
                route = call.route.path if call.route is not None else "unknown"
                telemetry.record_response(call.method, route, call.status)
                span.set_attribute("campus.request_id", call.request_id)
