"""Purchases as a caller may see them (contract section 6.3)."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import Reads
from common.primitives.public_numbers import NumberKind, read_numbers_or_id
from common.web.pages import CursorPage, CursorRequest
from common.web.response_models import Row
from orders.domain.contacts import ContactDecryption
from orders.domain.orders import NewOrder
from orders.domain.purchases import NewPurchase, purchase_status
from orders.queries.orders import ORDER_COLUMNS, new_order_of, order_of
from orders.queries.pages import newest_page
from orders.responses.orders import Order
from orders.responses.purchases import Purchase

_COLUMNS: Final = "id, number, created_at"
_PURCHASE: Final = f"SELECT {_COLUMNS} FROM purchases WHERE id = $1"
# The ids of a purchase's orders are in its sequence.
_ORDERS: Final = f"SELECT {ORDER_COLUMNS} FROM orders WHERE purchase_id = ANY ($1) ORDER BY id"


async def find_purchase(
    reads: Reads, purchase_id: UUID, caller: Caller, contacts: ContactDecryption
) -> Purchase | None:
    """Return the purchase for this caller; None when it is absent or invisible."""
    row = await reads.fetch_row(_PURCHASE, purchase_id)
    if row is None:
        return None
    return _purchase(row, (await _orders_of(reads, [purchase_id], caller, contacts))[purchase_id])


async def page_of_purchases(
    reads: Reads,
    requested: CursorRequest,
    contacts: ContactDecryption,
    caller: Caller,
    q: str | None,
) -> CursorPage[Purchase]:
    """One page of the caller's purchases, or of all for holders of orders:read, newest first.

    `q` is a purchase's number or id; any other text matches none.
    """
    scope = ["purchases", q, caller.id]
    parameters = Parameters()
    conditions = [] if caller.may("orders:read") else [parameters.condition("buyer_id = {}", caller.id)]
    if q is not None:
        named = read_numbers_or_id(q, NumberKind.PURCHASE)
        if isinstance(named, UUID):
            conditions.append(parameters.condition("id = {}", named))
        else:
            conditions.append(parameters.condition("number BETWEEN {}::text AND {}::text", *(named or (None, None))))
    position = requested.time_position(scope)
    if position is not None:
        conditions.append(parameters.condition("(created_at, id) < ({}, {})", *position))
    rows = await reads.fetch(
        (
            f"SELECT {_COLUMNS} FROM purchases WHERE {all_of(conditions)} ORDER BY created_at DESC, id DESC LIMIT "
            f"{requested.limit + 1:d}"
        ),
        *parameters.values,
    )
    orders = await _orders_of(reads, [row["id"] for row in rows[: requested.limit]], caller, contacts)
    return newest_page(rows, requested, scope, lambda row: _purchase(row, orders[row["id"]]))


def new_purchase_of(
    placed: NewPurchase, orders: Sequence[NewOrder], caller: Caller, contacts: ContactDecryption
) -> Purchase:
    """Return the purchase that was placed, without reading it again."""
    return _purchase(placed._asdict(), [new_order_of(order, caller, contacts) for order in orders])


async def _orders_of(
    reads: Reads, purchase_ids: Sequence[UUID], caller: Caller, contacts: ContactDecryption
) -> Mapping[UUID, Sequence[Order]]:
    found: dict[UUID, list[Order]] = {}
    for row in await reads.fetch(_ORDERS, purchase_ids):
        found.setdefault(row["purchase_id"], []).append(order_of(row, caller, contacts))
    return found


def _purchase(row: Row, orders: Sequence[Order]) -> Purchase:
    first = orders[0]
    return Purchase.from_row(
        row,
        status=purchase_status([order.status for order in orders]),
        orders=list(orders),
        total_minor=sum(order.total_minor for order in orders),
        currency=first.currency,
        payment_due_at=first.payment_due_at,
    )
