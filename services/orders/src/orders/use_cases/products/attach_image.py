"""Attach a stored image to a product."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import cancel_image_removal
from orders.store import products
from orders.use_cases.products.steps import load_writable_product, publish_product_changed


async def attach_image(
    uow: UnitOfWork, product_id: UUID, image_id: UUID, *, vendor_id: UUID | None, now: datetime
) -> None:
    """Append the image to the product. The same image again changes nothing.

    Raises the errors of `load_writable_product`, TooManyImages (409), MediaUnavailable (503) when the image was removed
    again.
    """
    before = await load_writable_product(uow, product_id, vendor_id)
    after = before.with_image(image_id)
    if after != before:
        await cancel_image_removal(uow, image_id, now)
        await products.save_product(uow, after, now)
        publish_product_changed(uow, before, after)
