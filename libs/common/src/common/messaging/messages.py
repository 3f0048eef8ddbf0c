"""Messages for handlers, and their decoding."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.messaging.faults import PermanentFault
from contracts.event import Event

Payload = TypeVar("Payload", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Received:
    """The envelope of a message, and the context of its trace.

    `attempt` starts at 1; `sequence` orders the events of one subject and publisher.
    """

    event_id: UUID
    type: str
    source: str
    subject: str
    sequence: int
    time: str
    attempt: int
    is_last_attempt: bool
    trace: Mapping[str, str] = field(default_factory=dict)


class Outcome(Enum):
    """The effect of an event on the service that handled it."""

    APPLIED = "applied"
    DUPLICATE = "duplicate"
    """Its effect was there already, from another message."""
    IGNORED = "ignored"
    """It does not concern this service, or its state does not allow the effect."""
    STALE = "stale"
    """It is about an earlier state than the one known here; counted as such."""


def applied_if(is_newer: bool) -> Outcome:
    """Return the outcome of an event that a later one may have overtaken."""
    return Outcome.APPLIED if is_newer else Outcome.STALE


# Runs in the unit of work of its inbox row, which commits before the acknowledgement. None means applied.
EventHandler = Callable[[Any, Received, Any, Any], Awaitable[Outcome | None]]
# Opens its own units of work, for work that calls a provider between them: decide, call, record.
WorkHandler = Callable[[Any, Received, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription of a service: the event and its handler, `handler(event, received, uow, dependencies)`.

    An event that is handled `alone` never shares a transaction: its handler locks rows of several aggregates. Of one
    that `starts_late` the transaction starts with the first write or lock, and one last write is a statement alone.
    """

    event: type[Event]
    handler: EventHandler
    alone: bool = False
    starts_late: bool = False

    @property
    def consumer(self) -> str:
        return self.handler.__name__


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A work queue of a service and its handler, `handler(item, received, dependencies)`.

    The handler must be idempotent. After the last attempt `when_exhausted(item, received, uow, error)` records the
    failure in its own transaction, instead of a dead letter.
    """

    queue: str
    payload: type[msgspec.Struct]
    handler: WorkHandler
    when_exhausted: Callable[[Any, Received, UnitOfWork, str], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Handlers:
    """The subscriptions and work items of a service, and how its events share transactions.

    An event waits up to `linger_seconds` for others, with which it shares a transaction. `lock_by` names the fields
    of events with the ids of the locked rows, the first lock first; the subject follows.
    """

    subscriptions: Sequence[Subscription]
    work_items: Sequence[WorkItem] = ()
    linger_seconds: float = 0.0
    lock_by: Sequence[str] = ()


class _CloudEvent(msgspec.Struct, frozen=True):
    id: UUID
    type: str
    source: str
    subject: str
    sequence: int
    time: str
    data: msgspec.Raw


_decoder = msgspec.json.Decoder(_CloudEvent)


def read_envelope(
    body: bytes, attempt: int, *, is_last_attempt: bool, trace: Mapping[str, str] | None = None
) -> tuple[Received, msgspec.Raw]:
    """Decode the envelope, not the data. Raises PermanentFault."""
    try:
        event = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PermanentFault(f"not a CloudEvent: {error}") from error
    received = Received(
        event.id,
        event.type,
        event.source,
        event.subject,
        event.sequence,
        event.time,
        attempt,
        is_last_attempt,
        trace or {},
    )
    return received, event.data


def read_payload(raw: msgspec.Raw, shape: type[Payload]) -> Payload:
    """Decode the data; unknown fields are ignored. Raises PermanentFault."""
    try:
        return msgspec.json.decode(raw, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PermanentFault(f"not a {shape.__name__}: {error}") from error
