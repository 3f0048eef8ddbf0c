"""Writes of the messaging app's webhooks and their items."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, Reads, UnitOfWork
from common.primitives.ids import parse_uuid
from common.primitives.json_records import Json, JsonObject
from notifications.support.domain.messaging_webhook import PROVIDER, Item

# Messages of customers and replies of support, independent of the deliveries (contracts.topology).
SUPPORT_QUEUE: Final = "notifications.support"

_RECORD_WEBHOOK: Final = """
INSERT INTO processed_webhook_events (id, provider, event_type, payload, raw, outcome, processed_at)
VALUES ($1, $2, $3, $4, $5, 'queued', $6) ON CONFLICT (id) DO NOTHING
"""
_LOCK_WEBHOOK: Final = "SELECT raw, outcome FROM processed_webhook_events WHERE id = $1 FOR UPDATE"
_SAVE_WEBHOOK: Final = "UPDATE processed_webhook_events SET outcome = $2 WHERE id = $1"
_RECORD_ITEMS: Final = """
INSERT INTO messaging_items (id, webhook_id, kind, content, outcome, received_at)
SELECT item.id, $2, item.kind, item.content, 'queued', $3
FROM jsonb_to_recordset($1) AS item (id text, kind text, content jsonb)
ON CONFLICT (id) DO NOTHING RETURNING id
"""
_LOCK_ITEM: Final = "SELECT kind, content, outcome FROM messaging_items WHERE id = $1 FOR UPDATE"
_SAVE_ITEM: Final = """
UPDATE messaging_items
SET outcome = $2, ticket_id = coalesce($3, ticket_id), content = CASE $2 WHEN 'dead' THEN content ELSE '{}' END
WHERE id = $1
"""
# The event id of a dead letter is the item's id, or the webhook's while it was not split into items.
_RECORD_DEAD: Final = """
INSERT INTO dead_letter_webhooks (id, event_id, event_type, provider, payload, error, attempts)
SELECT $1, $2, event.type, $3, event.payload, $4, $5 FROM (
    SELECT id, kind AS type, content AS payload FROM messaging_items
    UNION ALL SELECT id, event_type, payload FROM processed_webhook_events
) AS event WHERE event.id = $2
RETURNING event_type
"""
# All dead letters of the event, in one order: one change of them at a time.
_LOCK_DEAD: Final = """
SELECT id, event_id, event_type, failed_at, replayed_at, closed_at FROM dead_letter_webhooks
WHERE event_id IN (SELECT event_id FROM dead_letter_webhooks WHERE id = $1 OR event_id = $2) ORDER BY id FOR UPDATE
"""
_LIST_OF_EVENT: Final = "SELECT id FROM dead_letter_webhooks WHERE event_id = $1 ORDER BY failed_at, id"
# The payload is the message of a customer. Its item still has it, and another failure records it again.
_MARK_REPLAYED: Final = """
UPDATE dead_letter_webhooks SET replayed_at = $2, payload = '{}' WHERE event_id = $1 AND resolved_at IS NULL
RETURNING id
"""
_LIST_EXPIRED: Final = """
SELECT id FROM dead_letter_webhooks WHERE resolved_at IS NULL AND failed_at <= now() - $1::interval
ORDER BY failed_at, id LIMIT 100
"""
_EMPTY: Final = "UPDATE dead_letter_webhooks SET payload = '{}' WHERE id = $1"
_MARK_CLOSED: Final = "UPDATE dead_letter_webhooks SET closed_at = $2 WHERE id = $1"
_FIND_OUTCOME: Final = """
SELECT coalesce((SELECT outcome FROM messaging_items WHERE id = $1),
    (SELECT outcome FROM processed_webhook_events WHERE id = $1), 'done')
