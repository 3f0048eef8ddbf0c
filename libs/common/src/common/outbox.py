"""The transactional outbox: an event is a row of the transaction that made it true, and leaves by the relay.

The only way to the broker. The relay is in `common.relay`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.ids import new_id
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
class Leaving:
    """One message on its way out, as the values of `APPEND`."""

    row: tuple[UUID, str | None, str, str, str, bytes, Mapping[str, str]]


def event_leaving(event: Event, trace: Mapping[str, str], source: str | None) -> Leaving:
    """An event for the exchange. `source` is the service that says it, where the type does not tell (operations)."""
    speaker = source or event.publisher()
    payload = msgspec.json.encode(event)
    return Leaving((new_id(), None, event.TYPE, f"/services/{speaker}", event.subject, payload, trace))


def work_leaving(queue: str, subject: str, payload: Mapping[str, Any], trace: Mapping[str, str]) -> Leaving:
    """A work item for one queue of the service itself."""
    service = queue.split(".", 1)[0]
    return Leaving((new_id(), queue, queue, f"/services/{service}", subject, msgspec.json.encode(payload), trace))


def attach_tables(metadata: sa.MetaData) -> None:
    """The outbox's tables in a service's metadata, for `alembic check`."""
    sa.Table(
        "outbox",
        metadata,
        sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("queue", sa.Text),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.Column("trace", JSONB, nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("next_attempt_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("published_at", sa.TIMESTAMP(timezone=True)),
        sa.Index("outbox_waiting", "position", postgresql_where=sa.text("published_at IS NULL")),
        sa.Index("outbox_published", "published_at", postgresql_where=sa.text("published_at IS NOT NULL")),
    )
    sa.Table(
        "outbox_sequences",
        metadata,
        sa.Column("subject", sa.Text, primary_key=True),
        sa.Column("last", sa.BigInteger, nullable=False),
    )
