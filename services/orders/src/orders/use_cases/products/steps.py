"""Steps of products that several operations share."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.orders import ProductChanged
from orders.domain.errors import NoVendor
from orders.domain.products import Product, check_writable
from orders.store import products


async def load_writable_product(
    uow: UnitOfWork, product_id: UUID, vendor_id: UUID | None, *, revision: int | None = None, lock: bool = True
) -> Product:
    """Return the merchant's product, locked unless `lock` is false. Raises NoVendor (403) and the errors of
    `check_writable`.
    """
    if vendor_id is None:
        raise NoVendor
    find = products.lock_own_product if lock else products.find_own_product
    own = await find(uow, product_id, vendor_id)
    visible_vendor_id = None if own is not None else await products.find_vendor_of(uow, product_id)
    return check_writable(own, visible_vendor_id, revision)


def words_of(product: Product) -> list[str]:
    """Return the words of the product's options, for the correction of mistyped searches."""
    return [value for option in product.options for value in option.values]


def publish_product_changed(uow: UnitOfWork, before: Product | None, after: Product) -> None:
    """Publish the change if the product is or was listed. Changes of drafts are not published."""
    if after == before or not (after.is_listed or (before is not None and before.is_listed)):
        return
    uow.publish(
        ProductChanged(
            product_id=after.id,
            vendor_id=after.vendor_id,
            campus_id=after.campus_id,
            name=after.name,
            price_minor=after.price_minor,
            in_stock=after.stock > 0,
            removed=not after.is_listed,
        )
    )
