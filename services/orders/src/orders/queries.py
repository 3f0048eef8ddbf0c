"""Reads for GET: SQL to rows in the public shape (contract sections 6 and 11)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec

from common.caller import Caller
from common.clock import iso, iso_or_none
from common.cursors import CursorSigner
from common.database import Database, UnitOfWork
from common.money import naira
from orders.domain.parties import sees_commission

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a cursor list."""

    rows: list[Row]
    next_cursor: str | None
    limit: int

    @property
    def meta(self) -> Row:
        """The pagination fields of the specification."""
        return {"next_cursor": self.next_cursor, "has_more": self.next_cursor is not None, "limit": self.limit}


# ------------------------------------------------------------------------------------------------------------- products

_PRODUCT_COLUMNS: Final = """
    id, vendor_id AS "vendorId", vendor_name AS "vendorName", campus_id AS "campusId", name, description, category,
    price_minor AS "priceMinor", currency, stock, stock > 0 AS "inStock", images,
    round(rating_sum::numeric / nullif(rating_count, 0), 2)::float8 AS rating, rating_count AS "ratingCount",
    revision, created_at AS "createdAt"
"""
_PRODUCT: Final = f"SELECT {_PRODUCT_COLUMNS} FROM products WHERE id = $1 AND removed_at IS NULL"


@dataclass(frozen=True, slots=True)
class Sort:
    """An order of the product list; `column` and `id` together say where a page ends."""

    column: str
    field: str
    descending: bool


SORTS: Final[Mapping[str, Sort]] = {
    "newest": Sort("created_at", "createdAt", descending=True),
    "price_asc": Sort("price_minor", "priceMinor", descending=False),
    "price_desc": Sort("price_minor", "priceMinor", descending=True),
}
# Each filter is a clause with one value; what is not asked for does not stand in the statement, so that each combination has the
# plan that fits it. asyncpg keeps them prepared.
_PRODUCT_FILTERS: Final[Mapping[str, str]] = {
    "q": "words @@ to_tsquery('english', {})",
    "vendorId": "vendor_id = {}",
    "campusId": "campus_id = {}",
    "category": "category = {}",
    "minPriceMinor": "price_minor >= {}",
    "maxPriceMinor": "price_minor <= {}",
    "inStock": "(stock > 0) = {}",
}
_WITHOUT_FRACTION: Final = len("2026-01-01T00:00:00Z")
# More words make a search narrower than any name, and dearer.
_SEARCH_WORDS_MAX: Final = 8


async def page_of_products(
    database: Database,
    signer: CursorSigner,
    caller: Caller,
    filters: Mapping[str, Any],
    sort_name: str,
    limit: int,
    cursor: str | None,
) -> Page:
    """One page of what is on the shelf, in one round trip: it is public, so nobody's settings are told to the database."""
    sort = SORTS[sort_name]
    scope = ["products", sort_name, *filters.items(), caller.user_id]
    clauses, values = ["removed_at IS NULL"], []
    for name, value in filters.items():
        values.append(_search_terms(value) if name == "q" else value)
        clauses.append(_PRODUCT_FILTERS[name].format(f"${len(values)}"))
    if cursor is not None:
        mark, last_id = signer.open(scope, cursor)
        values += [datetime.fromisoformat(mark) if sort.column == "created_at" else mark, UUID(last_id)]
        clauses.append(f"({sort.column}, id) {'<' if sort.descending else '>'} (${len(values) - 1}, ${len(values)})")
    direction = "DESC" if sort.descending else "ASC"
    statement = (
        f"SELECT {_PRODUCT_COLUMNS} FROM products WHERE {' AND '.join(clauses)} "
        f"ORDER BY {sort.column} {direction}, id {direction} LIMIT {limit + 1}"
    )
    records = await database.fetch_public(statement, *values)
    next_cursor = None
    if len(records) > limit:
        last = records[limit - 1]
        mark = last[sort.field]
        next_cursor = signer.sign(scope, [mark.isoformat() if sort.column == "created_at" else mark, str(last["id"])])
    return Page([_product(record) for record in records[:limit]], next_cursor, limit)


async def product(database: Database, product_id: UUID) -> Row | None:
    """A product on the shelf."""
    records = await database.fetch_public(_PRODUCT, product_id)
    return _product(records[0]) if records else None


def _product(record: Any) -> Row:
    row = dict(record)
    row["createdAt"] = _iso(row["createdAt"])
    return row


def _iso(instant: datetime) -> str:
    """`iso` of an instant in UTC at a sixth of its cost: twenty of them were a tenth of the page."""
    text: str = msgspec.to_builtins(instant)
    return f"{text[:-1]}.000Z" if len(text) == _WITHOUT_FRACTION else f"{text[:23]}Z"


def _search_terms(text: str) -> str:
    """Every word, or the beginning of one, must occur: `jol rice` finds Jollof Rice. No word at all finds nothing."""
    words = re.findall(r"[^\W_]+", text.lower())[:_SEARCH_WORDS_MAX]
    return " & ".join(f"'{word}':*" for word in words)


