"""Traces from the edge through HTTP and broker to the last consumer, and metrics.

`OTEL_EXPORTER_OTLP_ENDPOINT` switches the OpenTelemetry spans on. Without it no span is recorded, at no cost. The trace
id still passes through requests and messages into every log line, as a W3C `traceparent` without the sampled flag.
"""

import asyncio
import os
import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from typing import Final

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client import Counter, Gauge, Histogram

REQUEST_SECONDS = Histogram(
    "http_request_seconds",
    "Seconds from the first byte of a request to the last of its response.",
    ["method", "route", "status"],
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
REQUESTS_IN_FLIGHT = Gauge("http_requests_in_flight", "Requests that this process is handling.")
MESSAGES_HANDLED = Counter(
    "messages_handled_total", "Messages from the broker, by outcome.", ["queue", "type", "outcome"]
)
MESSAGE_SECONDS = Histogram("message_handling_seconds", "Seconds to handle one message.", ["queue", "type"])
MESSAGES_UNDER_WAY = Gauge("messages_under_way", "Messages that this process is handling.")
MESSAGE_LAG_SECONDS = Histogram(
    "message_lag_seconds",
    "Seconds from the insertion of a message into its outbox to the end of its handling, retries included.",
    ["queue"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900),
)
INBOX_DUPLICATES = Counter(
    "inbox_duplicates_total", "Repeated events that a consumer had handled before and skipped.", ["consumer"]
)
OUTBOX_PUBLISHED = Counter("outbox_published_total", "Events and work items that the broker confirmed.")
OUTBOX_REFUSED = Counter("outbox_refused_total", "Messages that the broker did not confirm; they are published again.")
OUTBOX_WAITING = Gauge("outbox_waiting", "Messages that wait in the outbox.")
OUTBOX_AGE_SECONDS = Gauge("outbox_age_seconds", "Age in seconds of the oldest message that waits in the outbox.")
DEAD_LETTERS = Counter("dead_letters_total", "Messages stored as dead letters after the last retry.", ["queue"])
DEAD_LETTERS_WAITING = Gauge("dead_letters_waiting", "Dead letters that were not replayed, counted up to 10,000.")
STALE_EVENTS = Counter("stale_news_total", "Late events for an earlier state, which were ignored.", ["type"])
RETENTION_ROWS_REMOVED = Counter("retention_rows_removed_total", "Rows removed after their retention period.", ["what"])
RETENTION_OVERDUE_SECONDS = Gauge(
    "retention_overdue_seconds", "Seconds since the oldest remaining row or month should have been removed.", ["what"]
)
RETENTION_FAILURES = Counter("retention_failures_total", "Rounds in which expired rows could not be removed.", ["what"])
RETENTION_PARTITIONS = Counter(
    "retention_partitions_total", "Monthly partitions created and dropped.", ["what", "change"]
)
RETENTION_ASTRAY_ROWS = Gauge(
    "retention_astray_rows", "Rows of a partitioned log without a monthly partition, counted up to 10,000.", ["what"]
)

BROADCASTS_UNHEARD_SECONDS = Gauge(
    "broadcasts_unheard_seconds",
    "Seconds for which this process has received no broadcasts, such as revocations. 0 while it is subscribed.",
)
PREVIOUS_KEY_ACCEPTED = Counter(
    "previous_key_accepted_total",
    "Uses of the previous value of a secret during its rotation; `secret` is its name in the rotation schedule.",
    ["secret"],
)
DATABASE_CONNECTIONS = Gauge(
    "database_connections", "Connections in the pool of one role: in use, open, and the maximum.", ["role", "state"]
)
EVENT_LOOP_LAG_SECONDS = Gauge(
    "event_loop_lag_seconds",
    "Seconds by which the event loop woke late; above 0.1 the process lacks CPU.",
)
CERTIFICATE_ENDS_AT = Gauge(
    "server_certificate_expiration_timestamp_seconds",
    "When the certificate of this process ends, Unix time; only with TLS of its own.",
    ["name"],
)
BUILD_INFO = Gauge("build_info", "Always 1; `version` is the release that this process runs.", ["version"])
# Each scrape reads the last sample.
EVENT_LOOP_SAMPLE_SECONDS: Final = 5.0

# Monitoring, load balancers and verifiers call these every few seconds; their spans would hide those of users.
UNTRACED_PATHS: Final = frozenset(
    {"/metrics", "/health/liveness", "/health/serving", "/health/readiness", "/.well-known/jwks.json"}
)

_TRACEPARENT: Final = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")

_tracer = trace.get_tracer("common")
# The trace context while no span is recorded.
_traceparent: ContextVar[str] = ContextVar("traceparent", default="")


def start(service: str) -> None:
    """Record the version, and start the export of spans when the environment sets an OTLP endpoint."""
    release = version("campus-common")
    BUILD_INFO.labels(release).set(1)
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return
    # Imported here, because the import is expensive and only traced processes need it.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from common.observability.sampling import sampler_named

    provider = TracerProvider(
        sampler_named(os.environ.get("OTEL_TRACES_SAMPLER", ""), os.environ.get("OTEL_TRACES_SAMPLER_ARG", "")),
        Resource.create({"service.name": service, "service.version": release}),
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=500))
    trace.set_tracer_provider(provider)


