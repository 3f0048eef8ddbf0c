"""The buyer's saved products and followed vendors (contract section 11.7)."""

from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.web.pages import CursorPage, CursorRequest, cursor_page, position_in_time
from orders.queries.products import PRODUCT_COLUMNS_LISTED, product_of
from orders.responses.saved_items import FollowedVendor, SavedProduct

# One statement for a page: a product that is no longer listed has no columns but its id.
_SAVED: Final = """
SELECT saved.product_id, saved.saved_at, product.*
FROM saved_products AS saved
LEFT JOIN LATERAL (SELECT {columns} FROM listed_products WHERE listed_products.id = saved.product_id) AS product ON true
WHERE saved.buyer_id = $1 {beyond}
ORDER BY saved.saved_at DESC, saved.product_id DESC LIMIT {limit}
"""
_FOLLOWED: Final = """
SELECT followed.vendor_id, vendor.business_name, followed.followed_at
FROM followed_vendors AS followed JOIN vendors AS vendor ON vendor.id = followed.vendor_id
WHERE followed.buyer_id = $1 {beyond}
ORDER BY followed.followed_at DESC, followed.vendor_id DESC LIMIT {limit}
"""


async def page_of_saved_products(
    uow: UnitOfWork,
    requested: CursorRequest,
    buyer_id: UUID,
    *,
    now: datetime,
    media_url: str,
) -> CursorPage[SavedProduct]:
    """One page of the saved products, the last saved first."""
    scope = ["saved products", buyer_id]
    position = requested.time_position(scope) or ()
    beyond = "AND (saved.saved_at, saved.product_id) < ($2, $3)" if position else ""
    statement = _SAVED.format(columns=PRODUCT_COLUMNS_LISTED, beyond=beyond, limit=requested.limit + 1)
    records = await uow.fetch(statement, buyer_id, *position)
    return cursor_page(
        requested,
        scope,
        records,
        position_of=lambda record: position_in_time(record["saved_at"], record["product_id"]),
        item_of=lambda record: _saved(record, media_url, now),
    )


async def find_saved_product(
    uow: UnitOfWork, buyer_id: UUID, product_id: UUID, *, now: datetime, media_url: str
) -> SavedProduct | None:
    """Return the saved product; None when the buyer has not saved it."""
    statement = _SAVED.format(columns=PRODUCT_COLUMNS_LISTED, beyond="AND saved.product_id = $2", limit=1)
    record = await uow.fetch_row(statement, buyer_id, product_id)
    return None if record is None else _saved(record, media_url, now)


async def page_of_followed_vendors(
    uow: UnitOfWork, requested: CursorRequest, buyer_id: UUID
) -> CursorPage[FollowedVendor]:
    """One page of the followed vendors, the last followed first."""
    scope = ["followed vendors", buyer_id]
    position = requested.time_position(scope) or ()
    beyond = "AND (followed.followed_at, followed.vendor_id) < ($2, $3)" if position else ""
    records = await uow.fetch(_FOLLOWED.format(beyond=beyond, limit=requested.limit + 1), buyer_id, *position)
    return cursor_page(
        requested,
        scope,
        records,
        position_of=lambda record: position_in_time(record["followed_at"], record["vendor_id"]),
        item_of=FollowedVendor.from_row,
    )


async def find_followed_vendor(uow: UnitOfWork, buyer_id: UUID, vendor_id: UUID) -> FollowedVendor | None:
    """Return the followed vendor; None when the buyer does not follow it."""
    record = await uow.fetch_row(_FOLLOWED.format(beyond="AND followed.vendor_id = $2", limit=1), buyer_id, vendor_id)
    return None if record is None else FollowedVendor.from_row(record)


def _saved(record: Record, media_url: str, now: datetime) -> SavedProduct:
    product = None if record["id"] is None else product_of(record, media_url, now)
    return SavedProduct(product_id=record["product_id"], saved_at=iso(record["saved_at"]), product=product)
