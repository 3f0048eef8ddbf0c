"""Due timers of orders."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import Reads, UnitOfWork
from orders.domain.orders import TimerKind

_DUE_TIMERS: Final = "SELECT order_id, kind FROM order_timers WHERE due_at <= $1 ORDER BY due_at LIMIT $2"
_CLAIM_TIMER: Final = """
SELECT FROM order_timers AS timer JOIN orders ON orders.id = timer.order_id
WHERE timer.order_id = $1 AND timer.kind = $2 AND timer.due_at <= $3
FOR NO KEY UPDATE OF orders SKIP LOCKED
"""
_NEXT_TIMER: Final = "SELECT min(due_at) FROM order_timers WHERE order_id = $1"
_DELETE_TIMER: Final = "DELETE FROM order_timers WHERE order_id = $1 AND kind = $2"


async def list_due_timers(reads: Reads, now: datetime, limit: int) -> list[tuple[UUID, TimerKind]]:
    """Due timers, oldest first, without a claim."""
    return [(order_id, kind) for order_id, kind in await reads.fetch(_DUE_TIMERS, now, limit)]


async def claim_timer(uow: UnitOfWork, order_id: UUID, kind: TimerKind, now: datetime) -> bool:
    """Lock the timer's order; False when the timer does not exist or another transaction has locked the order."""
    return await uow.fetch_row(_CLAIM_TIMER, order_id, kind, now) is not None


async def find_next_timer(uow: UnitOfWork, order_id: UUID) -> datetime | None:
    """Return the time of the order's next timer; None without any."""
    due_at: datetime | None = await uow.fetch_value(_NEXT_TIMER, order_id)
    return due_at


async def delete_timer(uow: UnitOfWork, order_id: UUID, kind: TimerKind) -> None:
    await uow.execute(_DELETE_TIMER, order_id, kind)
