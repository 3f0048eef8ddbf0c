"""Orders as a caller may see them (contract section 6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

import asyncpg

from common.auth.caller import Caller
from common.database.unit_of_work import Reads
from common.primitives.clock import iso, iso_or_none
from common.primitives.cursors import CursorSigner
from common.primitives.money import naira
from common.primitives.public_numbers import NumberKind, read_number_or_id
from common.web.pages import CursorPage
from orders.domain.contacts import ContactDecryption, visible_contact
from orders.domain.order_roles import may_see_commission, may_see_delivery
from orders.domain.products import search_words
from orders.domain.transitions import State
from orders.queries.pages import Row, newest_page
from orders.queries.search import search_terms

# The role of the caller in the listed orders.
ListRole = Literal["buyer", "vendor", "hub"]

# The owner's contact is for the buyer. A transaction of the service acts as no user and reads both contacts.
ORDER_COLUMNS: Final = """
    orders.id, number, status, currency, buyer_id, vendor_id, campus_id, hub_id, total_amount, subtotal_minor, delivery_fee_minor,
    commission_minor, refunded_minor, delivery_note, payment_due_at, delivered_at, return_due_at, revision,
    orders.created_at, updated_at,
    (
        SELECT json_agg(item) FROM (
            SELECT id, product_id AS "productId", name, quantity, unit_price_minor AS "unitPriceMinor",
                line_total_minor AS "lineTotalMinor"
            FROM order_items WHERE order_items.order_id = orders.id ORDER BY position
        ) AS item
    ) AS items,
    (SELECT ARRAY[buyer.short_name, buyer.contact_encrypted] FROM user_contacts AS buyer WHERE buyer.user_id = orders.buyer_id) AS buyer,
    (
        SELECT ARRAY[vendor.business_name, owner.user_id::text, owner.contact_encrypted]
        FROM vendors AS vendor LEFT JOIN user_contacts AS owner
            ON owner.user_id = vendor.owner_user_id AND orders.status IN ('paid_escrow', 'dispatched', 'disputed')
            AND coalesce(orders.buyer_id = app_user_id(), true)
        WHERE vendor.id = orders.vendor_id
    ) AS vendor
"""
_ORDER: Final = f"SELECT {ORDER_COLUMNS} FROM orders WHERE id = $1"
_ID_BY_NUMBER: Final = "SELECT id FROM orders WHERE number = $1"
_ID: Final = "SELECT id FROM orders WHERE id = $1"
# An erasure removes the encrypted PIN, also while the charge of a cancelled order arrives.
_PIN: Final = """
SELECT pin.issue, pin.sealed, pin.wrong_tries, orders.status
FROM delivery_pins AS pin JOIN orders ON orders.id = pin.order_id WHERE pin.order_id = $1 AND pin.sealed <> ''
"""


# The filters of a list by their public names; `{}` is the number of the value.
ORDER_FILTERS: Final[Mapping[str, str]] = {
    "status": "status = {}",
    "from": "orders.created_at >= {}",
    "to": "orders.created_at < {}",
    "id": "orders.id = {}",
    "q": (
        "EXISTS (SELECT FROM order_items AS item WHERE item.order_id = orders.id "
        "AND to_tsvector('every_word', search_text(item.name)) @@ search_query({}))"
    ),
}


def filter_value(name: str, value: Any) -> Any:
    """Return the value of a filter for its condition: `q` becomes the text of a tsquery."""
    return search_terms(search_words(value)) if name == "q" else value


async def search_by_number(reads: Reads, filters: Mapping[str, Any]) -> Mapping[str, Any]:
    """`q` as the id of the visible order that it names by number or id; the filters as they are otherwise.

    Eight characters may be a number or a word, so a number that no visible order has is searched as words.
    """
    named = read_number_or_id(filters.get("q", ""), NumberKind.ORDER)
    if named is None:
        return filters
    order_id = await reads.fetch_value(_ID if isinstance(named, UUID) else _ID_BY_NUMBER, named)
    if order_id is None:
        return filters
    return {**{name: value for name, value in filters.items() if name != "q"}, "id": order_id}


async def page_of_orders(
    reads: Reads,
    signer: CursorSigner,
    contacts: ContactDecryption,
    caller: Caller,
    limit: int,
    cursor: str | None,
    filters: Mapping[str, Any] = MappingProxyType({}),
    role: ListRole | None = None,
) -> CursorPage[Row]:
    """One page of the orders that concern the caller, newest first, narrowed by `filters` and by the caller's `role`.

    Row policies decide which orders these are. Each role reads its own index, so a page costs the same with ten orders
    and with ten million.
    """
    filters = await search_by_number(reads, filters)
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
    conditions = []
    for condition, value in _concerned(caller, role):
        if value is not None:
            values.append(value)
        conditions.append(" AND ".join([condition.format(f"${len(values)}"), *narrowed]))
    if not conditions:
        return CursorPage([], None, limit)
    records = await reads.fetch(_page_statement(conditions, limit + 1), *values)

    def to_row(record: Any) -> Row:
        return order_response(record, caller, contacts)

    return newest_page(records, signer, scope, limit, to_row, created_at="created_at")


def _page_statement(conditions: Sequence[str], rows: int) -> str:
    """Return the statement for the newest orders that match one of the conditions.

    The number of rows is a literal: for a parameter the planner expects a tenth of the table.
    """
    newest = f"ORDER BY created_at DESC, id DESC LIMIT {rows:d}"
    if len(conditions) == 1:
        return f"SELECT {ORDER_COLUMNS} FROM orders WHERE {conditions[0]} {newest}"
    pages = " UNION ".join(
        f"(SELECT id, created_at FROM orders WHERE {condition} {newest})" for condition in conditions
    )
    return f"SELECT {ORDER_COLUMNS} FROM orders JOIN ({pages}) AS page USING (id) {newest}"


def _concerned(caller: Caller, role: ListRole | None) -> list[tuple[str, UUID | None]]:
    """Return the conditions under which an order concerns the caller, in line with the row policies; only those of
    `role` if given.
    """
    if role is None and caller.may("orders:read"):
        return [("true", None)]
    by_role: dict[ListRole, tuple[str, UUID | None]] = {"buyer": ("buyer_id = {}", caller.id)}
    if caller.may("orders:fulfil") and caller.vendor_id is not None:
        by_role["vendor"] = ("vendor_id = {}", caller.vendor_id)
    if caller.may("orders:verify") and caller.campus_id is not None:
        by_role["hub"] = ("campus_id = {}", caller.campus_id)
    return [condition for name, condition in by_role.items() if role in (None, name)]


async def find_order(reads: Reads, order_id: UUID, caller: Caller, contacts: ContactDecryption) -> Row | None:
    """Return the order as a response for this caller; None when it is absent or invisible."""
    record = await reads.fetch_row(_ORDER, order_id)
    return None if record is None else order_response(record, caller, contacts)


@dataclass(frozen=True, slots=True)
class EncryptedPin:
    """The delivery PIN of an order, encrypted at rest."""

    issue: int
    encrypted: str
    wrong_tries: int
    order_status: State


async def find_encrypted_pin(reads: Reads, order_id: UUID) -> EncryptedPin | None:
    """Return the order's PIN; row policies show it to the buyer only."""
    record = await reads.fetch_row(_PIN, order_id)
    return None if record is None else EncryptedPin(*record.values())


