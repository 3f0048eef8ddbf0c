"""What the messaging app sent: SQL by name, without decisions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from notifications.domain.messaging_webhook import PROVIDER, Item
from notifications.store.queue import SUPPORT_QUEUE

_RECORD_WEBHOOK: Final = """
INSERT INTO processed_webhook_events (id, provider, event_type, payload, raw, outcome, processed_at)
VALUES ($1, $2, $3, $4, $5, 'queued', $6) ON CONFLICT (id) DO NOTHING
"""
_LOCK_WEBHOOK: Final = "SELECT id, raw, outcome FROM processed_webhook_events WHERE id = $1 FOR UPDATE"
_SAVE_WEBHOOK: Final = "UPDATE processed_webhook_events SET outcome = $2 WHERE id = $1"
_RECORD_ITEMS: Final = """
INSERT INTO messaging_items (id, webhook_id, kind, content, outcome, received_at)
SELECT told.id, $2, told.kind, told.content, 'queued', $3
FROM jsonb_to_recordset($1) AS told (id text, kind text, content jsonb)
ON CONFLICT (id) DO NOTHING RETURNING id
"""
_LOCK_ITEM: Final = "SELECT id, kind, content, outcome FROM messaging_items WHERE id = $1 FOR UPDATE"
_SAVE_ITEM: Final = """
UPDATE messaging_items
SET outcome = $2, ticket_id = coalesce($3, ticket_id), content = CASE $2 WHEN 'dead' THEN content ELSE '{}' END WHERE id = $1
"""
# A body may hold messages of several people: it is emptied when the first of them is forgotten, its effects stand elsewhere.
_FORGET_BODIES: Final = """
UPDATE processed_webhook_events SET payload = '{}', raw = ''
WHERE id IN (SELECT webhook_id FROM messaging_items WHERE ticket_id = ANY ($1)) AND outcome IN ('done', 'ignored')
"""


async def record_messaging_webhook_if_new(
    database: Database, webhook_id: str, event_type: str, payload: Any, raw: bytes, now: datetime
) -> bool:
    """Commits the body with its work item; False for one that came before. Raises asyncpg.DataError or ProgramLimitExceededError
    when jsonb cannot hold `payload`."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        is_first = bool(await uow.execute(_RECORD_WEBHOOK, webhook_id, PROVIDER, event_type, payload, raw, now))
        if is_first:
            uow.enqueue_work(SUPPORT_QUEUE, webhook_id, {"webhookId": webhook_id})
    return is_first


async def lock_messaging_webhook(uow: UnitOfWork, webhook_id: str) -> asyncpg.Record | None:
    return await uow.fetch_row(_LOCK_WEBHOOK, webhook_id)


async def save_messaging_webhook(uow: UnitOfWork, webhook_id: str, outcome: str) -> None:
    await uow.execute(_SAVE_WEBHOOK, webhook_id, outcome)


async def record_messaging_items_if_new(uow: UnitOfWork, webhook_id: str, items: Sequence[Item], now: datetime) -> int:
    """Writes down what is new of the items and leaves a work item for each of it; tells how many."""
    told = [{"id": item.key, "kind": item.kind, "content": dict(item.content)} for item in items]
    new = {row["id"] for row in await uow.fetch(_RECORD_ITEMS, told, webhook_id, now)}
    for item in items:
        if item.key in new:
            uow.enqueue_work(SUPPORT_QUEUE, item.key, {"itemId": item.key})
    return len(new)


async def lock_messaging_item(uow: UnitOfWork, item_id: str) -> asyncpg.Record | None:
    return await uow.fetch_row(_LOCK_ITEM, item_id)


async def save_messaging_item(uow: UnitOfWork, item_id: str, outcome: str, ticket_id: UUID | None = None) -> None:
    """What became of the item. Its content is kept only for a replay."""
    await uow.execute(_SAVE_ITEM, item_id, outcome, ticket_id)


async def forget_messaging_bodies(uow: UnitOfWork, ticket_ids: Sequence[UUID]) -> None:
    """Empties the bodies that held messages of these tickets."""
    await uow.execute(_FORGET_BODIES, list(ticket_ids))
