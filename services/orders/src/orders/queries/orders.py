"""Orders as a caller may see them (contract section 6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal
from uuid import UUID

import asyncpg

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.primitives.cursors import CursorSigner
from common.primitives.money import naira
from orders.domain.order_roles import may_see_commission
from orders.domain.products import search_words
from orders.domain.transitions import State
from orders.queries.pages import Page, Row
from orders.queries.search import search_terms

# What a caller may be in an order.
ListRole = Literal["buyer", "vendor", "hub"]

ORDER_COLUMNS: Final = """
    orders.id, status, currency, buyer_id, vendor_id, campus_id, hub_id, total_amount, subtotal_minor, delivery_fee_minor,
    commission_minor, refunded_minor, delivery_note, payment_due_at, delivered_at, return_due_at, revision,
    orders.created_at, updated_at,
    (
        SELECT jsonb_agg(
            jsonb_build_object(
                'id', item.id, 'productId', item.product_id, 'name', item.name, 'quantity', item.quantity,
                'unitPriceMinor', item.unit_price_minor, 'lineTotalMinor', item.line_total_minor
            ) ORDER BY item.position
        ) FROM order_items AS item WHERE item.order_id = orders.id
    ) AS items
"""
_ORDER: Final = f"SELECT {ORDER_COLUMNS} FROM orders WHERE id = $1"
_PIN: Final = """
SELECT pin.issue, pin.sealed, pin.wrong_tries, orders.status
FROM delivery_pins AS pin JOIN orders ON orders.id = pin.order_id WHERE pin.order_id = $1
"""


# The filters of a list by their public names, each with the place of its value.
ORDER_FILTERS: Final[Mapping[str, str]] = {
    "status": "status = {}",
    "from": "orders.created_at >= {}",
    "to": "orders.created_at < {}",
    "q": (
        "EXISTS (SELECT FROM order_items AS item WHERE item.order_id = orders.id "
        "AND to_tsvector('english', plain(item.name)) @@ to_tsquery('english', {}))"
    ),
}


def filter_value(name: str, value: Any) -> Any:
    """The value of a filter as its condition takes it: `q` as the text of a tsquery."""
    return search_terms(search_words(value)) if name == "q" else value


async def page_of_orders(
    uow: UnitOfWork,
    signer: CursorSigner,
    caller: Caller,
    limit: int,
    cursor: str | None,
    filters: Mapping[str, Any] = MappingProxyType({}),
    role: ListRole | None = None,
) -> Page:
    """One page of the orders that concern the caller, newest first, narrowed by `filters` and to the caller's `role` in them.

    The row policies say which these are. Each way to be concerned is a walk along an index of its own, so that a page costs the
    same with ten orders and with ten million.
    """
    scope = ["orders", role, *filters.items(), caller.id]
    values: list[Any] = []
    narrowed = []
    if cursor is not None:
        mark, last_id = signer.open(scope, cursor)
        values += [datetime.fromisoformat(mark), UUID(last_id)]
        narrowed.append("(created_at, id) < ($1, $2)")
    for name, value in filters.items():
        values.append(filter_value(name, value))
        narrowed.append(ORDER_FILTERS[name].format(f"${len(values)}"))
    ways = []
    for condition, value in _concerned(caller, role):
        if value is not None:
            values.append(value)
        ways.append(" AND ".join([condition.format(f"${len(values)}"), *narrowed]))
    if not ways:
        return Page([], None, limit)
    records = await uow.fetch(_page_statement(ways, limit + 1), *values)
    next_cursor = None
    if len(records) > limit:
        last = records[limit - 1]
        next_cursor = signer.sign(scope, [last["created_at"].isoformat(), str(last["id"])])
    return Page([order_response(record, caller) for record in records[:limit]], next_cursor, limit)


def _page_statement(ways: Sequence[str], rows: int) -> str:
    """The newest orders that one of the conditions holds for.

    The number of rows is written into it: for one that it does not know, the planner expects a tenth of the table.
    """
    newest = f"ORDER BY created_at DESC, id DESC LIMIT {rows:d}"
    if len(ways) == 1:
        return f"SELECT {ORDER_COLUMNS} FROM orders WHERE {ways[0]} {newest}"
    walks = " UNION ".join(f"(SELECT id, created_at FROM orders WHERE {way} {newest})" for way in ways)
    return f"SELECT {ORDER_COLUMNS} FROM orders JOIN ({walks}) AS page USING (id) {newest}"


def _concerned(caller: Caller, role: ListRole | None) -> list[tuple[str, UUID | None]]:
    """The conditions under which an order concerns the caller, as the policies have them; of one role only when it is named."""
    if role is None and caller.may("orders:read"):
        return [("true", None)]
    ways: dict[ListRole, tuple[str, UUID | None]] = {"buyer": ("buyer_id = {}", caller.id)}
    if caller.may("orders:fulfil") and caller.vendor_id is not None:
        ways["vendor"] = ("vendor_id = {}", caller.vendor_id)
    if caller.may("orders:verify") and caller.campus_id is not None:
        ways["hub"] = ("campus_id = {}", caller.campus_id)
    return [way for name, way in ways.items() if role in (None, name)]


async def find_order(uow: UnitOfWork, order_id: UUID, caller: Caller) -> Row | None:
    """The order as this caller may see it; None when it is absent or invisible."""
    record = await uow.fetch_row(_ORDER, order_id)
    return None if record is None else order_response(record, caller)


@dataclass(frozen=True, slots=True)
class EncryptedPin:
    """The buyer's own PIN, still sealed."""

    issue: int
    sealed: str
    wrong_tries: int
    order_status: State


async def find_encrypted_pin(uow: UnitOfWork, order_id: UUID) -> EncryptedPin | None:
    """The order's PIN, visible to its buyer alone."""
    record = await uow.fetch_row(_PIN, order_id)
    return None if record is None else EncryptedPin(*record.values())


def order_response(record: Mapping[str, Any] | asyncpg.Record, caller: Caller) -> Row:
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
        "returnDueAt": iso_or_none(record["return_due_at"]),
        "revision": record["revision"],
        "createdAt": iso(record["created_at"]),
        "updatedAt": iso(record["updated_at"]),
    }
    if may_see_commission(caller, record["vendor_id"]):
        shown["commissionMinor"] = record["commission_minor"]
    return shown
