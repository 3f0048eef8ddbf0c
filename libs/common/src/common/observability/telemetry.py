"""Traces from the gateway through HTTP and broker to the last consumer, and metrics. Spans are OpenTelemetry's, switched on by
`OTEL_EXPORTER_OTLP_ENDPOINT`. Without it none is recorded and none is paid for; the trace's id travels all the same, through requests
and messages into every log line, as a W3C `traceparent` that says "not sampled"."""

import asyncio
import os
import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from opentelemetry import propagate, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client import Counter, Gauge, Histogram

REQUEST_SECONDS = Histogram(
    "http_request_seconds",
    "Time from the first byte of a request to the last of its answer.",
    ["method", "route", "status"],
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
REQUESTS_IN_FLIGHT = Gauge("http_requests_in_flight", "Requests that this process is answering.")
MESSAGES_HANDLED = Counter(
    "messages_handled_total", "Messages from the broker, by what became of them.", ["queue", "type", "outcome"]
)
MESSAGE_SECONDS = Histogram("message_handling_seconds", "Time to handle one message.", ["queue", "type"])
MESSAGES_UNDER_WAY = Gauge("messages_under_way", "Messages that this process has in hand.")
MESSAGE_LAG_SECONDS = Histogram(
    "message_lag_seconds",
    "Time from the writing of a message into its outbox to the end of its handling, retries included.",
    ["queue"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900),
)
INBOX_DUPLICATES = Counter(
    "inbox_duplicates_total", "Events that a consumer had handled before and was spared.", ["consumer"]
)
OUTBOX_PUBLISHED = Counter("outbox_published_total", "Events and work items handed to the broker and confirmed.")
OUTBOX_REFUSED = Counter("outbox_refused_total", "Messages that the broker did not take; they are tried again.")
OUTBOX_WAITING = Gauge("outbox_waiting", "Messages that wait in the outbox.")
OUTBOX_AGE_SECONDS = Gauge("outbox_age_seconds", "Age of the oldest message that waits in the outbox.")
DEAD_LETTERS = Counter("dead_letters_total", "Messages given up after the last retry.", ["queue"])
DEAD_LETTERS_WAITING = Gauge("dead_letters_waiting", "Dead letters that nobody has replayed, at most 10,000.")
STALE_EVENTS = Counter(
    "stale_news_total", "Events that arrived late, for a state already passed, and were ignored.", ["type"]
)
RETENTION_ROWS_REMOVED = Counter(
    "retention_rows_removed_total", "Rows removed because they were kept long enough.", ["what"]
)
RETENTION_OVERDUE_SECONDS = Gauge(
    "retention_overdue_seconds", "How long past its time the oldest row or month is that should be gone.", ["what"]
)
RETENTION_FAILURES = Counter(
    "retention_failures_total", "Rounds in which something old could not be removed.", ["what"]
)
RETENTION_PARTITIONS = Counter("retention_partitions_total", "Monthly partitions made and dropped.", ["what", "change"])
RETENTION_ASTRAY_ROWS = Gauge(
    "retention_astray_rows", "Rows of a partitioned log that no month takes, at most 10,000.", ["what"]
)

BROADCASTS_UNHEARD_SECONDS = Gauge(
    "broadcasts_unheard_seconds",
    "How long this process has not heard what is broadcast: revocations come that much late. 0 while it listens.",
)
PREVIOUS_KEY_ACCEPTED = Counter(
    "previous_key_accepted_total",
    "Calls that the previous value of a secret let in, while it is rotated; `secret` is named as in its cadence.",
    ["secret"],
)
DATABASE_CONNECTIONS = Gauge(
    "database_connections", "Connections of the pool of one role: in use, open, and at most.", ["role", "state"]
)
EVENT_LOOP_LAG_SECONDS = Gauge(
    "event_loop_lag_seconds",
    "How much later than asked the event loop woke: above 0.1 the process is short of its core.",
)
EVENT_LOOP_SAMPLE_SECONDS: Final = 1.0

# Asked every few seconds by whoever watches, balances and verifies: their spans would bury those of the people.
UNTRACED_PATHS: Final = frozenset({"/metrics", "/health/liveness", "/health/readiness", "/.well-known/jwks.json"})

_TRACEPARENT: Final = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")

_tracer = trace.get_tracer("common")
# What is carried while no span is recorded.
_traceparent: ContextVar[str] = ContextVar("traceparent", default="")


def start(service: str) -> None:
    """Begins to export spans when an OTLP endpoint is set in the environment."""
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return
    # Imported here: it is heavy, and only a traced process needs it.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=500))
    trace.set_tracer_provider(provider)


def stop() -> None:
    """Hands over the spans that still wait."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        provider.shutdown()


def trace_headers() -> dict[str, str]:
    """The W3C trace context that a message or an HTTP call carries on: the running span's, else the carried one, else a new one."""
    if traceparent := _traceparent.get():
        return {"traceparent": traceparent}
    if trace.get_current_span().get_span_context().is_valid:
        headers: dict[str, str] = {}
        propagate.inject(headers)
        return headers
    return {"traceparent": _new_traceparent()}


def is_recording() -> bool:
    """Whether spans are recorded in this process."""
    return isinstance(trace.get_tracer_provider(), TracerProvider)


def continue_trace(traceparent: str | None = None) -> None:
    """While no span is recorded: continues this trace in the running task, or begins a new one for what is none."""
    known = traceparent is not None and _TRACEPARENT.fullmatch(traceparent)
    _traceparent.set(traceparent if traceparent and known else _new_traceparent())


@contextmanager
def span(name: str, kind: SpanKind = SpanKind.INTERNAL, headers: Mapping[str, str] | None = None) -> Iterator[None]:
    """A span that continues the carried trace context, or else the running one. Where none is recorded, the context alone."""
    if not is_recording():
        before = _traceparent.set("")
        continue_trace((headers or {}).get("traceparent"))
        try:
            yield
        finally:
            _traceparent.reset(before)
        return
    context = propagate.extract(headers) if headers else None
    # What an error says may name a person; the log redacts it, a trace would show it as it is.
    with _tracer.start_as_current_span(name, context=context, kind=kind, record_exception=False):
        yield


def record_response(method: str, route: str, status: int) -> None:
    """What the running span answered: by the route's template, since a path holds the ids of people and orders."""
    running = trace.get_current_span()
    running.update_name(f"{method} {route}")
    running.set_attributes({"http.request.method": method, "http.route": route, "http.response.status_code": status})
    if status >= 500:
        running.set_status(StatusCode.ERROR)


def record_failure(error: BaseException) -> None:
    """The running span failed: with an error of this kind, without its words."""
    running = trace.get_current_span()
    running.set_attribute("error.type", type(error).__name__)
    running.set_status(StatusCode.ERROR)


def trace_id() -> str | None:
    """The id of the running trace, 32 hex digits, for the log."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        return format(context.trace_id, "032x")
    return _traceparent.get()[3:35] or None


def _new_traceparent() -> str:
    # Nobody must be unable to guess it: a generator of the process costs a tenth of two calls to the system.
    return f"00-{random.getrandbits(128):032x}-{random.getrandbits(64):016x}-00"


async def watch_event_loop() -> None:
    """Measures until cancelled how late the event loop wakes who sleeps."""
    loop = asyncio.get_running_loop()
    while True:
        began = loop.time()
        await asyncio.sleep(EVENT_LOOP_SAMPLE_SECONDS)
        EVENT_LOOP_LAG_SECONDS.set(max(0.0, loop.time() - began - EVENT_LOOP_SAMPLE_SECONDS))
