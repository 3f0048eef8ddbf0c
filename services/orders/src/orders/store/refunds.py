"""Refunds that this service requested."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.state_changes import change_state
from common.database.unit_of_work import UnitOfWork

_RECORD_REFUND: Final = """
INSERT INTO order_refunds (id, order_id, amount_minor, reason, status, counted, requested_at)
VALUES ($1, $2, $3, $4, 'requested', false, $5)
"""
_LOCK_REFUND: Final = "SELECT status, counted, sequence FROM order_refunds WHERE id = $1 AND order_id = $2 FOR UPDATE"
# The sequence of payments orders the states of a refund: each of them may follow any other.
_SAVE_REFUND: Final = """
UPDATE order_refunds SET status = $3, counted = true, sequence = $4 WHERE id = $1 AND order_id = $2 AND status = $5
"""
_SAVE_FAILED_REFUND: Final = "UPDATE order_refunds SET status = 'failed', sequence = $2 WHERE id = $1 AND status = $3"
_SUM_REQUESTED: Final = "SELECT coalesce(sum(amount_minor), 0)::bigint FROM order_refunds WHERE order_id = $1"
_HAS_FAILED_REFUND: Final = "SELECT EXISTS (SELECT FROM order_refunds WHERE order_id = $1 AND status = 'failed')"
_HAS_UNSETTLED_REFUND: Final = "SELECT EXISTS (SELECT FROM order_refunds WHERE order_id = $1 AND status <> 'settled')"


async def record_refund(
    uow: UnitOfWork, refund_id: UUID, order_id: UUID, amount_minor: int, reason: str, now: datetime
) -> None:
    """Record a requested refund of the order; the amount in kobo."""
    await uow.execute(_RECORD_REFUND, refund_id, order_id, amount_minor, reason, now)


class Refund(NamedTuple):
    """A refund of an order; `counted` once payments posted it.

    `sequence` is that of the newest event about its payment: a late one changes nothing.
    """

    status: str
    counted: bool
    sequence: int = 0


async def lock_refund(uow: UnitOfWork, refund_id: UUID, order_id: UUID) -> Refund | None:
    """Return the order's refund with this id, locked; None when this service did not request it."""
    row = await uow.fetch_row(_LOCK_REFUND, refund_id, order_id)
    return None if row is None else Refund(*row)


async def save_refund(
    uow: UnitOfWork, refund_id: UUID, order_id: UUID, refund: Refund, status: str, sequence: int
) -> None:
    """Set the status and sequence of the locked refund, which is posted."""
    await change_state(uow, _SAVE_REFUND, refund_id, order_id, status, sequence, refund.status)


async def save_failed_refund(uow: UnitOfWork, refund_id: UUID, refund: Refund, sequence: int) -> None:
    """Record that the gateway could not pay the locked refund."""
    await change_state(uow, _SAVE_FAILED_REFUND, refund_id, sequence, refund.status)


async def sum_requested(uow: UnitOfWork, order_id: UUID) -> int:
    """Return the refunds of the locked order so far, in kobo."""
    return int(await uow.fetch_value(_SUM_REQUESTED, order_id))


async def has_failed_refund(uow: UnitOfWork, order_id: UUID) -> bool:
    """Return whether a refund of the locked order is failed."""
    return bool(await uow.fetch_value(_HAS_FAILED_REFUND, order_id))


async def has_unsettled_refund(uow: UnitOfWork, order_id: UUID) -> bool:
    """Return whether the buyer does not have the money of a refund of the locked order: it waits, or is failed."""
    return bool(await uow.fetch_value(_HAS_UNSETTLED_REFUND, order_id))
