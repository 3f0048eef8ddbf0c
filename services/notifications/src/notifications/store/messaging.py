"""Writes of the messaging app's webhooks and their items."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from notifications.domain.messaging_webhook import PROVIDER, Item
from notifications.store.queue import SUPPORT_QUEUE

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
SET outcome = $2, ticket_id = coalesce($3, ticket_id), content = CASE $2 WHEN 'dead' THEN content ELSE '{}' END WHERE id = $1
"""
# A body may contain messages of several users. It is emptied with the first erased one: its items are stored separately.
_ERASE_BODIES: Final = """
UPDATE processed_webhook_events SET payload = '{}', raw = ''
WHERE id IN (SELECT webhook_id FROM messaging_items WHERE ticket_id = ANY ($1)) AND outcome IN ('done', 'ignored')
"""


class StoredWebhook(NamedTuple):
    raw: bytes
    outcome: str


class MessagingItem(NamedTuple):
    kind: str
    content: Mapping[str, Any]
    outcome: str


async def record_messaging_webhook_if_new(
    database: Database, webhook_id: str, event_type: str, raw: bytes, now: datetime, *, is_json: bool
) -> bool:
    """Commit the body with its work item; return False for a repetition.

    JSON that jsonb cannot store, and anything else, is stored as text in addition to the bytes. Raises DatabaseUnavailable.
    """
    text = raw.decode("utf-8", "replace").replace("\x00", "\ufffd")
    if is_json:
        try:
            return await _record_webhook(database, webhook_id, event_type, msgspec.Raw(raw), raw, now)
        except (asyncpg.DataError, asyncpg.ProgramLimitExceededError):
            pass
    return await _record_webhook(database, webhook_id, event_type, text, raw, now)


async def _record_webhook(
    database: Database, webhook_id: str, event_type: str, payload: Any, raw: bytes, now: datetime
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


async def erase_webhook_bodies(uow: UnitOfWork, ticket_ids: Sequence[UUID]) -> None:
    """Empty the bodies that contain messages of these tickets."""
    await uow.execute(_ERASE_BODIES, list(ticket_ids))