# --------------------------------------------------------------------------------------------------------------- orders

_ORDER_COLUMNS: Final = """
    orders.id, status, currency, buyer_id, vendor_id, campus_id, hub_id, total_amount, subtotal_minor, delivery_fee_minor,
    commission_minor, refunded_minor, delivery_note, payment_due_at, delivered_at, revision, orders.created_at, updated_at,
    (
        SELECT jsonb_agg(
            jsonb_build_object(
                'id', item.id, 'productId', item.product_id, 'name', item.name, 'quantity', item.quantity,
                'unitPriceMinor', item.unit_price_minor, 'lineTotalMinor', item.line_total_minor
            ) ORDER BY item.position
        ) FROM order_items AS item WHERE item.order_id = orders.id
    ) AS items
"""
_ORDER: Final = f"SELECT {_ORDER_COLUMNS} FROM orders WHERE id = $1"
_PIN: Final = "SELECT issue, sealed, wrong_tries FROM delivery_pins WHERE order_id = $1"


async def page_of_orders(uow: UnitOfWork, signer: CursorSigner, caller: Caller, limit: int, cursor: str | None) -> Page:
    """One page of the orders that concern the caller, newest first.

    The row policies say which these are. Each way to be concerned is a walk along an index of its own, so that a page costs the
    same with ten orders and with ten million.
    """
    scope = ["orders", caller.id]
    values: list[Any] = [limit + 1]
    beyond = ""
    if cursor is not None:
        mark, last_id = signer.open(scope, cursor)
        values += [datetime.fromisoformat(mark), UUID(last_id)]
        beyond = "AND (created_at, id) < ($2, $3)"
    walks = []
    for condition, value in _concerned(caller):
        if value is not None:
            values.append(value)
        walks.append(
            f"(SELECT id, created_at FROM orders WHERE {condition.format(f'${len(values)}')} {beyond} "
            "ORDER BY created_at DESC, id DESC LIMIT $1)"
        )
    records = await uow.fetch(
        f"SELECT {_ORDER_COLUMNS} FROM orders JOIN ({' UNION '.join(walks)}) AS page USING (id) "
        "ORDER BY orders.created_at DESC, orders.id DESC LIMIT $1",
        *values,
    )
    next_cursor = None
    if len(records) > limit:
        last = records[limit - 1]
        next_cursor = signer.sign(scope, [last["created_at"].isoformat(), str(last["id"])])
    return Page([shown_order(record, caller) for record in records[:limit]], next_cursor, limit)


def _concerned(caller: Caller) -> list[tuple[str, UUID | None]]:
    """The conditions under which an order concerns the caller, as the policies have them."""
    if caller.may("orders:read"):
        return [("true", None)]
    ways: list[tuple[str, UUID | None]] = [("buyer_id = {}", caller.id)]
    if caller.may("orders:fulfil") and caller.vendor_id is not None:
        ways.append(("vendor_id = {}", caller.vendor_id))
    if caller.may("orders:verify") and caller.campus_id is not None:
        ways.append(("campus_id = {}", caller.campus_id))
    return ways


async def order(uow: UnitOfWork, order_id: UUID, caller: Caller) -> Row | None:
    """The order as this caller may see it; None when it is absent or invisible."""
    record = await uow.fetch_row(_ORDER, order_id)
    return None if record is None else shown_order(record, caller)


@dataclass(frozen=True, slots=True)
class SealedPin:
    """The buyer's own PIN, still sealed."""

    issue: int
    sealed: str
    wrong_tries: int


async def sealed_pin(uow: UnitOfWork, order_id: UUID) -> SealedPin | None:
    """The order's PIN, visible to its buyer alone."""
    record = await uow.fetch_row(_PIN, order_id)
    return None if record is None else SealedPin(record["issue"], record["sealed"], record["wrong_tries"])


def shown_order(record: Mapping[str, Any] | asyncpg.Record, caller: Caller) -> Row:
    """The public shape of an order (contract section 6); `commissionMinor` for its vendor and for staff only."""
    shown: Row = {
        "id": record["id"],
        "status": record["status"],
        "total": naira(record["total_amount"]),
        "totalMinor": record["total_amount"],
        "currency": record["currency"],
        "buyerId": record["buyer_id"],
        "vendorId": record["vendor_id"],
        "campusId": record["campus_id"],
        "hubId": record["hub_id"],
        "items": record["items"],
        "subtotalMinor": record["subtotal_minor"],
        "deliveryFeeMinor": record["delivery_fee_minor"],
        "refundedMinor": record["refunded_minor"],
        "deliveryNote": record["delivery_note"],
        "paymentDueAt": iso(record["payment_due_at"]),
        "deliveredAt": iso_or_none(record["delivered_at"]),
        "revision": record["revision"],
        "createdAt": iso(record["created_at"]),
        "updatedAt": iso(record["updated_at"]),
    }
    if sees_commission(caller, record["vendor_id"]):
        shown["commissionMinor"] = record["commission_minor"]
    return shown
