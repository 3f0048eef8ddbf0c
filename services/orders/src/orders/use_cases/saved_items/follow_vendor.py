"""Follow a vendor."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.errors import ListFull
from orders.domain.saved_items import ENTRIES_MAX
from orders.store import saved_items


async def follow_vendor(uow: UnitOfWork, caller: Caller, vendor_id: UUID, *, now: datetime) -> None:
    """Add the vendor to those that the buyer follows. Following it again has no effect.

    Raises NotFound for a vendor that is unknown or suspended, ListFull (409) and ErasureInProgress (409).
    """
    if await saved_items.is_followed(uow, caller.id, vendor_id):
        return
    if not await saved_items.is_open_vendor(uow, vendor_id):
        raise NotFound
    added = await saved_items.follow_vendor(uow, caller.id, vendor_id, now, ENTRIES_MAX)
    if not added and not await saved_items.is_followed(uow, caller.id, vendor_id):
        raise ListFull(ENTRIES_MAX)
