"""Refunds that were asked for."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork

_RECORD_REFUND: Final = """
INSERT INTO order_refunds (id, order_id, amount_minor, reason, status, counted, requested_at)
VALUES ($1, $2, $3, $4, 'requested', false, $5)
"""
_LOCK_REFUND: Final = "SELECT status, counted FROM order_refunds WHERE id = $1 AND order_id = $2 FOR UPDATE"
_SAVE_REFUND: Final = """
WITH refund AS (
    UPDATE order_refunds SET status = $3, counted = true WHERE id = $1 RETURNING amount_minor
)
UPDATE orders SET refunded_minor = refunded_minor + refund.amount_minor, updated_at = $4, revision = revision + 1
FROM refund WHERE orders.id = $2 AND NOT $5
"""
_SAVE_FAILED_REFUND: Final = "UPDATE order_refunds SET status = 'failed' WHERE id = $1"


async def record_refund(
    uow: UnitOfWork, refund_id: UUID, order_id: UUID, amount_minor: int, reason: str, now: datetime
) -> None:
    """Remembers that a refund of the order is asked for; amounts in kobo."""
    await uow.execute(_RECORD_REFUND, refund_id, order_id, amount_minor, reason, now)


class Refund(NamedTuple):
    """A refund of an order: `counted` when it stands in the order's `refundedMinor` already."""

    status: str
    counted: bool


async def lock_refund(uow: UnitOfWork, refund_id: UUID, order_id: UUID) -> Refund | None:
    """The refund that this service asked for under that id, of that order."""
    row = await uow.fetch_row(_LOCK_REFUND, refund_id, order_id)
    return None if row is None else Refund(row["status"], row["counted"])


async def save_refund(
    uow: UnitOfWork, refund_id: UUID, order_id: UUID, refund: Refund, status: str, now: datetime
) -> None:
    """Sets the refund's status, and counts its amount into the order if it was not counted before."""
    await uow.execute(_SAVE_REFUND, refund_id, order_id, status, now, refund.counted)


async def save_failed_refund(uow: UnitOfWork, refund_id: UUID) -> None:
    """The gateway could not pay the refund out."""
    await uow.execute(_SAVE_FAILED_REFUND, refund_id)
