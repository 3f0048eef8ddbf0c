"""Refunds, and the four-eyes decisions about failed ones (contract section 7)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import SIGNED_IN, permission
from common.primitives.problems import ValidationFailed
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, QueryText, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.schemas import DecisionApproval, QueryInstant
from payments.dependencies import Dependencies
from payments.domain.destinations import Destination
from payments.domain.identifiers import attempt_of_reference
from payments.domain.refunds import RefundKind, RefundStep
from payments.domain.transitions import RefundStatus
from payments.queries.refunds import RefundFilter, find_refund, page_of_refunds
from payments.responses.decisions import Refund
from payments.schemas.decisions import AWAITED_STEP, PrepareRefundDecisionRequest, RejectDecisionRequest
from payments.use_cases.outside_refunds.prepare_correction import prepare_correction
from payments.use_cases.refunds.approve_refund import approve_refund as approve
from payments.use_cases.refunds.prepare_refund import RefundPlan
from payments.use_cases.refunds.prepare_refund import prepare_refund as prepare
from payments.use_cases.refunds.reject_refund import reject_refund as reject

endpoint = Endpoints("refunds")

REFUNDS: Final = "/api/refunds"
ONE_REFUND: Final = f"{REFUNDS}/{{refund_id}}"


async def refund_filter(
    status: Annotated[RefundStatus | None, Query()] = None,
    kind: Annotated[RefundKind | None, Query()] = None,
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
    start: Annotated[QueryInstant | None, Query(alias="from", description="Owed since this or later.")] = None,
    end: Annotated[QueryInstant | None, Query(alias="to", description="Owed since before this.")] = None,
    reference: Annotated[
        QueryText | None, Query(max_length=100, description="The reference of its newest attempt at the gateway.")
    ] = None,
    buyer_id: Annotated[UUID | None, Query(alias="buyerId", description="Refunds of this buyer's orders.")] = None,
) -> RefundFilter:
    """Return the filters of the list of refunds. Raises ValidationFailed for what is no reference of a refund."""
    attempt_id = attempt_of_reference(reference)
    if reference is not None and attempt_id is None:
        raise ValidationFailed.of("reference", "must be `re-` and 32 hex digits")
    return RefundFilter(status, kind, order_id, start, end, attempt_id, buyer_id)


@endpoint("GET", REFUNDS, id="refunds.list", returns=list[Refund], allow=SIGNED_IN)
async def list_refunds(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at", "amount"))],
    chosen: Annotated[RefundFilter, Depends(refund_filter)],
    awaiting: Annotated[RefundStep | None, AWAITED_STEP] = None,
) -> Response:
    """Return a buyer's own refunds; finance, support and auditors see all. Newest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_refunds(uow, page, chosen, awaiting)
    return respond_offset_page(request, page, found)


@endpoint("GET", ONE_REFUND, id="refunds.get", returns=Refund, allow=SIGNED_IN)
async def get_refund(request: Request, caller: CurrentCaller, refund_id: UUID) -> Response:
    """Return one refund; its newest decision is for staff."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        refund = await find_refund(uow, refund_id)
    return ok(request, refund)


@endpoint(
    "POST",
    f"{ONE_REFUND}/prepare",
    id="refunds.prepare",
    returns=Refund,
    allow=permission("refunds:prepare", step_up=True),
)
async def prepare_refund(
    request: Request, caller: CurrentCaller, refund_id: UUID, body: PrepareRefundDecisionRequest
) -> Response:
    """Prepare that a failed refund is sent the same way under a new reference, or to a bank account.

    A refund of kind `outside` that was not its order's is corrected: the platform bears it. Another user decides on it.
    """
    dependencies = dependencies_of(request, Dependencies)
    if body.action == "correct":
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await prepare_correction(uow, refund_id, body.reason, caller.id, dependencies.clock.now())
    else:
        destination = None if body.destination is None else Destination(**body.destination.model_dump())
        plan = RefundPlan(body.reason, destination)
        await prepare(dependencies.database, dependencies.gateways, dependencies.clock, refund_id, plan, caller.id)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        refund = await find_refund(uow, refund_id)
    return ok(request, refund)


@endpoint(
    "POST",
    f"{ONE_REFUND}/approve",
    id="refunds.approve",
    returns=Refund,
    allow=permission("refunds:approve", step_up=True),
)
async def approve_refund(request: Request, caller: CurrentCaller, refund_id: UUID, body: DecisionApproval) -> Response:
    """Approve the decision with this hash, which sends the refund again, or corrects it. Its maker is rejected, under
    any role.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await approve(uow, refund_id, body.hash, caller.id, dependencies.clock.now())
        refund = await find_refund(uow, refund_id)
    return ok(request, refund)


@endpoint(
    "POST",
    f"{ONE_REFUND}/reject",
    id="refunds.reject",
    returns=Refund,
    allow=permission("refunds:approve", step_up=True),
)
async def reject_refund(
    request: Request, caller: CurrentCaller, refund_id: UUID, body: RejectDecisionRequest
) -> Response:
    """Reject the decision: the refund stays as it is, and may be prepared again."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reject(uow, refund_id, body.reason, caller.id, dependencies.clock.now())
        refund = await find_refund(uow, refund_id)
    return ok(request, refund)
