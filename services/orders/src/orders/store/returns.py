"""Return requests, touched only under the lock of the order's row."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.state_changes import allows_change, change_state
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from orders.domain.order_history import OrderActor
from orders.domain.orders import Order
from orders.domain.returns import (
    NO_REFUND,
    RETURN,
    Decision,
    NewReturn,
    OrderLine,
    PreviousRefunds,
    RequestedRefund,
    ReturnedItem,
    ReturnRequest,
)
from orders.store.erasure import refuse_during_erasure

_LINES: Final = """
SELECT item.id, item.quantity, item.unit_price_minor,
       coalesce(sum(line.quantity) FILTER (WHERE request.status = 'requested'), 0)::integer AS requested,
       coalesce(sum(line.quantity) FILTER (WHERE request.status = 'approved'), 0)::integer AS returned,
       item.name
FROM order_items AS item
LEFT JOIN return_request_items AS line ON line.item_id = item.id
LEFT JOIN return_requests AS request ON request.id = line.return_request_id
WHERE item.order_id = $1 GROUP BY item.id
"""
_RECORD_REQUEST: Final = """
WITH request AS (
    INSERT INTO return_requests (id, order_id, buyer_id, vendor_id, reason, status, created_at, refund_to)
    VALUES ($1, $2, $3, $4, $5, 'requested', $6, $9)
)
INSERT INTO return_request_items (return_request_id, item_id, quantity)
SELECT $1, item_id, quantity FROM unnest($7::uuid[], $8::integer[]) AS line (item_id, quantity)
"""
_RECORD_CANCELLED_LINE: Final = """
WITH request AS (
    INSERT INTO return_requests (id, order_id, buyer_id, vendor_id, reason, status, created_at, decided_by, decided_at,
        refund_minor, refund_id, cancels_lines)
    VALUES ($1, $2, $3, $4, $5, 'approved', $6, $7, $6, $8, $9, true)
), cancelled AS (
    UPDATE order_items SET cancelled_at = $6 WHERE id = $10 AND cancelled_at IS NULL
), revised AS (
    UPDATE orders SET revision = revision + 1, updated_at = $6 WHERE id = $2
), recorded AS (
    INSERT INTO order_history (order_id, event, occurred_at, actor_id, actor_role)
    VALUES ($2, 'line_cancelled', $6, $7, $12)
)
INSERT INTO return_request_items (return_request_id, item_id, quantity) VALUES ($1, $10, $11)
"""
_FIND_ORDER_OF_REQUEST: Final = "SELECT order_id FROM return_requests WHERE id = $1"
_LOCK_REQUEST: Final = "SELECT id, order_id, status, refund_to FROM return_requests WHERE id = $1 FOR UPDATE"
_ITEMS_OF_REQUEST: Final = "SELECT item_id, quantity FROM return_request_items WHERE return_request_id = $1"
_REFUNDS: Final = """
SELECT coalesce(sum(refund.amount_minor) FILTER (WHERE request.id IS NOT NULL), 0)::bigint AS for_returns,
       coalesce(sum(refund.amount_minor) FILTER (WHERE request.id IS NULL), 0)::bigint AS otherwise
FROM order_refunds AS refund
LEFT JOIN return_requests AS request ON request.order_id = refund.order_id AND request.refund_id = refund.id
WHERE refund.order_id = $1
"""
_SAVE_DECISION: Final = f"""
UPDATE return_requests SET status = $2, decided_by = $3, decision_reason = $4, decided_at = $5, refund_minor = $6,
    refund_id = $7
WHERE id = $1 AND {allows_change(RETURN, "$2")}
"""


async def list_order_lines(uow: UnitOfWork, order_id: UUID) -> dict[UUID, OrderLine]:
    """Return the lines of the order by item id, with their requested and returned quantities."""
    return {item_id: OrderLine(*line) for item_id, *line in await uow.fetch(_LINES, order_id)}


async def record_request(uow: UnitOfWork, request_id: UUID, order: Order, requested: NewReturn, now: datetime) -> None:
    ids, quantities = [item.item_id for item in requested.items], [item.quantity for item in requested.items]
    values = (order.id, order.buyer_id, order.vendor_id, requested.reason, now, ids, quantities, requested.refund_to)
    with refuse_during_erasure():
        await uow.execute(_RECORD_REQUEST, request_id, *values)


async def record_cancelled_line(
    uow: UnitOfWork,
    order: Order,
    line: ReturnedItem,
    reason: str,
    by: OrderActor,
    now: datetime,
    refund: RequestedRefund,
) -> None:
    """Record the cancellation of a line of the locked order before its dispatch: with the line, in the history, and as
    a decided return, so that no other return contains it.
    """
    parties = (order.id, order.buyer_id, order.vendor_id)
    values = (reason, now, by.id, *refund, line.item_id, line.quantity, by.role)
    await uow.execute(_RECORD_CANCELLED_LINE, new_id(), *parties, *values)


async def find_order_of_request(uow: UnitOfWork, request_id: UUID) -> UUID | None:
    """Return the order of a return request; None when the request is absent or invisible."""
    order_id: UUID | None = await uow.fetch_value(_FIND_ORDER_OF_REQUEST, request_id)
    return order_id


async def lock_request(uow: UnitOfWork, request_id: UUID) -> ReturnRequest | None:
    """Return the return request, locked until the transaction ends."""
    row = await uow.fetch_row(_LOCK_REQUEST, request_id)
    if row is None:
        return None
    items = await uow.fetch(_ITEMS_OF_REQUEST, request_id)
    lines = tuple(ReturnedItem(*item) for item in items)
    return ReturnRequest(row["id"], row["order_id"], row["status"], lines, row["refund_to"])


async def sum_refunds(uow: UnitOfWork, order_id: UUID) -> PreviousRefunds:
    """Return the sums of the order's earlier refunds, in kobo."""
    [row] = await uow.fetch(_REFUNDS, order_id)
    return PreviousRefunds(*row)


async def save_decision(
    uow: UnitOfWork,
    request_id: UUID,
    decision: Decision,
    by: UUID,
    reason: str | None,
    now: datetime,
    refund: RequestedRefund = NO_REFUND,
) -> None:
    await change_state(uow, _SAVE_DECISION, request_id, decision, by, reason, now, *refund)
