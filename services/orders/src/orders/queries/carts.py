"""A buyer's cart with the current prices of its products (contract section 11)."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from asyncpg import Record

from common.database.unit_of_work import UnitOfWork
from orders.domain.carts import cart_id_of
from orders.responses.carts import Cart, CartItem

# The current price of one unit: a running flash sale's price, else the regular price.
_CURRENT_OFFER: Final = """
    SELECT product.id, product.vendor_id, product.vendor_name, product.name,
        least(product.price_minor, sale.price_minor) AS unit_price_minor,
        least(product.stock, sale.quantity - sale.sold) AS available
    FROM shelf AS product
    LEFT JOIN flash_sales AS sale ON sale.product_id = product.id AND sale.starts_at <= $2 AND sale.ends_at > $2
        AND sale.approved_at IS NOT NULL
"""
_OFFER: Final = f"SELECT vendor_id, name, unit_price_minor FROM ({_CURRENT_OFFER} WHERE product.id = $1) AS offer"
_CART: Final = f"""
SELECT item.product_id, item.vendor_id, item.quantity, item.price_seen_minor, item.name AS name_seen, offer.name,
    offer.vendor_name, offer.unit_price_minor, offer.available
FROM cart_items AS item
LEFT JOIN LATERAL ({_CURRENT_OFFER} WHERE product.id = item.product_id) AS offer ON true
WHERE item.buyer_id = $1 ORDER BY item.added_at, item.product_id
"""


class CartOffer(NamedTuple):
    """A listed product at its current price (kobo)."""

    vendor_id: UUID
    name: str
    unit_price_minor: int


async def find_cart_offer(uow: UnitOfWork, product_id: UUID, *, now: datetime) -> CartOffer | None:
    """Return the product at its current price; None when it is not listed."""
    record = await uow.fetch_row(_OFFER, product_id, now)
    return None if record is None else CartOffer(*record)


async def find_cart(uow: UnitOfWork, buyer_id: UUID, *, now: datetime) -> Cart:
    """Return the cart. `total_minor` (kobo) counts the lines in stock; `set_cart_item` bounds their number."""
    items = [_item(record) for record in await uow.fetch(_CART, buyer_id, now)]
    total_minor = sum(item.line_total_minor for item in items if item.in_stock)
    return Cart(id=cart_id_of(buyer_id), items=items, total_minor=total_minor, currency="NGN")


def _item(record: Record) -> CartItem:
    current_minor, quantity, available = record["unit_price_minor"], record["quantity"], record["available"] or 0
    unit_price_minor = record["price_seen_minor"] if current_minor is None else current_minor
    return CartItem.from_row(
        record,
        name=record["name"] or record["name_seen"],
        unit_price_minor=unit_price_minor,
        line_total_minor=unit_price_minor * quantity,
        price_changed=unit_price_minor != record["price_seen_minor"],
        in_stock=available >= quantity,
        available=available,
    )
