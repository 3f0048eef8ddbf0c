"""Take down a product."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from contracts.orders import ProductDelisted
from orders.domain.takedowns import ListingAlreadyHidden, check_campus_admin
from orders.store import reports, takedowns
from orders.use_cases.products.publish_stock_changes import publish_stock_changes


async def delist_product(uow: UnitOfWork, caller: Caller, product_id: UUID, reason: str, *, now: datetime) -> UUID:
    """Hide a published product of the caller's campus from buyers; return the id of the takedown.

    Runs as the service. Raises NotFound, PartyCannotDelist (403) and ListingAlreadyHidden (409).
    """
    listing = await takedowns.lock_listing(uow, product_id)
    if listing is None:
        raise NotFound
    check_campus_admin(caller, listing)
    if listing.hidden_at is not None:
        raise ListingAlreadyHidden
    takedown_id = new_id()
    await takedowns.record_takedown(uow, takedown_id, listing, reason=reason, delisted_by=caller.id, now=now)
    publish_stock_changes(uow, await reports.save_hidden_product(uow, product_id, now, reason))
    uow.publish(
        ProductDelisted(
            product_id=product_id,
            vendor_id=listing.vendor_id,
            campus_id=listing.campus_id,
            takedown_id=takedown_id,
            name=listing.name,
            reason=reason,
        )
    )
    return takedown_id
