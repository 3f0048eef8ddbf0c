"""A picture of a product is shown no more."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import schedule_image_removal
from orders.domain.errors import NoVendor
from orders.domain.products import check_writable
from orders.store import products
from orders.use_cases.products.publish_product_changed import publish_product_changed


async def detach_image(
    uow: UnitOfWork, product_id: UUID, image_id: UUID, *, vendor_id: UUID | None, now: datetime
) -> None:
    """Takes the picture from the product, and its files from the store. What the product does not have is gone already: a success.

    Raises NoVendor and the refusals of `writable`.
    """
    if vendor_id is None:
        raise NoVendor
    own = await products.lock_own_product(uow, product_id, vendor_id)
    seen = None if own is not None else await products.find_vendor_of(uow, product_id)
    before = check_writable(own, seen, None)
    after = before.without_image(image_id)
    if after != before:
        await products.save_product(uow, after, now)
        await schedule_image_removal(uow, [(image_id, product_id)], now)
        publish_product_changed(uow, before, after)
