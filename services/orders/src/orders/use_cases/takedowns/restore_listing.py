"""Restore a product that was taken down."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from contracts.orders import ProductRelisted
from orders.domain.takedowns import check_campus_admin
from orders.store import reports, takedowns
from orders.use_cases.products.publish_stock_changes import publish_stock_changes


async def restore_listing(uow: UnitOfWork, caller: Caller, takedown_id: UUID, reason: str, *, now: datetime) -> None:
    """End a takedown, which shows the product unless a decision on a report hides it. A repetition changes nothing.

    Runs as the service. Raises NotFound and PartyCannotDelist (403).
    """
    found = await takedowns.lock_delisted(uow, takedown_id)
    if found is None:
        raise NotFound
    listing, takedown = found
    check_campus_admin(caller, listing)
    if takedown.is_restored:
        return
    await takedowns.save_restored(uow, takedown_id, restored_by=caller.id, reason=reason, now=now)
    if listing.hidden_at == takedown.created_at:
        publish_stock_changes(uow, await reports.save_hidden_product(uow, listing.id, None, None))
    uow.publish(
        ProductRelisted(
            product_id=listing.id,
            vendor_id=listing.vendor_id,
            campus_id=listing.campus_id,
            takedown_id=takedown_id,
            name=listing.name,
            reason=reason,
        )
    )
