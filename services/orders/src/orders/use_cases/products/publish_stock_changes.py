"""Telling that products sold out or came back."""

from collections.abc import Sequence

from common.database.unit_of_work import UnitOfWork
from contracts.orders import ProductChanged
from orders.store import StockLevel


def publish_stock_changes(uow: UnitOfWork, shelves: Sequence[StockLevel]) -> None:
    """Publishes the products that a change of stock took off the shelf or brought back, in the order of their ids."""
    for shelf in shelves:
        if shelf.turned:
            uow.publish(
                ProductChanged(
                    product_id=shelf.product_id,
                    vendor_id=shelf.vendor_id,
                    campus_id=shelf.campus_id,
                    name=shelf.name,
                    price_minor=shelf.price_minor,
                    in_stock=shelf.stock > 0,
                    removed=shelf.removed,
                )
            )
