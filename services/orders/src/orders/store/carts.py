"""The lines of a buyer's cart. All of it runs as the buyer, whose policy shows them nobody else's."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.quotes import RequestedItem
from orders.store.erasure import refuse_during_erasure

# The product as it is sold now; a line beyond the limit is not written, one that stands is changed.
_SAVE_ITEM: Final = """
INSERT INTO cart_items (buyer_id, product_id, vendor_id, name, price_seen_minor, quantity, added_at)
SELECT $1, $2, $3, $4, $5, $6, $7
WHERE (SELECT count(*) FROM cart_items WHERE buyer_id = $1 AND product_id <> $2) < $8
ON CONFLICT (buyer_id, product_id) DO UPDATE SET quantity = excluded.quantity, price_seen_minor = excluded.price_seen_minor,
    name = excluded.name, vendor_id = excluded.vendor_id
"""
_REMOVE_ITEM: Final = "DELETE FROM cart_items WHERE buyer_id = $1 AND product_id = $2"
_EMPTY: Final = "DELETE FROM cart_items WHERE buyer_id = $1"
_VENDORS: Final = "SELECT DISTINCT vendor_id FROM cart_items WHERE buyer_id = $1 LIMIT 2"
_TAKE: Final = """
WITH taken AS (DELETE FROM cart_items WHERE buyer_id = $1 AND vendor_id = $2 RETURNING product_id, quantity, added_at)
SELECT product_id, quantity FROM taken ORDER BY added_at, product_id
"""


async def save_item(
    uow: UnitOfWork,
    *,
    buyer_id: UUID,
    product_id: UUID,
    vendor_id: UUID,
    name: str,
    price_seen_minor: int,
    quantity: int,
    now: datetime,
    items_max: int,
) -> bool:
    """Whether there was room for the line."""
    values = (buyer_id, product_id, vendor_id, name, price_seen_minor, quantity, now, items_max)
    with refuse_during_erasure():
        return await uow.execute(_SAVE_ITEM, *values) == 1


async def remove_item(uow: UnitOfWork, buyer_id: UUID, product_id: UUID) -> None:
    await uow.execute(_REMOVE_ITEM, buyer_id, product_id)


async def empty(uow: UnitOfWork, buyer_id: UUID) -> None:
    await uow.execute(_EMPTY, buyer_id)


async def list_vendors(uow: UnitOfWork, buyer_id: UUID) -> list[UUID]:
    """The vendors whose goods are in the cart; two at most are told."""
    return [row["vendor_id"] for row in await uow.fetch(_VENDORS, buyer_id)]


async def claim_cart_items(uow: UnitOfWork, buyer_id: UUID, vendor_id: UUID) -> list[RequestedItem]:
    """Takes the vendor's part out of the cart. Of two checkouts at once the second waits, and finds nothing more."""
    return [RequestedItem(row["product_id"], row["quantity"]) for row in await uow.fetch(_TAKE, buyer_id, vendor_id)]
