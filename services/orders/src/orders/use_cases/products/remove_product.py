"""Remove a product."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.errors import NoVendor
from orders.domain.products import check_writable
from orders.store import products
from orders.use_cases.products.steps import publish_product_changed


async def remove_product(
    uow: UnitOfWork, product_id: UUID, *, vendor_id: UUID | None, revision: int | None, now: datetime
) -> None:
    """Remove the product from sale; open orders of it continue. A removed product stays removed.

    Raises NoVendor (403) and the errors of `check_writable`.
    """
    if vendor_id is None:
        raise NoVendor
    own = await products.lock_own_product(uow, product_id, vendor_id)
    if own is not None and own.removed:
        return
    visible_vendor_id = None if own is not None else await products.find_vendor_of(uow, product_id)
    before = check_writable(own, visible_vendor_id, revision)
    after = before.changed(removed=True)
    await products.save_product(uow, after, now)
    publish_product_changed(uow, before, after)
