"""A buyer's cart, with every product as it is sold now (contract section 11)."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.carts import cart_id_of
from orders.queries.pages import Row

# What one unit costs at this moment: a running sale's price, which ends where the sale does.
_SOLD_NOW: Final = """
    SELECT product.id, product.vendor_id, product.vendor_name, product.name, product.stock,
        least(product.price_minor, sale.price_minor) AS unit_price_minor,
        least(product.stock, sale.quantity - sale.sold) AS available
    FROM shelf AS product
    LEFT JOIN flash_sales AS sale ON sale.product_id = product.id AND sale.starts_at <= {now} AND sale.ends_at > {now}
        AND sale.approved_at IS NOT NULL
"""
_SOLD: Final = f"{_SOLD_NOW.format(now='$2')} WHERE product.id = $1"
_CART: Final = f"""
SELECT item.product_id, item.vendor_id, item.quantity, item.price_seen_minor, item.name AS name_seen, sold.name,
    sold.vendor_name, sold.unit_price_minor, sold.available
FROM cart_items AS item
LEFT JOIN LATERAL ({_SOLD_NOW.format(now="$2")} WHERE product.id = item.product_id) AS sold ON true
WHERE item.buyer_id = $1 ORDER BY item.added_at, item.product_id
"""


async def find_cart_offer(uow: UnitOfWork, product_id: UUID, *, now: datetime) -> Any:
    """The product as it is sold now; None when it is not."""
    return await uow.fetch_row(_SOLD, product_id, now)


async def find_cart(uow: UnitOfWork, buyer_id: UUID, *, now: datetime) -> Row:
    """The cart in its public shape; `put_in_cart` bounds its lines. `totalMinor` (kobo) is what could be bought now."""
    items = [_line(record) for record in await uow.fetch(_CART, buyer_id, now)]
    return {
        "id": cart_id_of(buyer_id),
        "items": items,
        "totalMinor": sum(item["lineTotalMinor"] for item in items if item["inStock"]),
        "currency": "NGN",
    }


def _line(record: Any) -> Row:
    price_minor = record["unit_price_minor"]
    shown_minor = record["price_seen_minor"] if price_minor is None else price_minor
    return {
        "productId": record["product_id"],
        "vendorId": record["vendor_id"],
        "vendorName": record["vendor_name"],
        "name": record["name"] or record["name_seen"],
        "quantity": record["quantity"],
        "unitPriceMinor": shown_minor,
        "lineTotalMinor": shown_minor * record["quantity"],
        "priceChanged": shown_minor != record["price_seen_minor"],
        "inStock": record["available"] is not None and record["available"] >= record["quantity"],
        "available": record["available"] or 0,
    }
