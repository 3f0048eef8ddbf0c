"""SQL for webhooks and their dead letters."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from common.database.outbox import Attached, OutboxRow, Writes, work_row
from common.database.single_statements import commit_alone
from common.database.state_changes import StateChanged
from common.database.unit_of_work import (
    Database,
    Reads,
    UnitOfWork,
)
from common.observability.telemetry import trace_headers
from common.primitives.ids import parse_uuid
from payments.domain.webhooks import PROVIDER, Arrival, storable_text
from providers.gateways import GatewayName


class QueuedWebhook(NamedTuple):
    """A recorded webhook; `outcome` is `queued` until it is processed."""

    event_type: str
    raw: bytes
    outcome: str
    arrived_at: datetime
    gateway: GatewayName


# The hot path: deduplication row and work item in one statement, one round trip, one commit (performance.md). The
# webhook's unique id is the subject, so its sequence is 1.
_ACCEPT_WEBHOOK: Final = """
WITH arrived AS (
    INSERT INTO processed_webhook_events (id, provider, event_type, payload, raw, outcome, gateway)
    VALUES ($1, $2, $3, $4, $5, 'queued', $9)
    ON CONFLICT (id) DO NOTHING
    RETURNING id
)
INSERT INTO outbox (id, queue, type, source, subject, sequence, payload, trace, next_attempt_at)
SELECT $6, 'payments.webhooks', 'payments.webhooks', '/services/payments', arrived.id, 1, $7, $8,
    clock_timestamp() + make_interval(secs => $10)
FROM arrived
RETURNING created_at, CASE WHEN $11 THEN NULL ELSE set_config('synchronous_commit', 'off', true) END
"""


async def record_webhook_if_new(
    database: Database, gateway: GatewayName, arrival: Arrival, raw: bytes, *, is_json: bool, is_durable: bool = True
) -> OutboxRow | None:
    """Commit the webhook and its work item together. None for a duplicate, which may still be committing elsewhere.

    Unless `is_durable` the commit does not wait for the disk: a later one must, before the gateway has its response.
    Raises DatabaseUnavailable when nothing could be committed.
    """
    if is_json:
        try:
            # The raw bytes save encoding the parsed body again, which would cost more than the statement.
            return await _record_webhook(database, gateway, arrival, raw, msgspec.Raw(raw), is_durable)
        except (asyncpg.DataError, asyncpg.ProgramLimitExceededError):
            # jsonb cannot hold this JSON: U+0000, a lone surrogate, a number or a depth beyond its bounds.
            pass
    return await _record_webhook(database, gateway, arrival, raw, storable_text(raw), is_durable)


async def _record_webhook(
    database: Database,
    gateway: GatewayName,
    arrival: Arrival,
    raw: bytes,
    payload: msgspec.Raw | str,
    is_durable: bool,
) -> OutboxRow | None:
    work = work_row("payments.webhooks", arrival.id, {"webhookId": arrival.id}, trace_headers())
    accepted = (
        arrival.id,
        PROVIDER,
        arrival.event_type,
        payload,
        raw,
        work.id,
        work.payload,
        work.trace,
        gateway,
        database.handover.lease_seconds,
        is_durable,
    )
    rows = await commit_alone(database, _ACCEPT_WEBHOOK, *accepted)
    return replace(work, created_at=rows[0]["created_at"]) if rows else None


# The bytes are returned only when they differ: most duplicates are identical.
_FIND_OTHER: Final = """
SELECT raw, pg_logical_emit_message(true, 'campus', 'confirm')
FROM (SELECT) AS repetition LEFT JOIN processed_webhook_events ON id = $1 AND raw <> $2
"""


async def find_other_body(database: Database, webhook_id: str, raw: bytes) -> bytes | None:
    """Return the recorded bytes of this key when they differ from `raw`, else None. Raises DatabaseUnavailable.

    A repetition is acknowledged only when the first one's record is on a second machine, so this waits for it.
    """
    [row] = await commit_alone(database, _FIND_OTHER, webhook_id, raw)
    return None if row["raw"] is None else bytes(row["raw"])


_FIND_WEBHOOK: Final = """
SELECT event_type, raw, outcome, processed_at, gateway FROM processed_webhook_events WHERE id = $1
"""
_LOCK_WEBHOOK: Final = f"{_FIND_WEBHOOK} FOR NO KEY UPDATE"
_SET_OUTCOME: Final = "UPDATE processed_webhook_events SET outcome = $2 WHERE id = $1"
# The role of the API may not change the outbox; only the service processes webhooks.
_SET_OUTCOME_AND_WITHDRAW: Final = Writes(
    f"""
