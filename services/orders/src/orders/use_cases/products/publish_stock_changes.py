"""Publish products that sold out or became available."""

from collections.abc import Sequence

from common.database.unit_of_work import UnitOfWork
from contracts.orders import ProductChanged
from orders.store.stock import StockLevel


def publish_stock_changes(uow: UnitOfWork, products: Sequence[StockLevel]) -> None:
    """Publish the products whose availability changed, in the given order."""
    for product in products:
        if product.availability_changed:
            uow.publish(
                ProductChanged(
                    product_id=product.product_id,
                    vendor_id=product.vendor_id,
                    campus_id=product.campus_id,
                    name=product.name,
                    price_minor=product.price_minor,
                    in_stock=product.stock > 0,
                    removed=product.removed,
                )
            )
