"""A merchant's new product."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from orders.domain.errors import NoVendor, VendorNotReceived
from orders.domain.products import Product
from orders.store import products
from orders.use_cases.products.publish_product_changed import publish_product_changed


@dataclass(frozen=True, slots=True)
class Description:
    """What a merchant says of a product; the price in kobo."""

    name: str
    description: str
    category: str
    price_minor: int
    stock: int
    draft: bool


async def create_product(uow: UnitOfWork, described: Description, *, vendor_id: UUID | None, now: datetime) -> UUID:
    """A merchant puts a product on the shelf, or keeps it as a draft. Answers its id (contract section 11).

    Raises NoVendor (403), and VendorUnknown (409) when the vendor's approval was not heard yet.
    """
    if vendor_id is None:
        raise NoVendor
    wanted = Product(
        id=new_id(),
        vendor_id=vendor_id,
        # The store takes the campus from what is known of the vendor.
        campus_id=vendor_id,
        name=described.name,
        description=described.description,
        category=described.category,
        price_minor=described.price_minor,
        stock=described.stock,
        images=(),
        draft=described.draft,
        removed=False,
        revision=1,
    )
    product = await products.save_new_product(uow, wanted, now)
    if product is None:
        raise VendorNotReceived
    await products.save_search_words(uow, product.name, product.category)
    publish_product_changed(uow, None, product)
    return product.id
