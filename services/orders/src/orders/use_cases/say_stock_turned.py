"""Telling that products sold out or came back."""

from collections.abc import Sequence

from common.database import UnitOfWork
from contracts.orders import ProductChanged
from orders.store import Shelf


def say_stock_turned(uow: UnitOfWork, shelves: Sequence[Shelf]) -> None:
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
