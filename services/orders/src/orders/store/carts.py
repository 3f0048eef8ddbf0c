"""The lines of a buyer's cart, under the buyer's row policy."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.carts import CartOffer
from orders.domain.quotes import RequestedItem
from orders.store.erasure import refuse_during_erasure

# A new line beyond the limit is not inserted; an existing line is updated.
_SAVE_ITEM: Final = """
INSERT INTO cart_items (buyer_id, product_id, vendor_id, name, price_seen_minor, quantity, added_at)
SELECT $1, $2, $3, $4, $5, $6, $7
WHERE (SELECT count(*) FROM cart_items WHERE buyer_id = $1 AND product_id <> $2)
    + (SELECT count(*) FROM cart_variants WHERE buyer_id = $1) < $8
ON CONFLICT (buyer_id, product_id)
DO UPDATE SET quantity = excluded.quantity, price_seen_minor = excluded.price_seen_minor,
    name = excluded.name, vendor_id = excluded.vendor_id
"""
_SAVE_VARIANT: Final = """
INSERT INTO cart_variants (buyer_id, product_id, vendor_id, name, price_seen_minor, quantity, added_at, variant_id)
SELECT $1, $2, $3, $4, $5, $6, $7, $9
WHERE (SELECT count(*) FROM cart_items WHERE buyer_id = $1)
    + (SELECT count(*) FROM cart_variants WHERE buyer_id = $1 AND variant_id <> $9) < $8
ON CONFLICT (buyer_id, product_id, variant_id) DO UPDATE SET quantity = excluded.quantity,
    price_seen_minor = excluded.price_seen_minor, name = excluded.name, vendor_id = excluded.vendor_id
"""
_REMOVE_ITEM: Final = """
WITH variants AS (
    DELETE FROM cart_variants WHERE buyer_id = $1 AND product_id = $2 AND ($3::uuid IS NULL OR variant_id = $3)
)
DELETE FROM cart_items WHERE buyer_id = $1 AND product_id = $2 AND $3 IS NULL
"""
_REMOVE_ALL_ITEMS: Final = """
WITH variants AS (DELETE FROM cart_variants WHERE buyer_id = $1) DELETE FROM cart_items WHERE buyer_id = $1
"""
_VENDORS: Final = """
SELECT vendor_id FROM cart_items WHERE buyer_id = $1 UNION SELECT vendor_id FROM cart_variants WHERE buyer_id = $1
LIMIT 2
"""
_CLAIM_ITEMS: Final = """
WITH claimed AS (
    DELETE FROM cart_items WHERE buyer_id = $1 AND ($2::uuid IS NULL OR vendor_id = $2)
    RETURNING product_id, quantity, NULL::uuid AS variant_id, added_at
), claimed_variants AS (
    DELETE FROM cart_variants WHERE buyer_id = $1 AND ($2 IS NULL OR vendor_id = $2)
    RETURNING product_id, quantity, variant_id, added_at
)
SELECT product_id, quantity, variant_id FROM (SELECT * FROM claimed UNION ALL SELECT * FROM claimed_variants) AS line
ORDER BY added_at, product_id, variant_id
"""


async def save_item(
    uow: UnitOfWork, buyer_id: UUID, item: RequestedItem, offer: CartOffer, *, now: datetime, items_max: int
) -> bool:
    """Save a line at the price of the offer; False when the cart is full."""
    seen = (offer.vendor_id, offer.name, offer.unit_price_minor)
    values = (buyer_id, item.product_id, *seen, item.quantity, now, items_max)
    with refuse_during_erasure():
        if item.variant_id is None:
            return await uow.execute(_SAVE_ITEM, *values) == 1
        return await uow.execute(_SAVE_VARIANT, *values, item.variant_id) == 1


async def remove_item(uow: UnitOfWork, buyer_id: UUID, product_id: UUID, variant_id: UUID | None) -> None:
    """Remove the line of a variant, or all lines of the product."""
    await uow.execute(_REMOVE_ITEM, buyer_id, product_id, variant_id)


async def remove_all_items(uow: UnitOfWork, buyer_id: UUID) -> None:
    await uow.execute(_REMOVE_ALL_ITEMS, buyer_id)


async def list_vendors(uow: UnitOfWork, buyer_id: UUID) -> list[UUID]:
    """Return the vendors of the products in the cart, at most two of them."""
    return [vendor_id for (vendor_id,) in await uow.fetch(_VENDORS, buyer_id)]


async def claim_cart_items(uow: UnitOfWork, buyer_id: UUID, vendor_id: UUID | None) -> list[RequestedItem]:
    """Remove and return the vendor's lines, or all. Of two concurrent checkouts the second waits and then gets no
    lines.
    """
    return [RequestedItem(*row) for row in await uow.fetch(_CLAIM_ITEMS, buyer_id, vendor_id)]
