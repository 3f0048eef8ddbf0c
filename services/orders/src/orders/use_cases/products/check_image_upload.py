"""Whether a picture may be added, before anything of it is stored."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.media.cleanup import expect_image
from orders.domain.errors import NoVendor
from orders.domain.products import check_writable
from orders.store import products


async def check_image_upload(
    uow: UnitOfWork, product_id: UUID, image_id: UUID, *, vendor_id: UUID | None, now: datetime
) -> None:
    """Refuses what `attach_image` would refuse now: so that nobody fills the store with pictures of what is not theirs.

    The files may be stored from then on; they leave again when nothing names them within a day. Raises NoVendor, the refusals of
    `writable`, TooManyImages (409), and MediaAway (503) while the same picture is being removed.
    """
    if vendor_id is None:
        raise NoVendor
    own = await products.find_own_product(uow, product_id, vendor_id)
    seen = None if own is not None else await products.find_vendor_of(uow, product_id)
    check_writable(own, seen, None).with_image(image_id)
    await expect_image(uow, image_id, product_id, now)
