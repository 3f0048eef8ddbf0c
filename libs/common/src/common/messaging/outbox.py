"""The transactional outbox: an event is a row of the transaction that caused it; `common.messaging.relay` publishes it.

Every message to the broker is published through the outbox.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import msgspec

from common.primitives.ids import new_id
from contracts.event import Event

# `sequence` grows by one for each subject and publisher (events.md), under the lock of the subject's row here.
APPEND: Final = """
WITH next AS (
    INSERT INTO outbox_sequences AS s (subject, last) VALUES ($5, 1)
    ON CONFLICT (subject) DO UPDATE SET last = s.last + 1
    RETURNING last
)
INSERT INTO outbox (id, queue, type, source, subject, sequence, payload, trace)
SELECT $1, $2, $3, $4, $5, next.last, $6, $7 FROM next
"""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One message to publish, as the values of `APPEND`."""

    row: tuple[UUID, str | None, str, str, str, bytes, Mapping[str, str]]


def event_row(event: Event, trace: Mapping[str, str], source: str | None) -> OutboxRow:
    """An event for the exchange. `source` is its publisher, for types that do not name one (operations)."""
    publisher = source or event.publisher()
    payload = msgspec.json.encode(event)
    return OutboxRow((new_id(), None, event.TYPE, f"/services/{publisher}", event.subject, payload, trace))


def work_row(queue: str, subject: str, payload: Mapping[str, Any], trace: Mapping[str, str]) -> OutboxRow:
    """A work item for a queue of the same service."""
    service = queue.split(".", 1)[0]
    return OutboxRow((new_id(), queue, queue, f"/services/{service}", subject, msgspec.json.encode(payload), trace))
