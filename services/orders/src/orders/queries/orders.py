"""Orders as a caller may see them (contract section 6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from msgspec import UNSET, structs

from common.auth.caller import Caller
from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import Reads
from common.primitives.money import naira
from common.primitives.public_numbers import NumberKind, read_beginning, read_number_or_id
from common.web.pages import CursorPage, CursorRequest
from common.web.response_models import Row
from orders.domain import orders as domain
from orders.domain.contacts import ContactDecryption, visible_contact
from orders.domain.order_roles import may_see_commission, may_see_delivery
from orders.domain.orders import NewOrder
from orders.domain.products import search_words
from orders.domain.returns import vendor_share
from orders.domain.transitions import State
from orders.queries.filters import Filters, FilterValue
from orders.queries.pages import newest_page
from orders.queries.search import search_terms
from orders.responses.orders import Order, OrderContact, OrderItem

# The role of the caller in the listed orders.
ListRole = Literal["buyer", "vendor", "hub"]

# The owner's contact is for the buyer. A transaction of the service acts as no user and reads both contacts.
ORDER_COLUMNS: Final = """
    orders.id, number, status, currency, buyer_id, vendor_id, campus_id, hub_id, total_amount AS total_minor,
    subtotal_minor, delivery_fee_minor,
    commission_minor, refunded_minor, delivery_note, payment_due_at, delivered_at, return_due_at, arrived_at, revision,
    orders.created_at, updated_at, purchase_id,
    (
        SELECT json_agg(item) FROM (
            SELECT id, product_id AS "productId", variant_id AS "variantId", name, quantity,
                unit_price_minor AS "unitPriceMinor", line_total_minor AS "lineTotalMinor",
                to_char(cancelled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "cancelledAt"
            FROM order_items WHERE order_items.order_id = orders.id ORDER BY position
        ) AS item
    ) AS items,
    (SELECT ARRAY[buyer.short_name, buyer.contact_encrypted] FROM user_contacts AS buyer
        WHERE buyer.user_id = orders.buyer_id) AS buyer,
    (
        SELECT ARRAY[vendor.business_name, owner.user_id::text, owner.contact_encrypted]
        FROM vendors AS vendor LEFT JOIN LATERAL (
            SELECT user_id, contact_encrypted FROM user_contacts WHERE user_id = vendor.owner_user_id
            AND orders.status IN ('paid_escrow', 'dispatched', 'disputed')
            AND coalesce(orders.buyer_id = app_user_id(), true)
        ) AS owner ON true
        WHERE vendor.id = orders.vendor_id
    ) AS vendor
"""
_ORDER: Final = f"SELECT {ORDER_COLUMNS} FROM orders WHERE id = $1"
_CHANGEABLE_ORDER: Final = (
    f"SELECT {ORDER_COLUMNS}, escrow_minor, orders.xmin::text AS version FROM orders WHERE id = $1"
)
# An order by its number or id, else the orders of the purchase with that number or id.
_NAMED: Final = """
SELECT 'id' AS name, id FROM orders WHERE number = $1 OR id = $2
UNION ALL SELECT 'purchaseId', id FROM purchases WHERE number = $3 OR id = $2
LIMIT 1
"""
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
    "purchaseId": "orders.purchase_id = {}",
    "firstNumber": "orders.number >= {}",
    "lastNumber": "orders.number <= {}",
    "arrived": "(orders.arrived_at IS NOT NULL) = {}",
    "q": (
        "EXISTS (SELECT FROM order_items AS item WHERE item.order_id = orders.id "
        "AND to_tsvector('every_word', joined_text(item.name)) @@ to_tsquery('every_word', {}))"
    ),
}


def filter_values(filters: Filters) -> dict[str, FilterValue]:
    """Return the filters with the values of their conditions: `q` becomes the text of a tsquery."""
    return {
        name: search_terms(search_words(value)) if name == "q" and isinstance(value, str) else value
        for name, value in filters.items()
    }


async def search_by_number(reads: Reads, filters: Filters) -> Filters:
    """Return the filters with the id of the visible order or purchase in place of a `q` that names it by number or id,
    and with a first and a last number in place of the beginning of one.

    Eight characters may be a number or a word, so a number that no visible order has is searched as words.
    """
    typed = str(filters.get("q", ""))
    others = {name: value for name, value in filters.items() if name != "q"}
    if (numbers := read_beginning(typed, NumberKind.ORDER)) is not None:
        return {**others, "firstNumber": numbers[0], "lastNumber": numbers[1]}
    order, purchase = (read_number_or_id(typed, kind) for kind in (NumberKind.ORDER, NumberKind.PURCHASE))
    if order is None and purchase is None:
        return filters
    values = (None, order, None) if isinstance(order, UUID) else (order, None, purchase)
    named = await reads.fetch_row(_NAMED, *values)
    if named is None:
        return filters
    return {**others, named["name"]: named["id"]}


async def page_of_orders(
    reads: Reads,
    requested: CursorRequest,
    contacts: ContactDecryption,
    caller: Caller,
    filters: Filters = MappingProxyType({}),
    role: ListRole | None = None,
) -> CursorPage[Order]:
    """One page of the orders that concern the caller, newest first, narrowed by `filters` and by the caller's `role`.

    Row policies decide which orders these are. Each role reads its own index, so a page costs the same with ten orders
    and with ten million.
    """
    filters = await search_by_number(reads, filters)
    is_named = not filters.keys().isdisjoint(("id", "purchaseId", "firstNumber"))
    scope = ["orders", role, *filters.items(), caller.id]
    parameters = Parameters()
    narrowed = parameters.conditions(ORDER_FILTERS, filter_values(filters))
    if position := requested.time_position(scope):
        narrowed.append(parameters.condition("(created_at, id) < ({}, {})", *position))
    conditions = [
        all_of([parameters.condition(condition, *value), *narrowed])
        for condition, *value in _concerned(caller, role, is_named=is_named)
    ]
    if not conditions:
        return CursorPage([], None, requested.limit)
    records = await reads.fetch(_page_statement(conditions, requested.limit + 1), *parameters.values)

    return newest_page(records, requested, scope, lambda record: order_of(record, caller, contacts))


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


def _concerned(caller: Caller, role: ListRole | None, *, is_named: bool) -> list[tuple[str, *tuple[UUID, ...]]]:
    """Return the conditions under which an order concerns the caller, in line with the row policies; only those of
    `role` if given.

    Finance finds a charged order by its number (`is_named`), and lists none.
    """
    if role is None and (caller.may("orders:read") or (is_named and caller.may("charged_orders:read"))):
        return [("true",)]
    by_role: dict[ListRole, tuple[str, *tuple[UUID, ...]]] = {"buyer": ("buyer_id = {}", caller.id)}
    if caller.may("orders:fulfil") and caller.vendor_id is not None:
        by_role["vendor"] = ("vendor_id = {}", caller.vendor_id)
    if caller.may("orders:verify") and caller.hub_id is not None:
        by_role["hub"] = ("hub_id = {}", caller.hub_id)
    return [condition for name, condition in by_role.items() if role in (None, name)]


async def find_order(reads: Reads, order_id: UUID, caller: Caller, contacts: ContactDecryption) -> Order | None:
    """Return the order for this caller; None when it is absent or invisible."""
    record = await reads.fetch_row(_ORDER, order_id)
    return None if record is None else order_of(record, caller, contacts)


class ChangeableOrder(NamedTuple):
    """An order with its version, and the row that the caller sees."""

    order: domain.Order
    row: Mapping[str, Any]

    def shown_as(self, changed: domain.Order, now: datetime, caller: Caller, contacts: ContactDecryption) -> Order:
        """Return the order for this caller after a transition of this version to the status of `changed`."""
        row = {**self.row, "status": changed.status, "revision": self.row["revision"] + 1, "updated_at": now}
        return order_of(row, caller, contacts)


async def find_changeable_order(reads: Reads, order_id: UUID) -> ChangeableOrder | None:
    """Return the order with its version; None when it is absent or invisible."""
    record = await reads.fetch_row(_CHANGEABLE_ORDER, order_id)
    if record is None:
        return None
    return ChangeableOrder(domain.Order(**{one.name: record[one.name] for one in fields(domain.Order)}), dict(record))


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


def new_order_of(placed: NewOrder, caller: Caller, contacts: ContactDecryption) -> Order:
    """Return the order that was placed, without reading it again."""
    items = [OrderItem.from_record(item) for item in placed.items]
    return order_of(placed._asdict(), caller, contacts, items=items)


def order_of(row: Row, caller: Caller, contacts: ContactDecryption, **others: object) -> Order:
    """Return the order of a row as this caller sees it (contract section 6).

    Commission and share of the vendor only for its vendor and for staff; `contact` only for those of
    `visible_contact`; `hub_id` and `delivery_note` only for those of `may_see_delivery`.
    """
    parties = _OrderParties(row["buyer_id"], row["vendor_id"], row["campus_id"], row["hub_id"], row["status"])
    sees_delivery = may_see_delivery(caller, parties)
    buyer, vendor = _Buyer(*row["buyer"] or (None, None)), _Vendor(*row["vendor"] or (None, None, None))
    order = Order.from_row(
        row,
        **others,
        total=naira(row["total_minor"]),
        buyer_name=buyer.name,
        # Empty once the vendor was erased.
        vendor_name=vendor.name or None,
        hub_id=row["hub_id"] if sees_delivery else None,
        commission_minor=row["commission_minor"] if may_see_commission(caller, parties.vendor_id) else UNSET,
        delivery_note=row["delivery_note"] if sees_delivery else None,
        contact=_contact(parties, buyer, vendor, caller, contacts),
    )
    if isinstance(order.commission_minor, int):
        cancelled = [item.line_total_minor for item in order.items if item.cancelled_at]
        share_minor = vendor_share(order.subtotal_minor, order.commission_minor, cancelled)
        return structs.replace(order, vendor_share_minor=share_minor)
    return order


class _OrderParties(NamedTuple):
    buyer_id: UUID
    vendor_id: UUID
    campus_id: UUID
    hub_id: UUID | None
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
) -> OrderContact | None:
    """Return the contact of the other side, while the caller sees it and it is known."""
    party = visible_contact(caller, parties)
    contact = None
    if party == "buyer":
        contact = contacts.decrypt(parties.buyer_id, buyer.contact_encrypted or "")
    elif party == "vendor" and vendor.owner_id is not None:
        contact = contacts.decrypt(UUID(vendor.owner_id), vendor.contact_encrypted or "")
    return None if contact is None else OrderContact.from_record(contact)
