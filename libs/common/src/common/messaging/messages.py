"""Messages as a handler sees them, and how they are read off the wire."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

import msgspec

from common.database.unit_of_work import UnitOfWork
from common.messaging.faults import PermanentFault
from contracts.event import Event

EventT = TypeVar("EventT", bound=Event)
Payload = TypeVar("Payload", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Received:
    """The envelope of a message in hand. `attempt` counts from 1; `sequence` orders the events of one subject and publisher."""

    event_id: UUID
    type: str
    source: str
    subject: str
    sequence: int
    time: str
    attempt: int
    is_last_attempt: bool


# In its own transaction, which the inbox and the handler share, and which commits before the acknowledgement.
EventHandler = Callable[[Any, Received, UnitOfWork, Any], Awaitable[None]]
# Opens its own units of work, for work that calls a provider between them: decide, call, record.
WorkHandler = Callable[[Any, Received, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Subscription(Generic[EventT]):
    """One line of a service's subscription list: this event goes to this handler, `handler(event, received, uow, dependencies)`."""

    event: type[EventT]
    handler: EventHandler

    @property
    def consumer(self) -> str:
        return self.handler.__name__


@dataclass(frozen=True, slots=True)
class WorkItem(Generic[Payload]):
    """One line of a service's work list: items of this queue go to this handler, `handler(item, received, dependencies)`.

    The handler must be safe to repeat by itself. After the last attempt `when_exhausted(item, received, uow, error)` keeps
    what was given up, in a transaction of its own, instead of the common dead letters.
    """

    queue: str
    payload: type[Payload]
    handler: WorkHandler
    when_exhausted: Callable[[Any, Received, UnitOfWork, str], Awaitable[None]] | None = None


class _CloudEvent(msgspec.Struct, frozen=True):
    id: UUID
    type: str
    source: str
    subject: str
    sequence: int
    time: str
    data: msgspec.Raw


_decoder = msgspec.json.Decoder(_CloudEvent)


def read_envelope(body: bytes, attempt: int, *, is_last_attempt: bool) -> tuple[Received, msgspec.Raw]:
    """The envelope and the undecoded data; raises PermanentFault."""
    try:
        event = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PermanentFault(f"not a CloudEvent: {error}") from error
    received = Received(
        event.id, event.type, event.source, event.subject, event.sequence, event.time, attempt, is_last_attempt
    )
    return received, event.data


def read_payload(raw: msgspec.Raw, shape: type[Any]) -> Any:
    """The data in its shape; unknown fields are ignored; raises PermanentFault."""
    try:
        return msgspec.json.decode(raw, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PermanentFault(f"not a {shape.__name__}: {error}") from error
