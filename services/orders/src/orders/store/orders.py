"""The order's own row and its timer."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.orders import Order, Windows, timer_of
from orders.domain.transitions import State

_ORDER_COLUMNS: Final = """
    id, buyer_id, vendor_id, campus_id, status, total_amount, refunded_minor, delivered_at, escrow_minor, return_due_at
"""
_FIND_ORDER: Final = f"SELECT {_ORDER_COLUMNS} FROM orders WHERE id = $1"
_LOCK_ORDER: Final = f"SELECT {_ORDER_COLUMNS} FROM orders WHERE id = $1 FOR NO KEY UPDATE"
_SAVE_MOVE: Final = """
WITH moved AS (
    UPDATE orders SET status = $2, revision = revision + 1, updated_at = $3,
        delivered_at = CASE WHEN $2 = 'delivered' THEN coalesce(delivered_at, $3) ELSE delivered_at END,
        return_due_at = CASE WHEN $2 IN ('delivered', 'paid') THEN coalesce(return_due_at, $6::timestamptz) ELSE return_due_at END
    WHERE id = $1
), ended AS (
    DELETE FROM order_timers WHERE order_id = $1 AND kind IS DISTINCT FROM $4::text
)
INSERT INTO order_timers (order_id, kind, due_at) SELECT $1, $4::text, $5::timestamptz WHERE $4::text IS NOT NULL
ON CONFLICT (order_id, kind) DO UPDATE SET due_at = excluded.due_at
"""
# News of payments comes in any order: the youngest one stands.
_SAVE_ESCROW: Final = """
UPDATE orders SET escrow_minor = $2, escrow_sequence = $3 WHERE id = $1 AND escrow_sequence < $3
"""


async def find_order(uow: UnitOfWork, order_id: UUID) -> Order | None:
    """The order, if the caller may see it."""
    return _order(await uow.fetch_row(_FIND_ORDER, order_id))


async def lock_order(uow: UnitOfWork, order_id: UUID) -> Order | None:
    """The order, held until the transaction ends: of two triggers at once, the second sees what the first has done."""
    return _order(await uow.fetch_row(_LOCK_ORDER, order_id))


async def save_transition(uow: UnitOfWork, order: Order, to: State, now: datetime, windows: Windows) -> None:
    """Moves the locked order; its timer ends, and the one of the new state starts. What was handed over may come back for a while."""
    kind, due_at = timer_of(to, now, windows) or (None, None)
    await uow.execute(_SAVE_MOVE, order.id, to, now, kind, due_at, now + windows.returns)


async def save_escrow(uow: UnitOfWork, order_id: UUID, remaining_minor: int, sequence: int) -> None:
    """What escrow holds of the order (kobo), as the news of payments with this sequence has it."""
    await uow.execute(_SAVE_ESCROW, order_id, remaining_minor, sequence)


def _order(row: Any) -> Order | None:
    if row is None:
        return None
    return Order(
        id=row["id"],
        buyer_id=row["buyer_id"],
        vendor_id=row["vendor_id"],
        campus_id=row["campus_id"],
        status=row["status"],
        total_minor=row["total_amount"],
        refunded_minor=row["refunded_minor"],
        delivered_at=row["delivered_at"],
        escrow_minor=row["escrow_minor"],
        return_due_at=row["return_due_at"],
    )
