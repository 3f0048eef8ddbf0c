"""Return requests as their parties see them (contract section 6)."""

from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.parameters import Parameters, all_of
from common.database.unit_of_work import UnitOfWork
from common.web.pages import CursorPage, CursorRequest
from orders.domain.returns import ReturnStatus
from orders.queries.pages import newest_page
from orders.responses.returns import ReturnRequest

_COLUMNS: Final = """
    request.id, request.order_id, (SELECT number FROM orders WHERE orders.id = request.order_id) AS order_number,
    request.buyer_id, request.vendor_id, request.status, request.reason,
    (
        SELECT json_agg(
            json_build_object(
                'itemId', item.id, 'productId', item.product_id, 'variantId', item.variant_id, 'name', item.name,
                'quantity', requested.quantity, 'unitPriceMinor', item.unit_price_minor
            ) ORDER BY item.position
        )
        FROM return_request_items AS requested JOIN order_items AS item ON item.id = requested.item_id
        WHERE requested.return_request_id = request.id
    ) AS items,
    request.refund_minor, request.refund_id, request.decided_by, request.decision_reason, request.decided_at,
    request.created_at, request.refund_to, request.cancels_lines
"""
# For the vendor and for support, never for the buyer.
AWAITING_RETURN: Final = """
status = 'requested' AND buyer_id <> (SELECT app_user_id()) AND (
    (SELECT app_may('returns:decide')) OR (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('orders:fulfil')))
)
"""
_REQUEST: Final = f"SELECT {_COLUMNS} FROM return_requests AS request WHERE request.id = $1"


async def find_return_request(uow: UnitOfWork, request_id: UUID) -> ReturnRequest | None:
    """Return the return request; None when it is absent or invisible."""
    record = await uow.fetch_row(_REQUEST, request_id)
    return None if record is None else ReturnRequest.from_row(record)


async def page_of_return_requests(
    uow: UnitOfWork,
    requested: CursorRequest,
    caller: Caller,
    status: ReturnStatus | None,
    *,
    awaiting_decision: bool = False,
) -> CursorPage[ReturnRequest]:
    """One page of the return requests that concern the caller, newest first; with `awaiting_decision` those that the
    caller may decide on.

    Row policies decide which requests these are. Each role reads its own index, as in `page_of_orders`.
    """
    scope = ["return-requests", status, *(["awaiting decision"] if awaiting_decision else []), caller.id]
    position = requested.time_position(scope)
    parameters = Parameters()
    narrowed = []
    if position is not None:
        narrowed.append(parameters.condition("(created_at, id) < ({}, {})", *position))
    if status is not None:
        narrowed.append(parameters.condition("status = {}", status))
    if awaiting_decision:
        narrowed.append(AWAITING_RETURN)
    newest = f"ORDER BY created_at DESC, id DESC LIMIT {requested.limit + 1:d}"
    pages = []
    for condition, *value in _concerned(caller):
        where = all_of([parameters.condition(condition, *value), *narrowed])
        pages.append(f"(SELECT id FROM return_requests WHERE {where} {newest})")
    records = await uow.fetch(
        f"SELECT {_COLUMNS} FROM return_requests AS request WHERE request.id IN ({' UNION '.join(pages)}) {newest}",
        *parameters.values,
    )
    return newest_page(records, requested, scope, ReturnRequest.from_row)


def _concerned(caller: Caller) -> list[tuple[str, *tuple[UUID, ...]]]:
    """Return the conditions under which a return request concerns the caller, in line with the row policies."""
    if caller.may("returns:decide") or caller.may("orders:read"):
        return [("true",)]
    conditions: list[tuple[str, *tuple[UUID, ...]]] = [("buyer_id = {}", caller.id)]
    if caller.may("orders:fulfil") and caller.vendor_id is not None:
        conditions.append(("vendor_id = {}", caller.vendor_id))
    return conditions


async def page_of_returns_of_order(
    uow: UnitOfWork, requested: CursorRequest, caller: Caller, order_id: UUID
) -> CursorPage[ReturnRequest]:
    """One page of the return requests of an order, newest first."""
    scope = ["return-requests", order_id, caller.id]
    position = requested.time_position(scope) or ()
    beyond = "AND (request.created_at, request.id) < ($3, $4)" if position else ""
    records = await uow.fetch(
        f"SELECT {_COLUMNS} FROM return_requests AS request WHERE request.order_id = $2 {beyond} "
        "ORDER BY request.created_at DESC, request.id DESC LIMIT $1",
        requested.limit + 1,
        order_id,
        *position,
    )
    return newest_page(records, requested, scope, ReturnRequest.from_row)
