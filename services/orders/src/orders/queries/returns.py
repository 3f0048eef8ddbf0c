"""Return requests as their parties see them (contract section 6)."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso, iso_or_none
from common.primitives.cursors import CursorSigner
from orders.queries.pages import Page, Row

_COLUMNS: Final = """
    request.id, request.order_id, request.buyer_id, request.vendor_id, request.status, request.reason, request.refund_minor,
    request.refund_id, request.decided_by, request.decision_reason, request.decided_at, request.created_at,
    (
        SELECT jsonb_agg(
            jsonb_build_object(
                'itemId', item.id, 'productId', item.product_id, 'name', item.name, 'quantity', asked.quantity,
                'unitPriceMinor', item.unit_price_minor
            ) ORDER BY item.position
        )
        FROM return_request_items AS asked JOIN order_items AS item ON item.id = asked.item_id
        WHERE asked.return_request_id = request.id
    ) AS items
"""
_REQUEST: Final = f"SELECT {_COLUMNS} FROM return_requests AS request WHERE request.id = $1"


async def find_return_request(uow: UnitOfWork, request_id: UUID) -> Row | None:
    """The return request; None when it is absent or invisible."""
    record = await uow.fetch_row(_REQUEST, request_id)
    return None if record is None else _shown(record)


async def page_of_return_requests(
    uow: UnitOfWork, signer: CursorSigner, caller: Caller, order_id: UUID, limit: int, cursor: str | None
) -> Page:
    """One page of the return requests of an order, newest first."""
    scope = ["return-requests", order_id, caller.id]
    values: list[Any] = [limit + 1, order_id]
    beyond = ""
    if cursor is not None:
        mark, last_id = signer.open(scope, cursor)
        values += [datetime.fromisoformat(mark), UUID(last_id)]
        beyond = "AND (request.created_at, request.id) < ($3, $4)"
    records = await uow.fetch(
        f"SELECT {_COLUMNS} FROM return_requests AS request WHERE request.order_id = $2 {beyond} "
        "ORDER BY request.created_at DESC, request.id DESC LIMIT $1",
        *values,
    )
    next_cursor = None
    if len(records) > limit:
        last = records[limit - 1]
        next_cursor = signer.sign(scope, [last["created_at"].isoformat(), str(last["id"])])
    return Page([_shown(record) for record in records[:limit]], next_cursor, limit)


def _shown(record: Any) -> Row:
    return {
        "id": record["id"],
        "orderId": record["order_id"],
        "buyerId": record["buyer_id"],
        "vendorId": record["vendor_id"],
        "status": record["status"],
        "reason": record["reason"],
        "items": record["items"],
        "refundMinor": record["refund_minor"],
        "refundId": record["refund_id"],
        "decidedBy": record["decided_by"],
        "decisionReason": record["decision_reason"],
        "decidedAt": iso_or_none(record["decided_at"]),
        "createdAt": iso(record["created_at"]),
    }
