"""Erase a buyer."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.store import contacts, erasure, projections


async def erase_buyer(uow: UnitOfWork, user_id: UUID, sequence: int, now: datetime) -> Rejection | None:
    """Erase the user's texts and images, and block new activity for good. Returns STALE when the user is already
    erased.
    """
    if not await erasure.save_erasure_status(uow, user_id, "gone", sequence):
        return Rejection.STALE
    await erasure.erase_buyer(uow, user_id, now)
    # The rows stay without content, so that a late older event restores nothing.
    await projections.save_buyer_addresses(uow, user_id, None, None, sequence)
    await contacts.save_user_contact(uow, user_id, None, "", sequence)
    return None
