"""A vendor's own products: published, drafts and removed ones (contract section 11)."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.cursors import CursorSigner
from common.web.pages import CursorPage, time_position
from orders.queries.pages import Row, newest_page, response_row
from orders.queries.product_views import flash_sales_of, running_sale

_COLUMNS: Final = f"""
    id, vendor_id AS "vendorId", vendor_name AS "vendorName", campus_id AS "campusId", name, description, category,
    price_minor AS "priceMinor", currency, stock, stock > 0 AS "inStock", images,
    round(rating_sum::numeric / nullif(rating_count, 0), 2)::float8 AS rating, rating_count AS "ratingCount",
    CASE WHEN removed_at IS NOT NULL THEN 'removed' WHEN draft THEN 'draft' ELSE 'published' END AS status,
    revision, created_at AS "createdAt", updated_at AS "updatedAt",
    {flash_sales_of("products")} AS "flashSale"
"""
_OWN_PRODUCT: Final = f"SELECT {_COLUMNS} FROM products WHERE id = $1 AND vendor_id = $2 AND removed_at IS NULL"
_WITH_STATUS: Final[Mapping[str | None, str]] = {
    None: "",
    "published": " AND removed_at IS NULL AND NOT draft",
    "draft": " AND removed_at IS NULL AND draft",
    "removed": " AND removed_at IS NOT NULL",
}


async def find_own_product(
    uow: UnitOfWork, product_id: UUID, vendor_id: UUID, *, now: datetime, media_url: str
) -> Row | None:
    """Return the vendor's product; None when it is absent, removed or another vendor's."""
    record = await uow.fetch_row(_OWN_PRODUCT, product_id, vendor_id)
    return None if record is None else _product(record, media_url=media_url, now=now)


async def page_of_own_products(
    uow: UnitOfWork,
    signer: CursorSigner,
    vendor_id: UUID,
    status: str | None,
    limit: int,
    cursor: str | None,
    *,
    now: datetime,
    media_url: str,
) -> CursorPage[Row]:
    """One page of the vendor's products, newest first."""
    scope = ["own products", status, vendor_id]
    position = time_position(signer, scope, cursor) or ()
    beyond = " AND (created_at, id) < ($2, $3)" if position else ""
    records = await uow.fetch(
        f"SELECT {_COLUMNS} FROM products WHERE vendor_id = $1{_WITH_STATUS[status]}{beyond} "
        f"ORDER BY created_at DESC, id DESC LIMIT {limit + 1}",
        vendor_id,
        *position,
    )
    return newest_page(records, signer, scope, limit, partial(_product, media_url=media_url, now=now))


def _product(record: Any, *, media_url: str, now: datetime) -> Row:
    row = response_row(record)
    if row["flashSale"] is not None:
        row["flashSale"] = running_sale(row["flashSale"], now)
    row["images"] = [f"{media_url}/{image_id}" for image_id in row["images"]]
    return row
