"""A vendor's own products: published, drafts and removed ones (contract section 11)."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from asyncpg import Record
from msgspec import UNSET, UnsetType

from common.database.parameters import Parameters
from common.database.unit_of_work import UnitOfWork
from common.web.pages import CursorPage, CursorRequest
from orders.domain.products import STOCK_LOW_MAX
from orders.queries.pages import newest_page
from orders.queries.product_views import (
    PRODUCT_COLUMNS,
    current_absence,
    flash_sales_of,
    image_urls,
    product_variants,
    running_sale,
    variants_of,
    vendor_absence_of,
)
from orders.responses.products import OwnProduct, ProductVariant

_COLUMNS: Final = f"""
    {PRODUCT_COLUMNS},
    CASE WHEN removed_at IS NOT NULL THEN 'removed' WHEN draft THEN 'draft' ELSE 'published' END AS status,
    updated_at, hidden_because,
    {flash_sales_of("products")} AS flash_sales, {vendor_absence_of("products")} AS vendor_absence
"""
_OWN_PRODUCT: Final = (
    f"SELECT {_COLUMNS}, {variants_of('products')} AS variants FROM products "
    "WHERE id = $1 AND vendor_id = $2 AND removed_at IS NULL"
)
_HIDDEN_PRODUCT: Final = (
    f"SELECT {_COLUMNS}, {variants_of('products')} AS variants FROM products WHERE id = $1 AND hidden_at IS NOT NULL"
)
_WITH_STATUS: Final[Mapping[str | None, str]] = {
    None: "",
    "published": " AND removed_at IS NULL AND NOT draft",
    "draft": " AND removed_at IS NULL AND draft",
    "removed": " AND removed_at IS NOT NULL",
}


@dataclass(frozen=True, slots=True)
class OwnProductFilter:
    """`text` is a part of the name; None of a field means all."""

    status: str | None
    text: str | None
    low_stock: bool | None


async def find_own_product(
    uow: UnitOfWork, product_id: UUID, vendor_id: UUID, *, now: datetime, media_url: str
) -> OwnProduct | None:
    """Return the vendor's product; None when it is absent, removed or another vendor's."""
    record = await uow.fetch_row(_OWN_PRODUCT, product_id, vendor_id)
    if record is None:
        return None
    return _product(
        record, media_url=media_url, now=now, variants=product_variants(record["variants"], record["flash_sales"], now)
    )


async def find_hidden_product(uow: UnitOfWork, product_id: UUID, *, now: datetime, media_url: str) -> OwnProduct | None:
    """Return a product that staff hid; row policies show it to its vendor and to staff of its campus or of reports."""
    record = await uow.fetch_row(_HIDDEN_PRODUCT, product_id)
    if record is None:
        return None
    variants = product_variants(record["variants"], record["flash_sales"], now)
    return _product(record, media_url=media_url, now=now, variants=variants)


async def page_of_own_products(
    uow: UnitOfWork,
    requested: CursorRequest,
    vendor_id: UUID,
    narrowed: OwnProductFilter,
    *,
    now: datetime,
    media_url: str,
) -> CursorPage[OwnProduct]:
    """One page of the vendor's products, newest first."""
    scope = ["own products", *astuple(narrowed), vendor_id]
    position = requested.time_position(scope)
    values = Parameters(vendor_id)
    conditions = [f"vendor_id = $1{_WITH_STATUS[narrowed.status]}"]
    if narrowed.text:
        conditions.append(values.condition("strpos(lower(name), lower({})) > 0", narrowed.text))
    if narrowed.low_stock is not None:
        sign = "<=" if narrowed.low_stock else ">"
        conditions.append(values.condition(f"stock {sign} {{}}", STOCK_LOW_MAX))
    if position:
        conditions.append(values.condition("(created_at, id) < ({}, {})", *position))
    records = await uow.fetch(
        f"SELECT {_COLUMNS} FROM products WHERE {' AND '.join(conditions)} "
        f"ORDER BY created_at DESC, id DESC LIMIT {requested.limit + 1}",
        *values.values,
    )
    return newest_page(records, requested, scope, partial(_product, media_url=media_url, now=now))


def _product(
    record: Record, *, media_url: str, now: datetime, variants: list[ProductVariant] | UnsetType = UNSET
) -> OwnProduct:
    return OwnProduct.from_row(
        record,
        low_stock=record["stock"] <= STOCK_LOW_MAX,
        flash_sale=running_sale(record["flash_sales"], now),
        vendor_away=current_absence(record["vendor_absence"], now),
        images=image_urls(record["images"], media_url),
        variants=variants,
    )