obsolete_work AS (UPDATE outbox SET published_at = now() WHERE published_at IS NULL AND id = $3),
processed_webhook AS ({_SET_OUTCOME} AND outcome = 'queued' RETURNING id)
""",
    "EXISTS (SELECT FROM processed_webhook) AS is_processed",
)


async def find_webhook(reads: Reads, webhook_id: str) -> QueuedWebhook | None:
    row = await reads.fetch_row(_FIND_WEBHOOK, webhook_id)
    return None if row is None else QueuedWebhook(*row)


async def lock_webhook(uow: UnitOfWork, webhook_id: str) -> QueuedWebhook | None:
    """Return the locked webhook: of two workers with the same item one waits. Inserting a revision of the key does not
    wait.
    """
    row = await uow.fetch_row(_LOCK_WEBHOOK, webhook_id)
    return None if row is None else QueuedWebhook(*row)


async def save_outcome(uow: UnitOfWork, webhook_id: str, outcome: str) -> None:
    await uow.execute(_SET_OUTCOME, webhook_id, outcome)


def save_outcome_with_next(uow: UnitOfWork, webhook_id: str, outcome: str, work_item_id: UUID) -> Attached:
    """Save the outcome of the locked, queued webhook with the next event, or before the commit. Its work item becomes
    obsolete, unless the relay has published it. Raises StateChanged for a webhook that has an outcome.
    """

    def check(row: asyncpg.Record) -> None:
        if not row["is_processed"]:
            raise StateChanged(f"webhook {webhook_id} has an outcome already")

    return uow.attach(_SET_OUTCOME_AND_WITHDRAW, webhook_id, outcome, work_item_id, then=check)


_RECORD_DEAD: Final = """
INSERT INTO dead_letter_webhooks (id, webhook_id, event_type, error, attempts, provider, payload)
SELECT $1, id, event_type, $3, $4, gateway, payload FROM processed_webhook_events WHERE id = $2
RETURNING event_type
"""
# By the dead letter's id, else the newest one of the event.
_FIND_DEAD: Final = """
SELECT id, webhook_id, event_type, replayed_at, closed_at FROM dead_letter_webhooks WHERE id = $1 OR webhook_id = $2
ORDER BY (id = $1) DESC NULLS LAST, failed_at DESC, id LIMIT 1
"""
_LOCK_OUTCOME: Final = "SELECT outcome FROM processed_webhook_events WHERE id = $1 FOR UPDATE"
_LIST_OF_WEBHOOK: Final = "SELECT id FROM dead_letter_webhooks WHERE webhook_id = $1 ORDER BY failed_at, id"
_MARK_REPLAYED: Final = """
UPDATE dead_letter_webhooks SET replayed_at = $2 WHERE webhook_id = $1 AND replayed_at IS NULL AND closed_at IS NULL
RETURNING id
"""
_MARK_CLOSED: Final = "UPDATE dead_letter_webhooks SET closed_at = $2 WHERE id = $1"


@dataclass(frozen=True, slots=True)
class DeadWebhook:
    """A dead letter with the outcome of its webhook."""

    id: UUID
    webhook_id: str
    event_type: str
    replayed_at: datetime | None
    closed_at: datetime | None
    outcome: str


async def record_dead_webhook(
    uow: UnitOfWork, dead_letter_id: UUID, webhook_id: str, error: str, attempts: int
) -> str | None:
    """Record the webhook as a dead letter, and return its event type."""
    event_type: str | None = await uow.fetch_value(_RECORD_DEAD, dead_letter_id, webhook_id, error, attempts)
    return event_type


async def lock_dead_webhook(uow: UnitOfWork, key: str) -> DeadWebhook | None:
    """Return the dead letter, by its id or that of its event. Its webhook is locked: one change of all its dead letters
    at a time.
    """
    found = await uow.fetch_row(_FIND_DEAD, parse_uuid(key), key)
    if found is None:
        return None
    outcome = await uow.fetch_value(_LOCK_OUTCOME, found["webhook_id"])
    # Read again under the lock: a concurrent replay or closure may have committed in the meantime.
    locked = await uow.fetch_row(_FIND_DEAD, found["id"], "")
    return None if locked is None else DeadWebhook(**locked, outcome=outcome)


async def list_dead_letter_ids(uow: UnitOfWork, webhook_id: str) -> list[UUID]:
    """Return the dead letters of this webhook, the first failure first."""
    return [row["id"] for row in await uow.fetch(_LIST_OF_WEBHOOK, webhook_id)]


async def mark_dead_webhooks_replayed(uow: UnitOfWork, webhook_id: str, now: datetime) -> list[UUID]:
    """Mark and return all open dead letters of this webhook: one replay serves them all."""
    return [row["id"] for row in await uow.fetch(_MARK_REPLAYED, webhook_id, now)]


async def mark_dead_webhook_closed(uow: UnitOfWork, dead_letter_id: UUID, at: datetime) -> None:
    await uow.execute(_MARK_CLOSED, dead_letter_id, at)
