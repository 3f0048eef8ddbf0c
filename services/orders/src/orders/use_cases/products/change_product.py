"""A merchant's change of a product."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.errors import NoVendor
from orders.domain.products import check_writable
from orders.store import products
from orders.use_cases.products.publish_product_changed import publish_product_changed


async def change_product(
    uow: UnitOfWork,
    product_id: UUID,
    fields: Mapping[str, Any],
    *,
    vendor_id: UUID | None,
    revision: int | None,
    now: datetime,
) -> None:
    """A merchant changes some or all of a product: words, price, stock, draft or not. The same values again change nothing.

    `revision` is the one that the merchant read, when they say it. Raises NoVendor and the refusals of `writable`.
    """
    if vendor_id is None:
        raise NoVendor
    own = await products.lock_own_product(uow, product_id, vendor_id)
    seen = None if own is not None else await products.find_vendor_of(uow, product_id)
    before = check_writable(own, seen, revision)
    after = before.changed(**fields)
    if after == before:
        return
    await products.save_product(uow, after, now)
    if (after.name, after.category) != (before.name, before.category):
        await products.save_search_words(uow, after.name, after.category)
    publish_product_changed(uow, before, after)
