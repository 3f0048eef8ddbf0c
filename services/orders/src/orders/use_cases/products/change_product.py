"""Change a product."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.products import check_priced
from orders.store import products
from orders.use_cases.products.steps import load_writable_product, publish_product_changed


async def change_product(
    uow: UnitOfWork,
    product_id: UUID,
    fields: Mapping[str, object],
    *,
    vendor_id: UUID | None,
    revision: int | None,
    now: datetime,
    whole: bool = False,
) -> None:
    """Change fields of the merchant's product; all of them with `whole`. Unchanged values have no effect.

    `revision` is the revision that the merchant read, if given. Raises the errors of `load_writable_product` and
    PricedByVariants (422).
    """
    before = await load_writable_product(uow, product_id, vendor_id, revision=revision)
    check_priced(before, fields, repeats=whole)
    after = before.changed(**fields)
    if after == before:
        return
    await products.save_product(uow, after, now)
    if (after.name, after.category) != (before.name, before.category):
        await products.save_search_words(uow, after.name, after.category)
    publish_product_changed(uow, before, after)
