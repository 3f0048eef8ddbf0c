"""Takedowns of products by campus admins."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.takedowns import Listing, Takedown

_LOCK_LISTING: Final = """
SELECT product.id, product.vendor_id, product.campus_id, product.name, product.hidden_at,
    (SELECT owner_user_id FROM vendors WHERE vendors.id = product.vendor_id) AS vendor_owner_id
FROM products AS product WHERE product.id = $1 AND product.removed_at IS NULL AND NOT product.draft
FOR NO KEY UPDATE OF product
"""
_LOCK_ANY: Final = """
SELECT product.id, product.vendor_id, product.campus_id, product.name, product.hidden_at,
    (SELECT owner_user_id FROM vendors WHERE vendors.id = product.vendor_id) AS vendor_owner_id
FROM products AS product JOIN product_takedowns AS takedown ON takedown.product_id = product.id
WHERE takedown.id = $1 FOR NO KEY UPDATE OF product
"""
_RECORD: Final = """
INSERT INTO product_takedowns (id, product_id, vendor_id, campus_id, reason, delisted_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_LOCK: Final = """
SELECT id, product_id, created_at, restored_at IS NOT NULL AS is_restored FROM product_takedowns WHERE id = $1
FOR UPDATE
"""
_RESTORE: Final = """
UPDATE product_takedowns SET restored_by = $2, restored_at = $3, restored_because = $4
WHERE id = $1 AND restored_at IS NULL
"""


async def lock_listing(uow: UnitOfWork, product_id: UUID) -> Listing | None:
    """Return a published product, hidden or not, locked; None for any other."""
    row = await uow.fetch_row(_LOCK_LISTING, product_id)
    return None if row is None else Listing(*row)


async def lock_delisted(uow: UnitOfWork, takedown_id: UUID) -> tuple[Listing, Takedown] | None:
    """Return the product of a takedown and the takedown, both locked; None for an absent one."""
    product = await uow.fetch_row(_LOCK_ANY, takedown_id)
    if product is None:
        return None
    [takedown] = await uow.fetch(_LOCK, takedown_id)
    return Listing(*product), Takedown(*takedown)


async def record_takedown(
    uow: UnitOfWork, takedown_id: UUID, listing: Listing, *, reason: str, delisted_by: UUID, now: datetime
) -> None:
    await uow.execute(_RECORD, takedown_id, listing.id, listing.vendor_id, listing.campus_id, reason, delisted_by, now)


async def save_restored(uow: UnitOfWork, takedown_id: UUID, *, restored_by: UUID, reason: str, now: datetime) -> None:
    """End an open takedown."""
    await uow.execute(_RESTORE, takedown_id, restored_by, now, reason)
