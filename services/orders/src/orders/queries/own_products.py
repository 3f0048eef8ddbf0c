"""What a merchant has: on the shelf, as a draft, or removed (contract section 11)."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.cursors import CursorSigner
from orders.queries.pages import Page, Row
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
_WITH_STATUS: Final = {
    None: "",
    "published": " AND removed_at IS NULL AND NOT draft",
    "draft": " AND removed_at IS NULL AND draft",
    "removed": " AND removed_at IS NOT NULL",
}


async def find_own_product(
    uow: UnitOfWork, product_id: UUID, vendor_id: UUID, *, now: datetime, media_url: str
) -> Row | None:
    """A product of the vendor that was not removed."""
    record = await uow.fetch_row(_OWN_PRODUCT, product_id, vendor_id)
    return None if record is None else _product(record, media_url, now)


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
) -> Page:
    """One page of the vendor's products, newest first."""
    scope = ["own products", status, vendor_id]
    values: list[Any] = [vendor_id]
    beyond = ""
    if cursor is not None:
        mark, last_id = signer.open(scope, cursor)
        values += [datetime.fromisoformat(mark), UUID(last_id)]
        beyond = " AND (created_at, id) < ($2, $3)"
    records = await uow.fetch(
        f"SELECT {_COLUMNS} FROM products WHERE vendor_id = $1{_WITH_STATUS[status]}{beyond} "
        f"ORDER BY created_at DESC, id DESC LIMIT {limit + 1}",
        *values,
    )
    next_cursor = None
    if len(records) > limit:
        last = records[limit - 1]
        next_cursor = signer.sign(scope, [last["createdAt"].isoformat(), str(last["id"])])
    return Page([_product(record, media_url, now) for record in records[:limit]], next_cursor, limit)


def _product(record: Any, media_url: str, now: datetime) -> Row:
    row = dict(record)
    if row["flashSale"] is not None:
        row["flashSale"] = running_sale(row["flashSale"], now)
    row["createdAt"], row["updatedAt"] = iso(row["createdAt"]), iso(row["updatedAt"])
    row["images"] = [f"{media_url}/{image_id}" for image_id in row["images"]]
    return row
