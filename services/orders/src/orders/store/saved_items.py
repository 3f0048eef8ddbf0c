"""Saved products and followed vendors, under the buyer's row policy, and the changes that savers are notified of."""

from datetime import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.store.erasure import refuse_during_erasure

_IS_SAVED: Final = "SELECT EXISTS (SELECT FROM saved_products WHERE buyer_id = $1 AND product_id = $2)"
_IS_LISTED: Final = "SELECT EXISTS (SELECT FROM listed_products WHERE id = $1)"
_SAVE_PRODUCT: Final = """
INSERT INTO saved_products (buyer_id, product_id, saved_at)
SELECT $1, $2, $3 WHERE (SELECT count(*) FROM saved_products WHERE buyer_id = $1) < $4
ON CONFLICT DO NOTHING
"""
_REMOVE_PRODUCT: Final = "DELETE FROM saved_products WHERE buyer_id = $1 AND product_id = $2"
_IS_FOLLOWED: Final = "SELECT EXISTS (SELECT FROM followed_vendors WHERE buyer_id = $1 AND vendor_id = $2)"
_IS_OPEN: Final = "SELECT EXISTS (SELECT FROM vendors WHERE id = $1 AND NOT suspended)"
_FOLLOW_VENDOR: Final = """
INSERT INTO followed_vendors (buyer_id, vendor_id, followed_at)
SELECT $1, $2, $3 WHERE (SELECT count(*) FROM followed_vendors WHERE buyer_id = $1) < $4
ON CONFLICT DO NOTHING
"""
_UNFOLLOW_VENDOR: Final = "DELETE FROM followed_vendors WHERE buyer_id = $1 AND vendor_id = $2"
# A change of a product that is not listed, or sold out again, is dropped.
_CLAIM_CHANGE: Final = """
SELECT change.id, change.product_id, change.kind, change.price_minor, change.published_to, product.vendor_id,
    product.name
FROM saved_product_changes AS change
LEFT JOIN listed_products AS product
    ON product.id = change.product_id AND (product.stock > 0 OR change.kind <> 'back_in_stock')
ORDER BY change.id LIMIT 1 FOR UPDATE OF change SKIP LOCKED
"""
_SAVERS: Final = """
SELECT buyer_id FROM saved_products
WHERE product_id = $1 AND ($2::uuid IS NULL OR buyer_id > $2) ORDER BY buyer_id LIMIT $3
"""
_SAVE_PROGRESS: Final = "UPDATE saved_product_changes SET published_to = $2 WHERE id = $1"
_DELETE_CHANGE: Final = "DELETE FROM saved_product_changes WHERE id = $1"


class SavedProductChange(NamedTuple):
    """A change of a saved product. `vendor_id` and `name` are None when the product is not for sale any more."""

    id: UUID
    product_id: UUID
    kind: Literal["back_in_stock", "price_drop"]
    price_minor: int
    published_to: UUID | None
    vendor_id: UUID | None
    name: str | None


async def is_saved(uow: UnitOfWork, buyer_id: UUID, product_id: UUID) -> bool:
    return bool(await uow.fetch_value(_IS_SAVED, buyer_id, product_id))


async def is_listed(uow: UnitOfWork, product_id: UUID) -> bool:
    return bool(await uow.fetch_value(_IS_LISTED, product_id))


async def save_product(uow: UnitOfWork, buyer_id: UUID, product_id: UUID, now: datetime, entries_max: int) -> bool:
    """Save a product; False when the list is full, or another request has saved it."""
    with refuse_during_erasure():
        return await uow.execute(_SAVE_PRODUCT, buyer_id, product_id, now, entries_max) == 1


async def remove_product(uow: UnitOfWork, buyer_id: UUID, product_id: UUID) -> None:
    await uow.execute(_REMOVE_PRODUCT, buyer_id, product_id)


async def is_followed(uow: UnitOfWork, buyer_id: UUID, vendor_id: UUID) -> bool:
    return bool(await uow.fetch_value(_IS_FOLLOWED, buyer_id, vendor_id))


async def is_open_vendor(uow: UnitOfWork, vendor_id: UUID) -> bool:
    """Return whether the vendor is known and neither suspended nor closed."""
    return bool(await uow.fetch_value(_IS_OPEN, vendor_id))


async def follow_vendor(uow: UnitOfWork, buyer_id: UUID, vendor_id: UUID, now: datetime, entries_max: int) -> bool:
    """Follow a vendor; False when the list is full, or another request has added it."""
    with refuse_during_erasure():
        return await uow.execute(_FOLLOW_VENDOR, buyer_id, vendor_id, now, entries_max) == 1


async def unfollow_vendor(uow: UnitOfWork, buyer_id: UUID, vendor_id: UUID) -> None:
    await uow.execute(_UNFOLLOW_VENDOR, buyer_id, vendor_id)


async def claim_change(uow: UnitOfWork) -> SavedProductChange | None:
    """Return a change that no other worker holds, locked until the transaction ends; None without any."""
    row = await uow.fetch_row(_CLAIM_CHANGE)
    return None if row is None else SavedProductChange(*row)


async def list_savers(uow: UnitOfWork, product_id: UUID, after: UUID | None, limit: int) -> list[UUID]:
    """Return the next savers of the product, by their ids."""
    return [buyer_id for (buyer_id,) in await uow.fetch(_SAVERS, product_id, after, limit)]


async def save_progress(uow: UnitOfWork, change_id: UUID, published_to: UUID) -> None:
    await uow.execute(_SAVE_PROGRESS, change_id, published_to)


async def delete_change(uow: UnitOfWork, change_id: UUID) -> None:
    await uow.execute(_DELETE_CHANGE, change_id)
