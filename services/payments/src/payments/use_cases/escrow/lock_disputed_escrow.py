"""Take hold of the escrow that news of a dispute speaks of."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from payments import store
from payments.domain.errors import SubjectUnknown
from payments.store import HeldOrder


async def lock_disputed_escrow(uow: UnitOfWork, order_id: UUID, sequence: int) -> HeldOrder | None:
    """The locked escrow; None for news older than the last one about this dispute. Raises SubjectUnknown."""
    held = await store.lock_escrow(uow, order_id)
    if held is None:
        raise SubjectUnknown("a dispute of an order without escrow")
    if sequence <= held.dispute_sequence:
        STALE_EVENTS.labels("orders.dispute").inc()
        return None
    return held
