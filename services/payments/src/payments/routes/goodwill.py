"""Goodwill refunds: support prepares, a finance checker decides (decision 205)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import one_of, permission
from common.primitives.decisions import StaffDecisionStatus
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.idempotency import OptionalIdempotentCommand
from common.web.pages import AwaitingApproval, OffsetPage, offset_page, respond_offset_page
from common.web.schemas import DecisionApproval
from payments.dependencies import Dependencies
from payments.queries.goodwill import find_goodwill, page_of_goodwill
from payments.responses.goodwill import GoodwillRefund
from payments.schemas.decisions import RejectDecisionRequest
from payments.schemas.goodwill import PrepareGoodwillRequest
from payments.use_cases.goodwill.approve_goodwill import approve_goodwill
from payments.use_cases.goodwill.prepare_goodwill import PlannedGoodwill, prepare_goodwill
from payments.use_cases.goodwill.reject_goodwill import reject_goodwill

endpoint = Endpoints("refunds")

ALL: Final = "/api/goodwill-refunds"
ONE: Final = f"{ALL}/{{goodwill_id}}"
READERS: Final = ("goodwill:prepare", "goodwill:approve", "ledger:read")


@endpoint("GET", ALL, id="goodwillRefunds.list", returns=list[GoodwillRefund], allow=one_of(*READERS))
async def list_goodwill_refunds(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
    status: Annotated[StaffDecisionStatus | None, Query()] = None,
    awaiting: AwaitingApproval = None,
) -> Response:
    """List prepared and decided goodwill refunds, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_goodwill(uow, page, {"orderId": order_id, "status": status, "awaiting": awaiting})
    return respond_offset_page(request, page, found)


@endpoint("GET", ONE, id="goodwillRefunds.get", returns=GoodwillRefund, allow=one_of(*READERS))
async def get_goodwill_refund(request: Request, caller: CurrentCaller, goodwill_id: UUID) -> Response:
    """Return one goodwill refund with its posting."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        goodwill = await find_goodwill(uow, goodwill_id)
    return ok(request, goodwill)


@endpoint(
    "POST",
    ALL,
    id="goodwillRefunds.prepare",
    returns=GoodwillRefund,
    status=201,
    errors=(404,),
    allow=permission("goodwill:prepare", step_up=True),
)
async def prepare_goodwill_refund(
    request: Request, caller: CurrentCaller, body: PrepareGoodwillRequest, command: OptionalIdempotentCommand
) -> Response:
    """Prepare an amount for the buyer of a paid order, which the platform pays to the balance; another person decides.

    At most what is left of the order's payment, within the limit of one order.
    """
    dependencies = dependencies_of(request, Dependencies)
    planned = PlannedGoodwill(body.order_id, body.amount_minor, body.reason)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        order_max_minor, now = dependencies.goodwill_order_max_minor, dependencies.clock.now()
        goodwill_id = await prepare_goodwill(uow, planned, order_max_minor, caller, now, command)
        goodwill = await find_goodwill(uow, goodwill_id)
    return ok(request, goodwill, status=201)


@endpoint(
    "POST",
    f"{ONE}/approve",
    id="goodwillRefunds.approve",
    returns=GoodwillRefund,
    allow=permission("goodwill:approve", step_up=True),
)
async def approve_goodwill_refund(
    request: Request, caller: CurrentCaller, goodwill_id: UUID, body: DecisionApproval
) -> Response:
    """Credit the buyer's balance. Neither its maker nor a party of the order approves it."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        order_max_minor, now = dependencies.goodwill_order_max_minor, dependencies.clock.now()
        await approve_goodwill(uow, goodwill_id, body.hash, order_max_minor, caller, now)
        goodwill = await find_goodwill(uow, goodwill_id)
    return ok(request, goodwill)


@endpoint(
    "POST",
    f"{ONE}/reject",
    id="goodwillRefunds.reject",
    returns=GoodwillRefund,
    allow=permission("goodwill:approve", step_up=True),
)
async def reject_goodwill_refund(
    request: Request, caller: CurrentCaller, goodwill_id: UUID, body: RejectDecisionRequest
) -> Response:
    """Reject it: no money moves."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reject_goodwill(uow, goodwill_id, body.reason, caller, dependencies.clock.now())
        goodwill = await find_goodwill(uow, goodwill_id)
    return ok(request, goodwill)