"""
_REQUEUE_ITEM: Final = "UPDATE messaging_items SET outcome = 'queued' WHERE id = $1 AND outcome = 'dead'"
_IGNORE_ITEM: Final = (
    "UPDATE messaging_items SET outcome = 'ignored', content = '{}' WHERE id = $1 AND outcome = 'dead'"
)
_IGNORE_WEBHOOK: Final = "UPDATE processed_webhook_events SET outcome = 'ignored' WHERE id = $1 AND outcome = 'dead'"
_REQUEUE_WEBHOOK: Final = "UPDATE processed_webhook_events SET outcome = 'queued' WHERE id = $1 AND outcome = 'dead'"
_IGNORE_ITEMS: Final = """
UPDATE messaging_items SET outcome = 'ignored', content = '{}' WHERE outcome = 'dead' AND id IN (
    SELECT id FROM messaging_items WHERE id = ANY ($1) AND outcome = 'dead' ORDER BY id FOR UPDATE
)
"""
# A body may contain messages of several users. It is emptied with the first erased one: its items are stored
# separately. A dead webhook of these events is ignored.
_ERASE_BODIES: Final = """
WITH locked AS MATERIALIZED (
    SELECT id FROM processed_webhook_events
    WHERE (id = ANY ($2) OR id IN (SELECT webhook_id FROM messaging_items WHERE ticket_id = ANY ($1) OR id = ANY ($2)))
        AND (outcome IN ('done', 'ignored') OR (outcome = 'dead' AND id = ANY ($2))) AND (payload <> '{}' OR raw <> '')
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE processed_webhook_events AS event
SET payload = '{}', raw = '', outcome = CASE event.outcome WHEN 'dead' THEN 'ignored' ELSE event.outcome END
FROM locked WHERE event.id = locked.id
"""
# Each open one has an alert, and resolved ones expire: they are few.
_LOCK_FILLED_DEAD: Final = """
SELECT id, event_id, payload, resolved_at IS NULL AS is_open FROM dead_letter_webhooks WHERE payload <> '{}' ORDER BY id
FOR UPDATE
"""
_EMPTY_DEAD: Final = """
UPDATE dead_letter_webhooks SET payload = '{}', closed_at = CASE WHEN resolved_at IS NULL THEN $2::timestamptz
    ELSE closed_at END
WHERE id = ANY ($1)
"""


class StoredWebhook(NamedTuple):
    raw: bytes
    outcome: str


class MessagingItem(NamedTuple):
    kind: str
    content: JsonObject
    outcome: str


async def record_messaging_webhook_if_new(
    database: Database, webhook_id: str, event_type: str, raw: bytes, now: datetime, *, is_json: bool
) -> bool:
    """Commit the body with its work item; return False for a repetition.

    JSON that jsonb cannot store, and anything else, is stored as text in addition to the bytes. Raises
    DatabaseUnavailable.
    """
    text = raw.decode("utf-8", "replace").replace("\x00", "\ufffd")
    if is_json:
        try:
            return await _record_webhook(database, webhook_id, event_type, msgspec.Raw(raw), raw, now)
        except (asyncpg.DataError, asyncpg.ProgramLimitExceededError):
            pass
    return await _record_webhook(database, webhook_id, event_type, text, raw, now)


async def _record_webhook(
    database: Database, webhook_id: str, event_type: str, payload: "Json | msgspec.Raw", raw: bytes, now: datetime
) -> bool:
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        is_first = bool(await uow.execute(_RECORD_WEBHOOK, webhook_id, PROVIDER, event_type, payload, raw, now))
        if is_first:
            uow.enqueue_work(SUPPORT_QUEUE, webhook_id, {"webhookId": webhook_id})
    return is_first


async def lock_messaging_webhook(uow: UnitOfWork, webhook_id: str) -> StoredWebhook | None:
    row = await uow.fetch_row(_LOCK_WEBHOOK, webhook_id)
    return None if row is None else StoredWebhook(*row)


async def save_messaging_webhook(uow: UnitOfWork, webhook_id: str, outcome: str) -> None:
    await uow.execute(_SAVE_WEBHOOK, webhook_id, outcome)


async def record_messaging_items_if_new(uow: UnitOfWork, webhook_id: str, items: Sequence[Item], now: datetime) -> int:
    """Insert the new items with a work item each; return their number."""
    rows = [{"id": item.key, "kind": item.kind, "content": dict(item.content)} for item in items]
    new = {item_id for (item_id,) in await uow.fetch(_RECORD_ITEMS, rows, webhook_id, now)}
    for item in items:
        if item.key in new:
            uow.enqueue_work(SUPPORT_QUEUE, item.key, {"itemId": item.key})
    return len(new)


async def lock_messaging_item(uow: UnitOfWork, item_id: str) -> MessagingItem | None:
    row = await uow.fetch_row(_LOCK_ITEM, item_id)
    return None if row is None else MessagingItem(*row)


async def save_messaging_item(uow: UnitOfWork, item_id: str, outcome: str, ticket_id: UUID | None = None) -> None:
    """Record the outcome of the item. Only a dead item keeps its content, for a replay."""
    await uow.execute(_SAVE_ITEM, item_id, outcome, ticket_id)


@dataclass(frozen=True, slots=True)
class DeadWebhook:
    """A dead letter of an item, or of a webhook without items."""

    id: UUID
    event_id: str
    event_type: str
    failed_at: datetime
    replayed_at: datetime | None
    closed_at: datetime | None


async def record_dead_webhook(uow: UnitOfWork, dead_letter_id: UUID, event_id: str, error: str, attempts: int) -> str:
    """Record an item, or a webhook without items, as a dead letter; return its event type."""
    event_type: str = await uow.fetch_value(_RECORD_DEAD, dead_letter_id, event_id, PROVIDER, error, attempts)
    return event_type


async def lock_dead_webhook(uow: UnitOfWork, key: str) -> DeadWebhook | None:
    """Return the dead letter of this id, else the newest one of the event of this id. All of the event are locked."""
    dead_letter_id = parse_uuid(key)
    rows = [DeadWebhook(**row) for row in await uow.fetch(_LOCK_DEAD, dead_letter_id, key)]
    named = [dead for dead in rows if dead.id == dead_letter_id]
    return max(named or rows, key=lambda dead: (dead.failed_at, dead.id), default=None)


async def list_dead_letter_ids(uow: UnitOfWork, event_id: str) -> list[UUID]:
    """Return the dead letters of this event, the first failure first."""
    return [row["id"] for row in await uow.fetch(_LIST_OF_EVENT, event_id)]


async def list_expired_dead_webhooks(reads: Reads, life: timedelta) -> list[UUID]:
    """Return dead letters that were neither replayed nor closed for so long, the oldest first."""
    return [row["id"] for row in await reads.fetch(_LIST_EXPIRED, life)]


async def empty_dead_webhook(uow: UnitOfWork, dead_letter_id: UUID) -> None:
    """Remove the payload of a dead letter."""
    await uow.execute(_EMPTY, dead_letter_id)


async def mark_dead_webhooks_replayed(uow: UnitOfWork, event_id: str, now: datetime) -> list[UUID]:
    """Mark and return all open dead letters of this event: one replay serves them all."""
    return [row["id"] for row in await uow.fetch(_MARK_REPLAYED, event_id, now)]


async def mark_dead_webhook_closed(uow: UnitOfWork, dead_letter_id: UUID, at: datetime) -> None:
    await uow.execute(_MARK_CLOSED, dead_letter_id, at)


async def ignore_dead_event(uow: UnitOfWork, event_id: str) -> bool:
    """Ignore a dead item or webhook; return False for one that is not dead."""
    return bool(await uow.execute(_IGNORE_ITEM, event_id) or await uow.execute(_IGNORE_WEBHOOK, event_id))


async def ignore_dead_items(uow: UnitOfWork, item_ids: Sequence[str]) -> None:
    """Ignore those of the items that are dead."""
    await uow.execute(_IGNORE_ITEMS, list(item_ids))


async def requeue_dead_event(uow: UnitOfWork, event_id: str) -> bool:
    """Enqueue a dead item or webhook as a first attempt; return False for one that is not dead."""
    if await uow.execute(_REQUEUE_ITEM, event_id):
        uow.enqueue_work(SUPPORT_QUEUE, event_id, {"itemId": event_id, "isReplay": True})
    elif await uow.execute(_REQUEUE_WEBHOOK, event_id):
        uow.enqueue_work(SUPPORT_QUEUE, event_id, {"webhookId": event_id, "isReplay": True})
    else:
        return False
    return True


async def find_outcome(uow: UnitOfWork, event_id: str) -> str:
    """Return the outcome of an item or a webhook; only processed ones expire."""
    outcome: str = await uow.fetch_value(_FIND_OUTCOME, event_id)
    return outcome


async def erase_webhook_bodies(uow: UnitOfWork, ticket_ids: Sequence[UUID] = (), event_ids: Sequence[str] = ()) -> None:
    """Empty the bodies that contain messages of these tickets, and those of these items and webhooks; ignore the dead
    ones of these webhooks.
    """
    await uow.execute(_ERASE_BODIES, list(ticket_ids), list(event_ids))


class FilledDeadWebhook(NamedTuple):
    """A dead letter with its payload; an open one waits for a replay or a closure."""

    id: UUID
    event_id: str
    payload: Json
    is_open: bool


async def lock_filled_dead_webhooks(uow: UnitOfWork) -> list[FilledDeadWebhook]:
    return [FilledDeadWebhook(*row) for row in await uow.fetch(_LOCK_FILLED_DEAD)]


async def empty_dead_webhooks(uow: UnitOfWork, dead_letter_ids: Sequence[UUID], now: datetime) -> None:
    """Empty the payloads, and close the open ones."""
    await uow.execute(_EMPTY_DEAD, list(dead_letter_ids), now)
