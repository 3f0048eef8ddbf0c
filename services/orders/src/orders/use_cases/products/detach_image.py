"""Detach an image from a product."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import schedule_image_removal
from orders.store import products
from orders.use_cases.products.steps import load_writable_product, publish_product_changed


async def detach_image(
    uow: UnitOfWork, product_id: UUID, image_id: UUID, *, vendor_id: UUID | None, now: datetime
) -> None:
    """Remove the image from the product and schedule the removal of its files. An absent image changes nothing.

    Raises the errors of `load_writable_product`.
    """
    before = await load_writable_product(uow, product_id, vendor_id)
    after = before.without_image(image_id)
    if after != before:
        await products.save_product(uow, after, now)
        await products.detach_variant_image(uow, product_id, image_id)
        await schedule_image_removal(uow, [(image_id, product_id)], now)
        publish_product_changed(uow, before, after)
