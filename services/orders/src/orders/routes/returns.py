"""Return requests (contract section 6)."""

from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import SIGNED_IN, one_of
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.idempotency import OptionalIdempotentCommand
from common.web.pages import RequestedPage, respond_page
from orders.dependencies import Dependencies
from orders.domain.returns import NewReturn, ReturnedItem, ReturnStatus
from orders.queries.returns import find_return_request, page_of_return_requests, page_of_returns_of_order
from orders.responses.returns import ReturnRequest
from orders.routes.order_commands import buyers_destination
from orders.routes.orders import ONE_ORDER
from orders.schemas.returns import DecideReturnRequest, RequestReturnRequest
from orders.use_cases.orders.find_order_roles import find_order_roles
from orders.use_cases.returns.approve_return import approve_return as approve
from orders.use_cases.returns.find_returned_order import find_returned_order
from orders.use_cases.returns.reject_return import reject_return as reject
from orders.use_cases.returns.request_return import request_return as open_return

endpoint = Endpoints("returns")

REQUESTS: Final = "/api/return-requests"
ONE_REQUEST: Final = f"{REQUESTS}/{{request_id}}"
# The permissions to decide on returns; `find_returned_order` checks the single request.
DECIDERS: Final = ("orders:fulfil", "returns:decide")


@endpoint(
    "POST", f"{ONE_ORDER}/return-requests", id="returns.request", returns=ReturnRequest, status=201, allow=SIGNED_IN
)
async def request_return(
    request: Request,
    caller: CurrentCaller,
    order_id: UUID,
    body: RequestReturnRequest,
    command: OptionalIdempotentCommand,
) -> Response:
    """Request a return as the buyer, within the return window (`returnDueAt` of the order)."""
    dependencies = dependencies_of(request, Dependencies)
    items = [ReturnedItem(line.item_id, line.quantity) for line in body.items]
    new_return = NewReturn(items, body.reason, body.refund_to)
    roles = await buyers_destination(request, caller, order_id, body.refund_to)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        now = dependencies.clock.now()
        request_id = await open_return(uow, order_id, roles, new_return, now, command)
        requested = await find_return_request(uow, request_id)
    return ok(request, or_not_found(requested), status=201)


@endpoint("GET", f"{ONE_ORDER}/return-requests", id="returns.listByOrder", returns=list[ReturnRequest], allow=SIGNED_IN)
async def list_return_requests_of_order(
    request: Request, caller: CurrentCaller, order_id: UUID, requested: RequestedPage
) -> Response:
    """Return the return requests of the order, newest first, for its parties and for staff."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await find_order_roles(uow, caller, order_id)
        page = await page_of_returns_of_order(uow, requested, caller, order_id)
    return respond_page(request, page)


@endpoint("GET", REQUESTS, id="returns.list", returns=list[ReturnRequest], allow=SIGNED_IN)
async def list_return_requests(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    status: Annotated[ReturnStatus | None, Query()] = None,
    awaiting: Annotated[
        Literal["decision"] | None, Query(description="Only requested ones that the caller may decide on.")
    ] = None,
) -> Response:
    """Return the caller's return requests as buyer and as vendor, newest first; all requests for support and
    auditors.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        page = await page_of_return_requests(uow, requested, caller, status, awaiting_decision=awaiting is not None)
    return respond_page(request, page)


@endpoint("GET", ONE_REQUEST, id="returns.get", returns=ReturnRequest, allow=SIGNED_IN)
async def get_return_request(request: Request, caller: CurrentCaller, request_id: UUID) -> Response:
    """Return one return request, for its buyer, its vendor and support."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, or_not_found(await find_return_request(uow, request_id)))


@endpoint(
    "POST",
    f"{ONE_REQUEST}/approve",
    id="returns.approve",
    returns=ReturnRequest,
    allow=one_of(*DECIDERS, step_up_with="returns:decide"),
)
async def approve_return(
    request: Request, caller: CurrentCaller, request_id: UUID, body: DecideReturnRequest | None = None
) -> Response:
    """Approve the return and refund its items, as the order's vendor or support."""
    dependencies = dependencies_of(request, Dependencies)
    reason = None if body is None else body.reason
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        order_id = await find_returned_order(uow, caller, request_id)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        now, windows = dependencies.clock.now(), dependencies.windows
        await approve(uow, request_id, order_id, reason, by=caller, now=now, windows=windows)
        decided = await find_return_request(uow, request_id)
    return ok(request, or_not_found(decided))


@endpoint(
    "POST",
    f"{ONE_REQUEST}/reject",
    id="returns.reject",
    returns=ReturnRequest,
    allow=one_of(*DECIDERS, step_up_with="returns:decide"),
)
async def reject_return(
    request: Request, caller: CurrentCaller, request_id: UUID, body: DecideReturnRequest | None = None
) -> Response:
    """Reject the return, as the order's vendor or support."""
    dependencies = dependencies_of(request, Dependencies)
    reason = None if body is None else body.reason
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        order_id = await find_returned_order(uow, caller, request_id)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reject(uow, request_id, order_id, reason, by=caller.id, now=dependencies.clock.now())
        decided = await find_return_request(uow, request_id)
    return ok(request, or_not_found(decided))
