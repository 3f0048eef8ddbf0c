"""Flash sales as a caller may see them (contract section 11)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record

from common.auth.caller import Caller
from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import Database, UnitOfWork
from common.web.pages import CursorPage, CursorRequest
from orders.domain import flash_sales
from orders.domain.variants import named
from orders.queries.filters import Filters, FilterValue
from orders.queries.pages import newest_page
from orders.responses.flash_sales import FlashSale

_SALES: Final = """
SELECT sale.id, sale.product_id, sale.variant_id, product.name AS product_name, variant.option_values, sale.vendor_id,
    sale.campus_id, sale.price_minor, coalesce(variant.price_minor, product.price_minor) AS regular_price_minor,
    'NGN' AS currency, sale.quantity, sale.quantity - sale.sold AS remaining,
    sale.per_buyer_limit,
    CASE WHEN sale.approved_at IS NULL THEN CASE WHEN sale.ends_at <= greatest($1, sale.starts_at) THEN 'expired'
        ELSE 'prepared' END
         WHEN sale.ends_at <= $1 THEN 'ended' WHEN sale.starts_at > $1 THEN 'upcoming'
         WHEN sale.sold >= sale.quantity THEN 'sold_out' ELSE 'running' END AS status,
    sale.starts_at, sale.ends_at, sale.created_at, sale.approved_at, sale.created_by
FROM flash_sales AS sale JOIN listed_products AS product ON product.id = sale.product_id
LEFT JOIN product_variants AS variant ON variant.id = sale.variant_id
"""
_SALE: Final = f"{_SALES} WHERE sale.id = $2"
_FILTERS: Final[Mapping[str, str]] = {
    "productId": "sale.product_id = {}",
    "vendorId": "sale.vendor_id = {}",
    "campusId": "sale.campus_id = {}",
}
# $1 is the current time.
PREPARED_SALE: Final = "sale.approved_at IS NULL AND sale.ends_at > greatest($1, sale.starts_at)"
_STATUS: Final[Mapping[FilterValue, str]] = {
    None: "sale.approved_at IS NOT NULL AND sale.ends_at > $1",
    "upcoming": "sale.approved_at IS NOT NULL AND sale.starts_at > $1 AND sale.ends_at > $1",
    "running": "sale.approved_at IS NOT NULL AND sale.starts_at <= $1 AND sale.ends_at > $1",
    "ended": "sale.approved_at IS NOT NULL AND sale.ends_at <= $1",
    "prepared": PREPARED_SALE,
}


async def page_of_sales(
    database: Database,
    requested: CursorRequest,
    caller: Caller,
    filters: Filters,
    *,
    now: datetime,
) -> CursorPage[FlashSale]:
    """One page of flash sales, newest first, with their status at `now`.

    Row policies show prepared sales to the vendor and to the staff of the campus only.
    """
    scope = ["flash sales", *sorted(filters.items()), caller.user_id]
    parameters = Parameters(now, requested.limit + 1)
    given = {name: filters[name] for name in _FILTERS if name in filters}
    conditions = [_STATUS[filters.get("status")], *parameters.conditions(_FILTERS, given)]
    if position := requested.time_position(scope):
        conditions.append(parameters.condition("(sale.created_at, sale.id) < ({}, {})", *position))
    statement = f"{_SALES} WHERE {all_of(conditions)} ORDER BY sale.created_at DESC, sale.id DESC LIMIT $2"
    if filters.get("status") == "prepared":
        async with database.unit_of_work(acting_as=caller) as uow:
            records = await uow.fetch(statement, *parameters.values)
    else:
        records = await database.fetch_public(statement, *parameters.values)
    return newest_page(records, requested, scope, _sale)


async def find_public_sale(database: Database, sale_id: UUID, *, now: datetime) -> FlashSale | None:
    """Return the sale as an anonymous caller sees it."""
    records = await database.fetch_public(_SALE, now, sale_id)
    return _sale(records[0]) if records else None


async def find_sale(uow: UnitOfWork, sale_id: UUID, *, now: datetime) -> FlashSale | None:
    """Return the sale as the caller sees it, with the changes of this transaction."""
    record = await uow.fetch_row(_SALE, now, sale_id)
    return _sale(record) if record else None


def _sale(record: Record) -> FlashSale:
    terms = flash_sales.SaleTerms(
        *(
            record[name]
            for name in (
                "product_id",
                "price_minor",
                "quantity",
                "per_buyer_limit",
                "starts_at",
                "ends_at",
                "variant_id",
            )
        )
    )
    is_approved = record["approved_at"] is not None
    sale = flash_sales.FlashSale(
        record["id"], record["vendor_id"], record["campus_id"], terms, record["created_by"], is_approved
    )
    name, option_values = record["product_name"], record["option_values"]
    return FlashSale.from_row(
        record,
        product_name=name if option_values is None else named(name, option_values),
        hash=None if is_approved else sale.hash,
    )
