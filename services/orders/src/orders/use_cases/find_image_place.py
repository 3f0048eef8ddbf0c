"""Whether a picture may be added, before anything of it is stored."""

from uuid import UUID

from common.database import UnitOfWork
from orders.domain.catalog import writable
from orders.domain.errors import NoVendor
from orders.store import catalog


async def find_image_place(uow: UnitOfWork, product_id: UUID, image_id: UUID, *, vendor_id: UUID | None) -> None:
    """Refuses what `attach_image` would refuse now: so that nobody fills the store with pictures of what is not theirs.

    Raises NoVendor, the refusals of `writable`, and TooManyImages (409).
    """
    if vendor_id is None:
        raise NoVendor
    own = await catalog.find_own_product(uow, product_id, vendor_id)
    seen = None if own is not None else await catalog.find_vendor_of(uow, product_id)
    writable(own, seen, None).with_image(image_id)
