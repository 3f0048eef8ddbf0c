"""Create a product."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from orders.domain.errors import NoVendor, VendorNotReceived
from orders.domain.products import Condition, Product
from orders.domain.variants import Option, RequestedVariant, checked_variants
from orders.store import products
from orders.use_cases.products.steps import publish_product_changed, words_of


@dataclass(frozen=True, slots=True)
class ProductContent:
    """The content of a new product; the price in kobo. With variants, price and stock are theirs."""

    name: str
    description: str
    category: str
    price_minor: int
    stock: int
    draft: bool
    condition: Condition = "new"
    options: Sequence[Option] = ()
    variants: Sequence[RequestedVariant] = ()


async def create_product(uow: UnitOfWork, content: ProductContent, *, vendor_id: UUID | None, now: datetime) -> UUID:
    """Create the merchant's product, published or as a draft, and return its id (contract section 11).

    Raises NoVendor (403), VendorNotReceived (409) before the vendor's approval event arrives, InvalidVariants (422).
    """
    if vendor_id is None:
        raise NoVendor
    variants = checked_variants(content.options, content.variants)
    new_product = Product(
        id=new_id(),
        vendor_id=vendor_id,
        # `save_new_product` replaces it by the campus of the vendor's projection.
        campus_id=vendor_id,
        name=content.name,
        description=content.description,
        category=content.category,
        price_minor=content.price_minor,
        stock=content.stock,
        images=(),
        draft=content.draft,
        removed=False,
        revision=1,
        condition=content.condition,
    )
    new_product = replace(new_product.with_variants(content.options, variants), revision=1)
    product = await products.save_new_product(uow, new_product, now)
    if product is None:
        raise VendorNotReceived
    if variants:
        await products.save_variants(uow, product, variants)
    await products.save_search_words(uow, product.name, product.category, *words_of(product))
    publish_product_changed(uow, None, product)
    return product.id
