"""A picture of a product is shown no more."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from orders.domain.catalog import writable
from orders.domain.errors import NoVendor
from orders.store import catalog
from orders.use_cases.say_product_changed import say_product_changed


async def detach_image(
    uow: UnitOfWork, product_id: UUID, image_id: UUID, *, vendor_id: UUID | None, now: datetime
) -> None:
    """Takes the picture from the product; what the product does not have is gone already, and that is a success.

    Raises NoVendor and the refusals of `writable`.
    """
    if vendor_id is None:
        raise NoVendor
    own = await catalog.lock_own_product(uow, product_id, vendor_id)
    seen = None if own is not None else await catalog.find_vendor_of(uow, product_id)
    before = writable(own, seen, None)
    after = before.without_image(image_id)
    if after != before:
        await catalog.save_product(uow, after, now)
        say_product_changed(uow, before, after)
