"""A merchant takes a product off for good."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.errors import NoVendor
from orders.domain.products import check_writable
from orders.store import products
from orders.use_cases.products.publish_product_changed import publish_product_changed


async def remove_product(
    uow: UnitOfWork, product_id: UUID, *, vendor_id: UUID | None, revision: int | None, now: datetime
) -> None:
    """The product is sold no more; orders that hold it go on. Once removed, removing it again is a success without effect.

    Raises NoVendor and the refusals of `writable`.
    """
    if vendor_id is None:
        raise NoVendor
    own = await products.lock_own_product(uow, product_id, vendor_id)
    if own is not None and own.removed:
        return
    seen = None if own is not None else await products.find_vendor_of(uow, product_id)
    before = check_writable(own, seen, revision)
    after = before.changed(removed=True)
    await products.save_product(uow, after, now)
    publish_product_changed(uow, before, after)
