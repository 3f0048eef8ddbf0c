"""Quarantined charges and their four-eyes decisions (contract section 7)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import one_of, permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.idempotency import OptionalIdempotentCommand
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.schemas import DecisionApproval
from payments.dependencies import Dependencies
from payments.domain.quarantine import QuarantineStep
from payments.domain.transitions import QuarantinedChargeStatus
from payments.queries.quarantine import find_quarantined_charge, page_of_quarantined_charges
from payments.queries.quarantine_plans import plan_outcomes
from payments.responses.decisions import QuarantinedCharge, QuarantinePlan
from payments.schemas.decisions import AWAITED_STEP, PrepareQuarantineDecisionRequest, RejectDecisionRequest
from payments.use_cases.quarantine.approve_quarantine import approve_quarantine
from payments.use_cases.quarantine.prepare_quarantine import prepare_quarantine
from payments.use_cases.quarantine.reject_quarantine import reject_quarantine

endpoint = Endpoints("quarantine")

CHARGES: Final = "/api/quarantined-charges"
ONE_CHARGE: Final = f"{CHARGES}/{{charge_id}}"
READERS: Final = ("ledger:read", "quarantine:read")


@endpoint("GET", CHARGES, id="quarantinedCharges.list", returns=list[QuarantinedCharge], allow=one_of(*READERS))
async def list_quarantined_charges(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    status: Annotated[QuarantinedChargeStatus | None, Query()] = None,
    awaiting: Annotated[QuarantineStep | None, AWAITED_STEP] = None,
) -> Response:
    """List charges that pay for nothing yet, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_quarantined_charges(uow, page, status, awaiting)
    return respond_offset_page(request, page, found)


@endpoint("GET", ONE_CHARGE, id="quarantinedCharges.get", returns=QuarantinedCharge, allow=one_of(*READERS))
async def get_quarantined_charge(request: Request, caller: CurrentCaller, charge_id: UUID) -> Response:
    """Return one quarantined charge with its newest decision."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        charge = await find_quarantined_charge(uow, charge_id)
    return ok(request, charge)


@endpoint(
    "GET",
    f"{ONE_CHARGE}/postings",
    id="quarantinedCharges.listPostings",
    returns=list[QuarantinePlan],
    allow=permission("ledger:read"),
)
async def list_postings(request: Request, caller: CurrentCaller, charge_id: UUID) -> Response:
    """Return what each outcome would post now, account by account with the balances before it. Empty for a decided
    charge.
    """
    dependencies = dependencies_of(request, Dependencies)
    # Acts as the service: the order's total and the charge's disputes are invisible to finance.
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        plans = await plan_outcomes(uow, charge_id)
    return ok(request, plans)


@endpoint(
    "POST",
    f"{ONE_CHARGE}/prepare",
    id="quarantinedCharges.prepare",
    returns=QuarantinedCharge,
    allow=permission("quarantine:prepare", step_up=True),
)
async def prepare_quarantine_decision(
    request: Request,
    caller: CurrentCaller,
    charge_id: UUID,
    body: PrepareQuarantineDecisionRequest,
    command: OptionalIdempotentCommand,
) -> Response:
    """Prepare that the charge pays its order or is returned; another user decides on it. No money moves yet."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        now = dependencies.clock.now()
        await prepare_quarantine(uow, charge_id, body.outcome, body.reason, caller.id, now, command)
        charge = await find_quarantined_charge(uow, charge_id)
    return ok(request, charge)


@endpoint(
    "POST",
    f"{ONE_CHARGE}/approve",
    id="quarantinedCharges.approve",
    returns=QuarantinedCharge,
    allow=permission("quarantine:approve", step_up=True),
)
async def approve_quarantine_decision(
    request: Request, caller: CurrentCaller, charge_id: UUID, body: DecisionApproval
) -> Response:
    """Approve the decision with this hash, which ends the quarantine. Its maker is rejected, under any role."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await approve_quarantine(uow, charge_id, body.hash, caller.id, dependencies.clock.now())
        charge = await find_quarantined_charge(uow, charge_id)
    return ok(request, charge)


@endpoint(
    "POST",
    f"{ONE_CHARGE}/reject",
    id="quarantinedCharges.reject",
    returns=QuarantinedCharge,
    allow=permission("quarantine:approve", step_up=True),
)
async def reject_quarantine_decision(
    request: Request, caller: CurrentCaller, charge_id: UUID, body: RejectDecisionRequest
) -> Response:
    """Reject the decision: the charge stays in quarantine, and may be prepared again."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reject_quarantine(uow, charge_id, body.reason, caller.id, dependencies.clock.now())
        charge = await find_quarantined_charge(uow, charge_id)
    return ok(request, charge)
