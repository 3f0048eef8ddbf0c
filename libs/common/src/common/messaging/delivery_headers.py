"""The headers of our own messages: the attempt, the trace, and the first dead letter of a replay."""

from typing import Final
from uuid import UUID

from aio_pika.abc import AbstractIncomingMessage

from common.messaging.dead_letters import DEAD_LETTER_HEADER
from common.primitives.ids import parse_uuid

ATTEMPT_HEADER: Final = "x-attempt"


def attempt_of(message: AbstractIncomingMessage) -> int:
    """Return the number of the attempt, from 1."""
    attempt = message.headers.get(ATTEMPT_HEADER)
    return attempt if isinstance(attempt, int) and attempt > 0 else 1


def replay_of(message: AbstractIncomingMessage) -> UUID | None:
    """Return the first dead letter of a replayed message; None for any other message."""
    return parse_uuid(str(message.headers.get(DEAD_LETTER_HEADER, "")))


def trace_of(message: AbstractIncomingMessage) -> dict[str, str]:
    """Return the headers of the trace."""
    return {name: str(value) for name, value in message.headers.items() if name in ("traceparent", "tracestate")}


def own_headers(message: AbstractIncomingMessage) -> dict[str, object]:
    """Return our own headers, without the broker's `x-death`, which grows with every retry."""
    headers: dict[str, object] = {
        name: value for name, value in message.headers.items() if name in ("traceparent", "tracestate", ATTEMPT_HEADER)
    }
    if (first_id := replay_of(message)) is not None:
        headers[DEAD_LETTER_HEADER] = str(first_id)
    return headers
