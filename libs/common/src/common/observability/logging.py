"""Structured logs: one JSON object per line, with request and trace ids, without secrets."""

import logging as standard_logging
import re
import sys
from contextvars import ContextVar
from typing import Any, Final

import msgspec
import structlog
from structlog.typing import EventDict, Processor

from common.observability.telemetry import trace_id

REDACTED = "[redacted]"

_SECRET_NAME = re.compile(
    r"(^|_)(pin|otp|code|password|secret|token|key|authorization|cookie|signature|account_number|bvn|totp)s?($|_)",
    re.IGNORECASE,
)
_HARMLESS_NAMES = frozenset(
    {"posting_key", "status_code", "bank_code", "error_code", "routing_key", "dedup_key", "code_id", "exit_code"}
)
_SECRET_SHAPE = re.compile(r"eyJ[\w-]{4,}\.[\w-]+\.[\w-]*|Bearer\s+\S+|(?<=://)[^/@\s]+:[^/@\s]+(?=@)", re.ASCII)


# The id of the request that the current task handles. structlog's own binding costs ten times as much per request.
REQUEST_ID: Final[ContextVar[str]] = ContextVar("request_id", default="")

# Before `start`, as in tests, tracebacks are plain, without the values of local variables.
structlog.configure(processors=[structlog.processors.format_exc_info, structlog.dev.ConsoleRenderer(colors=False)])


def start(service: str, level: str = "INFO") -> None:
    """Send every log record of the process, libraries included, to standard output as JSON lines."""
    shared: list[Processor] = [
        _named(service),
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        _add_context,
        redact,
    ]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    line = standard_logging.StreamHandler(sys.stdout)
    line.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                redact,
                structlog.processors.JSONRenderer(serializer=_to_json),
            ],
        )
    )
    root = standard_logging.getLogger()
    root.handlers = [line]
    root.setLevel(level)
    for chatty in ("uvicorn.access", "aio_pika", "httpx", "httpcore"):
        standard_logging.getLogger(chatty).setLevel("WARNING")
    # These libraries log every connection attempt; `Outage` logs an outage once.
    standard_logging.getLogger("asyncpg.pool").setLevel("ERROR")
    standard_logging.getLogger("aiormq").setLevel("CRITICAL")


def get_logger(name: str) -> Any:
    """Return the logger of a module. An event is a short sentence: what failed and why; facts are keyword arguments."""
    return structlog.stdlib.get_logger(name)


def redact(_: object, __: str, event: EventDict) -> EventDict:
    """Redacts values with the name of a secret, and texts in the form of a secret."""
    for name, value in event.items():
        event[name] = _redacted(name, value)
    return event


def _redacted(name: str, value: object) -> object:
    if _SECRET_NAME.search(name) and name not in _HARMLESS_NAMES:
        return REDACTED
    if isinstance(value, str):
        return _SECRET_SHAPE.sub(REDACTED, value)
    if isinstance(value, dict):
        return {inner: _redacted(str(inner), content) for inner, content in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(name, content) for content in value]
    return value


def _named(service: str) -> Processor:
    """Return the processor that adds the service to every line, those of libraries and other contexts included."""

    def add_service(_: object, __: str, event: EventDict) -> EventDict:
        event.setdefault("service", service)
        return event

    return add_service


def _add_context(_: object, __: str, event: EventDict) -> EventDict:
    running = trace_id()
    if running:
        event["trace_id"] = running
    if request_id := REQUEST_ID.get():
        event.setdefault("request_id", request_id)
    return event


def _to_json(value: object, **_: object) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()
