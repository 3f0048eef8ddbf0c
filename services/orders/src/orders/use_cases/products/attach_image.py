"""A picture that is stored becomes a product's."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import keep_image
from orders.domain.errors import NoVendor
from orders.domain.products import check_writable
from orders.store import products
from orders.use_cases.products.publish_product_changed import publish_product_changed


async def attach_image(
    uow: UnitOfWork, product_id: UUID, image_id: UUID, *, vendor_id: UUID | None, now: datetime
) -> None:
    """Adds the picture behind the others. The same picture again is a success without effect.

    Raises NoVendor, the refusals of `writable`, TooManyImages (409), and MediaAway (503) when it was taken away since it was stored.
    """
    if vendor_id is None:
        raise NoVendor
    own = await products.lock_own_product(uow, product_id, vendor_id)
    seen = None if own is not None else await products.find_vendor_of(uow, product_id)
    before = check_writable(own, seen, None)
    after = before.with_image(image_id)
    if after != before:
        await keep_image(uow, image_id, now)
        await products.save_product(uow, after, now)
        publish_product_changed(uow, before, after)
