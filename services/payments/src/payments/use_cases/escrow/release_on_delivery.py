"""Release the rest of an order's escrow after its proven delivery."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payments.domain.errors import SubjectUnknown
from payments.domain.identifiers import delivery_release_id
from payments.store import chargebacks
from payments.store.escrow import lock_escrow
from payments.use_cases.escrow.steps import release_escrow


async def release_on_delivery(uow: UnitOfWork, order_id: UUID, now: datetime) -> bool:
    """Return whether a release followed. Raises SubjectUnknown before the escrow, and EscrowLocked while disputed."""
    held = await lock_escrow(uow, order_id)
    if held is None:
        raise SubjectUnknown(f"order {order_id} is delivered, and has no escrow yet")
    release_id = delivery_release_id(order_id)
    if held.escrow.locked.total_minor == 0 and (
        not await chargebacks.was_charged_back(uow, order_id) or await chargebacks.release_exists(uow, release_id)
    ):
        return False
    await release_escrow(uow, held, release_id, held.escrow.locked.total_minor, "delivery", now)
    return True