def stop() -> None:
    """Export the remaining spans."""
    if shutdown := getattr(trace.get_tracer_provider(), "shutdown", None):
        shutdown()


def trace_headers() -> dict[str, str]:
    """Return the W3C trace context for a message or HTTP call: of the current span, else the received one, else a new
    one.
    """
    if traceparent := _traceparent.get():
        return {"traceparent": traceparent}
    if trace.get_current_span().get_span_context().is_valid:
        headers: dict[str, str] = {}
        propagate.inject(headers)
        return headers
    return {"traceparent": _new_traceparent()}


def is_recording() -> bool:
    """Return whether spans are recorded in this process."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def continue_trace(traceparent: str | None = None) -> None:
    """Continues a trace in the current task without a span; starts a new one when `traceparent` is invalid."""
    known = traceparent is not None and _TRACEPARENT.fullmatch(traceparent)
    _traceparent.set(traceparent if traceparent and known else _new_traceparent())


@contextmanager
def span(
    name: str,
    kind: SpanKind = SpanKind.INTERNAL,
    headers: Mapping[str, str] | None = None,
    attributes: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Yield a span in the trace of `headers`, else in the current one. Without recording, only the trace context is
    set.
    """
    if not is_recording():
        before = _traceparent.set("")
        continue_trace((headers or {}).get("traceparent"))
        try:
            yield
        finally:
            _traceparent.reset(before)
        return
    context = propagate.extract(headers) if headers else None
    # The text of an error may hold personal data, which the log redacts but a trace would not.
    with _tracer.start_as_current_span(
        name,
        context=context,
        kind=kind,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ):
        yield


def message_attributes(exchange: str, queue: str, event_type: str, message_id: str) -> dict[str, str]:
    """Return the attributes of a consumer's span, by OpenTelemetry's conventions for messaging."""
    return {
        "messaging.system": "rabbitmq",
        "messaging.operation.type": "process",
        "messaging.operation.name": "process",
        "messaging.destination.name": exchange,
        "messaging.destination.subscription.name": queue,
        "messaging.rabbitmq.destination.routing_key": event_type,
        "messaging.message.id": message_id,
    }


@contextmanager
def database_span(operation: str, namespace: str, failures: tuple[type[Exception], ...]) -> Iterator[None]:
    """Yield the span of a transaction, or of a statement that is one, by OpenTelemetry's conventions for databases.

    Only `failures` mark it: a rejection that ends a transaction is no failure of the database. Statements have no
    spans, because their number would hide the transactions.
    """
    if not is_recording():
        yield
        return
    attributes = {"db.system.name": "postgresql", "db.namespace": namespace, "db.operation.name": operation}
    with span(f"{operation} {namespace}", SpanKind.CLIENT, attributes=attributes):
        try:
            yield
        except failures as error:
            record_failure(error)
            raise


def record_response(method: str, route: str, status: int) -> None:
    """Record method, status and route template on the current span; a path would hold ids of users and orders."""
    running = trace.get_current_span()
    running.update_name(f"{method} {route}")
    running.set_attributes({"http.request.method": method, "http.route": route, "http.response.status_code": status})
    if status >= 500:
        running.set_status(StatusCode.ERROR)


def record_failure(error: BaseException) -> None:
    """Record the error's type, without its text, on the current span."""
    running = trace.get_current_span()
    running.set_attribute("error.type", type(error).__name__)
    running.set_status(StatusCode.ERROR)


def trace_id() -> str | None:
    """Return the id of the current trace, 32 hex digits, for the log."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        return format(context.trace_id, "032x")
    return _traceparent.get()[3:35] or None


def _new_traceparent() -> str:
    # A trace id need not be secret, so a pseudo-random generator suffices, at a tenth of the cost of system calls.
    return f"00-{random.getrandbits(128):032x}-{random.getrandbits(64):016x}-00"


async def watch_event_loop() -> None:
    """Measures the lag of the event loop until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        started = loop.time()
        await asyncio.sleep(EVENT_LOOP_SAMPLE_SECONDS)
        EVENT_LOOP_LAG_SECONDS.set(max(0.0, loop.time() - started - EVENT_LOOP_SAMPLE_SECONDS))
