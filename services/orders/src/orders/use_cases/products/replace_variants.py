"""Replace the variants of a product."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.variants import Option, RequestedVariant, checked_variants
from orders.store import products
from orders.use_cases.products.steps import load_writable_product, publish_product_changed, words_of


async def replace_variants(
    uow: UnitOfWork,
    product_id: UUID,
    options: Sequence[Option],
    requested: Sequence[RequestedVariant],
    *,
    vendor_id: UUID | None,
    revision: int | None,
    now: datetime,
) -> None:
    """Replace options and variants of the merchant's product, and with them its price and its stock.

    A variant that stays carries its id. One that is left out is deleted, or deactivated where an order or a flash sale
    refers to it. Unchanged values have no effect. `revision` is the revision that the merchant read, if given. Raises
    the errors of `load_writable_product` and InvalidVariants (422).
    """
    before = await load_writable_product(uow, product_id, vendor_id, revision=revision)
    own, own_ids = await products.list_variants(uow, product_id)
    variants = checked_variants(options, requested, images=before.images, own_ids=own_ids)
    if (tuple(options), variants) == (before.options, own):
        return
    after = before.with_variants(options, variants)
    await products.save_variants(uow, after, variants)
    await products.save_product(uow, after, now)
    await products.save_search_words(uow, *words_of(after))
    publish_product_changed(uow, before, after)
