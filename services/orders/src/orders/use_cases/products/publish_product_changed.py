"""Telling that the shelf changed."""

from common.database.unit_of_work import UnitOfWork
from contracts.orders import ProductChanged
from orders.domain.products import Product


def publish_product_changed(uow: UnitOfWork, before: Product | None, after: Product) -> None:
    """Publishes a product that is on the shelf, or was. What was never shown to anybody is told to nobody."""
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
