"""Structured logs: one JSON object a line, with request and trace ids, and nothing secret in them."""

import logging as standard_logging
import re
import sys
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any, Final

import msgspec
import structlog

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


# Of the request that the running task answers. structlog's own binding costs ten times as much, for every request.
REQUEST_ID: Final[ContextVar[str]] = ContextVar("request_id", default="")

# Until `start` is called (in a test, say) a traceback is plain: never with the values of local variables in it.
structlog.configure(processors=[structlog.processors.format_exc_info, structlog.dev.ConsoleRenderer(colors=False)])


def start(service: str, level: str = "INFO") -> None:
    """Sends every log record of the process, libraries included, to standard output as JSON lines."""
    shared: list[Any] = [
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
    structlog.contextvars.bind_contextvars(service=service)
    for chatty in ("uvicorn.access", "aio_pika", "httpx", "httpcore"):
        standard_logging.getLogger(chatty).setLevel("WARNING")
    # Each try of a connection is a line or a traceback there; that a server is away, and its error, is said once, by us.
    standard_logging.getLogger("asyncpg.pool").setLevel("ERROR")
    standard_logging.getLogger("aiormq").setLevel("CRITICAL")


def get_logger(name: str) -> Any:
    """The logger of a module. Events are sentences in the past tense; facts are keyword arguments."""
    return structlog.stdlib.get_logger(name)


def redact(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Blanks values whose name says secret, and secret shapes inside any text."""
    for name, value in event.items():
        event[name] = _redacted(name, value)
    return event


def _redacted(name: str, value: Any) -> Any:
    if _SECRET_NAME.search(name) and name not in _HARMLESS_NAMES:
        return REDACTED
    if isinstance(value, str):
        return _SECRET_SHAPE.sub(REDACTED, value)
    if isinstance(value, dict):
        return {inner: _redacted(str(inner), content) for inner, content in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(name, content) for content in value]
    return value


def _add_context(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    running = trace_id()
    if running:
        event["trace_id"] = running
    if request_id := REQUEST_ID.get():
        event.setdefault("request_id", request_id)
    return event


def _to_json(value: Any, **_: Any) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()
