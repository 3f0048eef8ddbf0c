"""Timers that are due."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.orders import TimerKind

_DUE_TIMERS: Final = "SELECT order_id, kind FROM order_timers WHERE due_at <= $1 ORDER BY due_at LIMIT $2"
_CLAIM_TIMER: Final = """
SELECT FROM order_timers AS timer JOIN orders ON orders.id = timer.order_id
WHERE timer.order_id = $1 AND timer.kind = $2 AND timer.due_at <= $3
FOR NO KEY UPDATE OF orders SKIP LOCKED
"""
_END_TIMER: Final = "DELETE FROM order_timers WHERE order_id = $1 AND kind = $2"


async def list_due_timers(uow: UnitOfWork, now: datetime, limit: int) -> list[tuple[UUID, TimerKind]]:
    """The timers that are due, oldest first; not claimed yet."""
    return [(row["order_id"], row["kind"]) for row in await uow.fetch(_DUE_TIMERS, now, limit)]


async def claim_timer(uow: UnitOfWork, order_id: UUID, kind: TimerKind, now: datetime) -> bool:
    """Holds the timer's order; False when the timer has ended, or somebody else is at the order just now."""
    return await uow.fetch_row(_CLAIM_TIMER, order_id, kind, now) is not None


async def delete_timer(uow: UnitOfWork, order_id: UUID, kind: TimerKind) -> None:
    await uow.execute(_END_TIMER, order_id, kind)
