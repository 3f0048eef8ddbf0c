"""Writes of PIN watches: each forwards an undelivered PIN to the next channel.

Locks are acquired in one order: the watches by order, then the deliveries by id. A transaction that holds a delivery
never locks its watch; a due watch reads the outcome of its deliveries.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import Reads, UnitOfWork

_LOCK_OF_ORDER: Final = "SELECT issue, is_over FROM pin_watches WHERE order_id = $1 ORDER BY notification_id FOR UPDATE"
_START: Final = """
INSERT INTO pin_watches (notification_id, order_id, issue, channel, due_at, is_over) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (notification_id) DO NOTHING
"""
_CLOSE_OF_ORDER: Final = """
WITH locked AS MATERIALIZED (
    SELECT notification_id FROM pin_watches WHERE order_id = $1 ORDER BY notification_id FOR UPDATE
)
UPDATE pin_watches w SET due_at = NULL, is_over = true FROM locked WHERE w.notification_id = locked.notification_id
RETURNING w.notification_id
"""
# The PIN is obsolete: queued messages fail, and sent ones keep no secret.
_DROP_SECRETS: Final = """
WITH locked AS MATERIALIZED (
    SELECT id FROM notification_deliveries WHERE notification_id = ANY ($1) ORDER BY id FOR UPDATE
)
UPDATE notification_deliveries d
SET sealed = '{}', due_at = NULL, claim_id = NULL, claimed_at = NULL,
    status = CASE d.status WHEN 'queued' THEN 'failed' ELSE d.status END
FROM locked WHERE d.id = locked.id
"""
# The receipt is overdue, or the channel has failed.
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
SELECT n.user_id, d.payload, d.sealed
FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id
WHERE d.notification_id = $1 ORDER BY d.created_at, d.id LIMIT 1
"""
_STEP: Final = "UPDATE pin_watches SET channel = $2, due_at = $3 WHERE notification_id = $1"
_FINISH: Final = "UPDATE pin_watches SET due_at = NULL WHERE notification_id = $1"


class PinWatch(NamedTuple):
    issue: int
    is_over: bool


class DueWatch(NamedTuple):
    channel: str
    has_arrived: bool


class PinDelivery(NamedTuple):
    """The first delivery of a PIN. `sealed` is empty after the PIN was used."""

    user_id: UUID
    payload: Mapping[str, Any]
    sealed: Mapping[str, Mapping[str, str]]


async def lock_watches(uow: UnitOfWork, order_id: UUID) -> list[PinWatch]:
    """Lock the watches of an order's PINs."""
    return [PinWatch(*row) for row in await uow.fetch(_LOCK_OF_ORDER, order_id)]


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
    """Insert a watch if it is new."""
    await uow.execute(_START, notification_id, order_id, issue, channel, due_at, is_over)


async def close_watches(uow: UnitOfWork, order_id: UUID) -> list[UUID]:
    """Close the watches of an order; return their notifications."""
    return [notification_id for (notification_id,) in await uow.fetch(_CLOSE_OF_ORDER, order_id)]


async def drop_secrets(uow: UnitOfWork, notification_ids: Collection[UUID]) -> None:
    """Delete obsolete PINs from queued and sent messages."""
    await uow.execute(_DROP_SECRETS, list(notification_ids))


async def list_due_watches(reads: Reads, now: datetime, rows_max: int) -> list[UUID]:
    """Return the notifications whose PIN needs another channel."""
    return [notification_id for (notification_id,) in await reads.fetch(_LIST_DUE, now, rows_max)]


async def lock_due_watch(uow: UnitOfWork, notification_id: UUID, now: datetime) -> DueWatch | None:
    """Lock the watch; None when it is not due or another worker holds it."""
    row = await uow.fetch_row(_LOCK_DUE, now, notification_id)
    return None if row is None else DueWatch(*row)


async def find_first_delivery(uow: UnitOfWork, notification_id: UUID) -> PinDelivery | None:
    row = await uow.fetch_row(_FIRST_DELIVERY, notification_id)
    return None if row is None else PinDelivery(*row)


async def save_step(uow: UnitOfWork, notification_id: UUID, channel: str, due_at: datetime | None) -> None:
    await uow.execute(_STEP, notification_id, channel, due_at)


async def finish_watch(uow: UnitOfWork, notification_id: UUID) -> None:
    """Stop forwarding the PIN."""
    await uow.execute(_FINISH, notification_id)
