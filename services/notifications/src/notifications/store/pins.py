"""The watches over PINs that are on their way: SQL by name, without decisions.

Locks are taken in one order: the watch of a notification, then its deliveries by id. Whoever holds a delivery never asks for its
watch: what became of the deliveries is read from them when the watch is due.
"""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork

_LOCK_OF_ORDER: Final = "SELECT notification_id, issue, is_over FROM pin_watches WHERE order_id = $1 FOR UPDATE"
_BEGIN: Final = """
INSERT INTO pin_watches (notification_id, order_id, issue, channel, due_at, is_over) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (notification_id) DO NOTHING
"""
_END_OF_ORDER: Final = (
    "UPDATE pin_watches SET due_at = NULL, is_over = true WHERE order_id = $1 RETURNING notification_id"
)
# Nobody needs the PIN any more: what is not sent yet stays unsent, and what was sent keeps no secret.
_DROP_SECRETS: Final = """
WITH locked AS MATERIALIZED (
    SELECT id FROM notification_deliveries WHERE notification_id = ANY ($1) ORDER BY id FOR UPDATE
)
UPDATE notification_deliveries d
SET sealed = '{}', due_at = NULL, claim_id = NULL, claimed_at = NULL,
    status = CASE d.status WHEN 'queued' THEN 'failed' ELSE d.status END
FROM locked WHERE d.id = locked.id
"""
# Its time is up, or the channel that it waits for has failed.
_DUE: Final = """
w.due_at IS NOT NULL AND (w.due_at <= $1 OR EXISTS (
    SELECT FROM notification_deliveries d
    WHERE d.notification_id = w.notification_id AND d.channel = w.channel AND d.status IN ('failed', 'bounced')
))
"""
_LIST_DUE: Final = f"SELECT w.notification_id FROM pin_watches w WHERE {_DUE} ORDER BY w.due_at LIMIT $2"
_LOCK_DUE: Final = f"""
SELECT w.channel, EXISTS (
    SELECT FROM notification_deliveries d WHERE d.notification_id = $2 AND d.status IN ('delivered', 'read')
) AS has_arrived
FROM pin_watches w WHERE w.notification_id = $2 AND {_DUE} FOR UPDATE OF w SKIP LOCKED
"""
_FIRST_DELIVERY: Final = """
SELECT d.id, n.user_id, d.payload, d.sealed
FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id
WHERE d.notification_id = $1 ORDER BY d.created_at, d.id LIMIT 1
"""
_STEP: Final = "UPDATE pin_watches SET channel = $2, due_at = $3 WHERE notification_id = $1"
_FINISH: Final = "UPDATE pin_watches SET due_at = NULL WHERE notification_id = $1"


async def lock_watches(uow: UnitOfWork, order_id: UUID) -> list[Any]:
    """What is known of the PINs of an order, locked."""
    return await uow.fetch(_LOCK_OF_ORDER, order_id)


async def start_watch(
    uow: UnitOfWork,
    notification_id: UUID,
    order_id: UUID | None,
    issue: int,
    channel: str,
    due_at: datetime | None,
    *,
    is_over: bool = False,
) -> None:
    """Watches a PIN, once."""
    await uow.execute(_BEGIN, notification_id, order_id, issue, channel, due_at, is_over)


async def end_watches(uow: UnitOfWork, order_id: UUID) -> None:
    """The PINs of an order so far open nothing any more: they are not sent, not repeated, and not kept."""
    rows = await uow.fetch(_END_OF_ORDER, order_id)
    await uow.execute(_DROP_SECRETS, [row["notification_id"] for row in rows])


async def list_due_watches(uow: UnitOfWork, now: datetime, rows_max: int) -> list[UUID]:
    """The notifications whose PIN is to go by another channel now."""
    return [row["notification_id"] for row in await uow.fetch(_LIST_DUE, now, rows_max)]


async def lock_due_watch(uow: UnitOfWork, notification_id: UUID, now: datetime) -> Any:
    """The watch, locked, with whether the PIN has arrived; None when it is not due any more or somebody else has it."""
    return await uow.fetch_row(_LOCK_DUE, now, notification_id)


async def find_first_delivery(uow: UnitOfWork, notification_id: UUID) -> Any:
    """The PIN as it was first sent, still sealed."""
    return await uow.fetch_row(_FIRST_DELIVERY, notification_id)


async def save_step(uow: UnitOfWork, notification_id: UUID, channel: str, due_at: datetime | None) -> None:
    await uow.execute(_STEP, notification_id, channel, due_at)


async def finish_watch(uow: UnitOfWork, notification_id: UUID) -> None:
    """No other channel is needed, or there is none."""
    await uow.execute(_FINISH, notification_id)
