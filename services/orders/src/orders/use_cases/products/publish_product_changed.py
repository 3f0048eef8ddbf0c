"""Publish a change of a listed product."""

from common.database.unit_of_work import UnitOfWork
from contracts.orders import ProductChanged
from orders.domain.products import Product


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