def order_response(record: Mapping[str, Any] | asyncpg.Record, caller: Caller, contacts: ContactDecryption) -> Row:
    """Return the order as a response (contract section 6).

    `commissionMinor` only for its vendor and for staff; `contact` only for those of `visible_contact`; `hubId` and
    `deliveryNote` only for those of `may_see_delivery`.
    """
    parties = _OrderParties(*(record[name] for name in ("buyer_id", "vendor_id", "campus_id", "status")))
    sees_delivery = may_see_delivery(caller, parties)
    buyer, vendor = _Buyer(*record["buyer"] or (None, None)), _Vendor(*record["vendor"] or (None, None, None))
    shown: Row = {
        "id": record["id"],
        "number": record["number"],
        "status": record["status"],
        "total": naira(record["total_amount"]),
        "totalMinor": record["total_amount"],
        "currency": record["currency"],
        "buyerId": record["buyer_id"],
        "buyerName": buyer.name,
        "vendorId": record["vendor_id"],
        # Empty once the vendor was erased.
        "vendorName": vendor.name or None,
        "campusId": record["campus_id"],
        "hubId": record["hub_id"] if sees_delivery else None,
        "items": record["items"],
        "subtotalMinor": record["subtotal_minor"],
        "deliveryFeeMinor": record["delivery_fee_minor"],
        "refundedMinor": record["refunded_minor"],
        "deliveryNote": record["delivery_note"] if sees_delivery else None,
        "paymentDueAt": iso(record["payment_due_at"]),
        "deliveredAt": iso_or_none(record["delivered_at"]),
        "returnDueAt": iso_or_none(record["return_due_at"]),
        "revision": record["revision"],
        "createdAt": iso(record["created_at"]),
        "updatedAt": iso(record["updated_at"]),
        "contact": _contact(parties, buyer, vendor, caller, contacts),
    }
    if may_see_commission(caller, record["vendor_id"]):
        shown["commissionMinor"] = record["commission_minor"]
    return shown


class _OrderParties(NamedTuple):
    buyer_id: UUID
    vendor_id: UUID
    campus_id: UUID
    status: str


class _Buyer(NamedTuple):
    name: str | None
    contact_encrypted: str | None


class _Vendor(NamedTuple):
    name: str | None
    owner_id: str | None
    contact_encrypted: str | None


def _contact(
    parties: _OrderParties, buyer: _Buyer, vendor: _Vendor, caller: Caller, contacts: ContactDecryption
) -> Row | None:
    """Return the contact of the other side, while the caller sees it and it is known."""
    party = visible_contact(caller, parties)
    contact = None
    if party == "buyer":
        contact = contacts.decrypt(parties.buyer_id, buyer.contact_encrypted or "")
    elif party == "vendor" and vendor.owner_id is not None:
        contact = contacts.decrypt(UUID(vendor.owner_id), vendor.contact_encrypted or "")
    return None if contact is None else contact._asdict()
