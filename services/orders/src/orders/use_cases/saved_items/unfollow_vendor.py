"""Unfollow a vendor."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from orders.store import saved_items


async def unfollow_vendor(uow: UnitOfWork, caller: Caller, vendor_id: UUID) -> None:
    """Remove the vendor from those that the buyer follows. A vendor that is not followed changes nothing."""
    await saved_items.unfollow_vendor(uow, caller.id, vendor_id)
