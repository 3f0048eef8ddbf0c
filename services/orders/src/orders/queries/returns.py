"""Return requests as their parties see them (contract section 6)."""

from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.cursors import CursorSigner
from common.web.pages import CursorPage, time_position
from orders.queries.pages import Row, newest_page, response_row

_COLUMNS: Final = """
    request.id, request.order_id AS "orderId", request.buyer_id AS "buyerId", request.vendor_id AS "vendorId", request.status,
    request.reason,
    (
        SELECT jsonb_agg(
            jsonb_build_object(
                'itemId', item.id, 'productId', item.product_id, 'name', item.name, 'quantity', requested.quantity,
                'unitPriceMinor', item.unit_price_minor
            ) ORDER BY item.position
        )
        FROM return_request_items AS requested JOIN order_items AS item ON item.id = requested.item_id
        WHERE requested.return_request_id = request.id
    ) AS items,
    request.refund_minor AS "refundMinor", request.refund_id AS "refundId", request.decided_by AS "decidedBy",
    request.decision_reason AS "decisionReason", request.decided_at AS "decidedAt", request.created_at AS "createdAt"
"""
_REQUEST: Final = f"SELECT {_COLUMNS} FROM return_requests AS request WHERE request.id = $1"


async def find_return_request(uow: UnitOfWork, request_id: UUID) -> Row | None:
    """The return request; None when it is absent or invisible."""
    record = await uow.fetch_row(_REQUEST, request_id)
    return None if record is None else response_row(record)


async def page_of_return_requests(
    uow: UnitOfWork, signer: CursorSigner, caller: Caller, order_id: UUID, limit: int, cursor: str | None
) -> CursorPage[Row]:
    """One page of the return requests of an order, newest first."""
    scope = ["return-requests", order_id, caller.id]
    position = time_position(signer, scope, cursor) or ()
    beyond = "AND (request.created_at, request.id) < ($3, $4)" if position else ""
    records = await uow.fetch(
        f"SELECT {_COLUMNS} FROM return_requests AS request WHERE request.order_id = $2 {beyond} "
        "ORDER BY request.created_at DESC, request.id DESC LIMIT $1",
        limit + 1,
        order_id,
        *position,
    )
    return newest_page(records, signer, scope, limit, response_row)
