"""A buyer's cart with the current prices of its products (contract section 11)."""

from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import ValidationFailed
from orders.domain.carts import CartOffer, cart_id_of
from orders.domain.errors import VariantRequired
from orders.domain.variants import named
from orders.responses.carts import Cart, CartItem

# $1 is the buyer.
CART_LINES: Final = """
SELECT product_id, NULL::uuid AS variant_id, vendor_id, name, quantity, price_seen_minor, added_at FROM cart_items
WHERE buyer_id = $1
UNION ALL
SELECT product_id, variant_id, vendor_id, name, quantity, price_seen_minor, added_at FROM cart_variants
WHERE buyer_id = $1
"""
# The current price of one unit: a running flash sale's price, else the regular price.
CURRENT_OFFER: Final = """
    SELECT product.id, product.vendor_id, product.vendor_name, product.name, product.options <> '[]' AS has_variants,
        variant.id AS variant_id, variant.option_values,
        least(coalesce(variant.price_minor, product.price_minor), sale.price_minor) AS unit_price_minor,
        least(coalesce(variant.stock, product.stock), sale.quantity - sale.sold) AS available
    FROM listed_products AS product
    LEFT JOIN product_variants AS variant
        ON variant.id = {variant_id} AND variant.product_id = product.id AND variant.active
    LEFT JOIN flash_sales AS sale ON sale.variant_id IS NOT DISTINCT FROM variant.id AND sale.product_id = product.id
        AND sale.starts_at <= $2 AND sale.ends_at > $2
        AND sale.approved_at IS NOT NULL
"""
_OFFER: Final = f"""
SELECT vendor_id, name, unit_price_minor, has_variants, variant_id, option_values
FROM ({CURRENT_OFFER.format(variant_id="$3")} WHERE product.id = $1) AS offer
"""
_CART: Final = f"""
SELECT item.product_id, item.variant_id, item.vendor_id, item.quantity, item.price_seen_minor, item.name AS name_seen,
    offer.name, offer.option_values, offer.vendor_name, offer.unit_price_minor, offer.available
FROM ({CART_LINES}) AS item
LEFT JOIN LATERAL ({CURRENT_OFFER.format(variant_id="item.variant_id")} WHERE product.id = item.product_id) AS offer
    ON offer.variant_id IS NOT DISTINCT FROM item.variant_id AND offer.has_variants = (item.variant_id IS NOT NULL)
ORDER BY item.added_at, item.product_id, item.variant_id
"""


async def find_cart_offer(
    uow: UnitOfWork, product_id: UUID, variant_id: UUID | None, *, now: datetime
) -> CartOffer | None:
    """Return the product, or its variant, at its current price; None when the product is not listed.

    Raises VariantRequired and ValidationFailed (422) without the variant of a product that has some, and for an unknown
    one.
    """
    record = await uow.fetch_row(_OFFER, product_id, now, variant_id)
    if record is None:
        return None
    if variant_id is None and record["has_variants"]:
        raise VariantRequired([""])
    if record["variant_id"] != variant_id:
        raise ValidationFailed.of("variantId", "is no variant of the product that is sold")
    return CartOffer(record["vendor_id"], _name(record), record["unit_price_minor"])


def _name(record: Record) -> str:
    name: str = record["name"]
    return name if record["option_values"] is None else named(name, record["option_values"])


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
        name=_name(record) if record["name"] else record["name_seen"],
        unit_price_minor=unit_price_minor,
        line_total_minor=unit_price_minor * quantity,
        price_changed=unit_price_minor != record["price_seen_minor"],
        in_stock=available >= quantity,
        available=available,
    )
