"""Sales of a limited quantity, for everybody (contract section 11)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.primitives.cursors import CursorSigner
from orders.domain.flash_sales import FlashSale, SaleTerms
from orders.queries.pages import Page, Row

_COLUMNS: Final = """
    sale.id, sale.product_id, product.name AS product_name, sale.vendor_id, sale.campus_id, sale.price_minor,
    product.price_minor AS regular_price_minor, sale.quantity, sale.quantity - sale.sold AS remaining, sale.per_buyer_limit,
    CASE WHEN sale.approved_at IS NULL THEN CASE WHEN sale.ends_at <= greatest($1, sale.starts_at) THEN 'expired' ELSE 'prepared' END
         WHEN sale.ends_at <= $1 THEN 'ended' WHEN sale.starts_at > $1 THEN 'upcoming'
         WHEN sale.sold >= sale.quantity THEN 'sold_out' ELSE 'running' END AS status,
    sale.starts_at, sale.ends_at, sale.created_at, sale.created_by, sale.approved_at
"""
_FROM: Final = """
    FROM flash_sales AS sale JOIN shelf AS product ON product.id = sale.product_id
"""
_SALE: Final = f"SELECT {_COLUMNS} {_FROM} WHERE sale.id = $2"
_FILTERS: Final[Mapping[str, str]] = {
    "productId": "sale.product_id = ${}",
    "vendorId": "sale.vendor_id = ${}",
    "campusId": "sale.campus_id = ${}",
}
_STATUS: Final[Mapping[str | None, str]] = {
    None: "sale.approved_at IS NOT NULL AND sale.ends_at > $1",
    "upcoming": "sale.approved_at IS NOT NULL AND sale.starts_at > $1 AND sale.ends_at > $1",
    "running": "sale.approved_at IS NOT NULL AND sale.starts_at <= $1 AND sale.ends_at > $1",
    "ended": "sale.approved_at IS NOT NULL AND sale.ends_at <= $1",
    "prepared": "sale.approved_at IS NULL AND sale.ends_at > greatest($1, sale.starts_at)",
}


async def page_of_sales(
    database: Database,
    signer: CursorSigner,
    caller: Caller,
    filters: Mapping[str, Any],
    limit: int,
    cursor: str | None,
    *,
    now: datetime,
) -> Page:
    """One page of sales, newest first. Which of them are running is judged at this moment. Those that wait for the vendor's consent
    are shown by the row policies: to the vendor and to the staff of the campus."""
    scope = ["flash sales", *sorted(filters.items()), caller.user_id]
    values: list[Any] = [now, limit + 1]
    clauses = [_STATUS[filters.get("status")]]
    for name, clause in _FILTERS.items():
        if name in filters:
            values.append(filters[name])
            clauses.append(clause.format(len(values)))
    if cursor is not None:
        mark, last_id = signer.open(scope, cursor)
        values += [datetime.fromisoformat(mark), UUID(last_id)]
        clauses.append(f"(sale.created_at, sale.id) < (${len(values) - 1}, ${len(values)})")
    statement = (
        f"SELECT {_COLUMNS} {_FROM} WHERE {' AND '.join(clauses)} ORDER BY sale.created_at DESC, sale.id DESC LIMIT $2"
    )
    if filters.get("status") == "prepared":
        async with database.unit_of_work(acting_as=caller) as uow:
            records = await uow.fetch(statement, *values)
    else:
        records = await database.fetch_public(statement, *values)
    next_cursor = None
    if len(records) > limit:
        last = records[limit - 1]
        next_cursor = signer.sign(scope, [last["created_at"].isoformat(), str(last["id"])])
    return Page([_shown(record) for record in records[:limit]], next_cursor, limit)


async def find_public_sale(database: Database, sale_id: UUID, *, now: datetime) -> Row | None:
    records = await database.fetch_public(_SALE, now, sale_id)
    return _shown(records[0]) if records else None


async def find_sale(uow: UnitOfWork, sale_id: UUID, *, now: datetime) -> Row | None:
    """The sale as the caller sees it, and as this transaction left it."""
    record = await uow.fetch_row(_SALE, now, sale_id)
    return _shown(record) if record else None


def _hash_of(record: Any) -> str:
    names = ("product_id", "price_minor", "quantity", "per_buyer_limit", "starts_at", "ends_at")
    terms = SaleTerms(*(record[name] for name in names))
    approved = record["approved_at"] is not None
    return FlashSale(record["id"], record["vendor_id"], record["campus_id"], terms, record["created_by"], approved).hash


def _shown(record: Any) -> Row:
    return {
        "id": record["id"],
        "productId": record["product_id"],
        "productName": record["product_name"],
        "vendorId": record["vendor_id"],
        "campusId": record["campus_id"],
        "priceMinor": record["price_minor"],
        "regularPriceMinor": record["regular_price_minor"],
        "currency": "NGN",
        "quantity": record["quantity"],
        "remaining": record["remaining"],
        "perBuyerLimit": record["per_buyer_limit"],
        "status": record["status"],
        "startsAt": iso(record["starts_at"]),
        "endsAt": iso(record["ends_at"]),
        "createdAt": iso(record["created_at"]),
        "approvedAt": iso_or_none(record["approved_at"]),
        "hash": _hash_of(record) if record["approved_at"] is None else None,
    }
