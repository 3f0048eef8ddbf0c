"""Check an image upload before its files are stored."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import expect_image
from orders.use_cases.products.steps import load_writable_product


async def check_image_upload(
    uow: UnitOfWork, product_id: UUID, image_id: UUID, *, vendor_id: UUID | None, now: datetime
) -> None:
    """Reject an upload that `attach_image` would reject, so that no files are stored for another vendor's product.

    The image cleanup removes the files unless a product refers to them within a day. Raises the errors of
    `load_writable_product`, TooManyImages (409), MediaUnavailable (503) while the same image is being removed.
    """
    product = await load_writable_product(uow, product_id, vendor_id, lock=False)
    product.with_image(image_id)
    await expect_image(uow, image_id, product_id, now)
