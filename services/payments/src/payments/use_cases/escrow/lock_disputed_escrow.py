"""Lock the escrow that an event about an order's dispute names."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain.errors import SubjectUnknown
from payments.store.escrow import HeldOrder, lock_escrow


async def lock_disputed_escrow(uow: UnitOfWork, order_id: UUID, sequence: int) -> HeldOrder | None:
    """Return the locked escrow; None for an event older than the last one about this dispute. Raises SubjectUnknown."""
    held = await lock_escrow(uow, order_id)
    if held is None:
        raise SubjectUnknown(f"order {order_id} is disputed, and has no escrow yet")
    return held if sequence > held.dispute_sequence else None
