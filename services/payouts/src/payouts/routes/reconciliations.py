"""Endpoints of failed payouts: resets by the on-call staff, reconciliations by two users of finance (contract section
8).
"""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import permission
from common.primitives.decisions import StaffDecisionStatus
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.idempotency import OptionalIdempotentCommand
from common.web.pages import AwaitingApproval, OffsetPage, offset_page, respond_offset_page
from common.web.schemas import DecisionApproval
from payouts.dependencies import Dependencies
from payouts.queries.reconciliations import find_reconciliation, list_planned_entries, page_of_reconciliations
from payouts.responses.payouts import Payout
from payouts.responses.reconciliations import PlannedReturnEntry, Reconciliation
from payouts.routes.payouts import respond_payout
from payouts.schemas.reconciliations import (
    PrepareReconciliationRequest,
    RejectReconciliationRequest,
    ResetPayoutRequest,
)
from payouts.use_cases.payouts.reset_payout import ResetOrder
from payouts.use_cases.payouts.reset_payout import reset_payout as reset
from payouts.use_cases.reconciliations.approve_reconciliation import approve_reconciliation as approve
from payouts.use_cases.reconciliations.prepare_reconciliation import prepare_reconciliation as prepare
from payouts.use_cases.reconciliations.reject_reconciliation import reject_reconciliation as reject

endpoint = Endpoints("reconciliations")


@endpoint(
    "POST",
    "/api/payouts/{payout_id}/reset",
    id="payouts.reset",
    returns=Payout,
    allow=permission("payouts:reset", step_up=True),
)
async def reset_payout(
    request: Request,
    caller: CurrentCaller,
    payout_id: UUID,
    body: ResetPayoutRequest,
    command: OptionalIdempotentCommand,
) -> Response:
    """Record a new attempt under a new reference, sent after a back-off. The gateway must confirm that the last one
    failed.
    """
    dependencies = dependencies_of(request, Dependencies)
    first_wait = timedelta(seconds=dependencies.settings.payout_retry_seconds)
    parts = (dependencies.database, dependencies.gateways, dependencies.clock)
    await reset(*parts, caller, ResetOrder(payout_id, body.reason), first_wait, command)
    return await respond_payout(request, caller, payout_id)


@endpoint(
    "POST",
    "/api/payouts/{payout_id}/reconciliations",
    id="reconciliations.prepare",
    returns=Reconciliation,
    status=201,
    allow=permission("reconciliations:prepare", step_up=True),
)
async def prepare_reconciliation(
    request: Request,
    caller: CurrentCaller,
    payout_id: UUID,
    body: PrepareReconciliationRequest,
    command: OptionalIdempotentCommand,
) -> Response:
    """Prepare the posting that makes the ledger agree with the gateway; another user decides. No money moves yet."""
    dependencies = dependencies_of(request, Dependencies)
    parts = (dependencies.database, dependencies.gateways, dependencies.clock)
    reconciliation_id = await prepare(*parts, caller, payout_id, body.reason, command)
    return await _respond(request, caller, reconciliation_id, status=201)


@endpoint(
    "GET",
    "/api/reconciliations",
    id="reconciliations.list",
    returns=list[Reconciliation],
    allow=permission("payouts:read"),
)
async def list_reconciliations(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    status: StaffDecisionStatus | None = None,
    payout_id: Annotated[UUID | None, Query(alias="payoutId")] = None,
    awaiting: AwaitingApproval = None,
) -> Response:
    """List reconciliations with their makers and checkers."""
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_reconciliations(uow, page, status, payout_id, awaiting_approval=awaiting is not None)
    return respond_offset_page(request, page, found)


@endpoint(
    "GET",
    "/api/reconciliations/{reconciliation_id}",
    id="reconciliations.get",
    returns=Reconciliation,
    allow=permission("payouts:read"),
)
async def get_reconciliation(request: Request, caller: CurrentCaller, reconciliation_id: UUID) -> Response:
    """Return one reconciliation with its prepared postings."""
    return await _respond(request, caller, reconciliation_id)


@endpoint(
    "GET",
    "/api/reconciliations/{reconciliation_id}/postings",
    id="reconciliations.listPostings",
    returns=list[PlannedReturnEntry],
    allow=permission("payouts:read"),
)
async def list_postings(request: Request, caller: CurrentCaller, reconciliation_id: UUID) -> Response:
    """Return the entries of its postings with the balance of each account now."""
    # Acts as the service: the accounts of vendors are invisible to finance.
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=THE_SERVICE) as uow:
        entries = await list_planned_entries(uow, reconciliation_id)
    return ok(request, entries)


@endpoint(
    "POST",
    "/api/reconciliations/{reconciliation_id}/approve",
    id="reconciliations.approve",
    returns=Reconciliation,
    allow=permission("reconciliations:approve", step_up=True),
)
async def approve_reconciliation(
    request: Request,
    caller: CurrentCaller,
    reconciliation_id: UUID,
    body: DecisionApproval,
) -> Response:
    """Post exactly what has this hash, once, and credit the wallet. Its maker is refused, under any role."""
    dependencies = dependencies_of(request, Dependencies)
    parts = (dependencies.database, dependencies.gateways, dependencies.clock)
    await approve(*parts, caller, reconciliation_id, body.hash)
    return await _respond(request, caller, reconciliation_id)


@endpoint(
    "POST",
    "/api/reconciliations/{reconciliation_id}/reject",
    id="reconciliations.reject",
    returns=Reconciliation,
    allow=permission("reconciliations:approve", step_up=True),
)
async def reject_reconciliation(
    request: Request,
    caller: CurrentCaller,
    reconciliation_id: UUID,
    body: RejectReconciliationRequest,
) -> Response:
    """Reject it without a posting; the payout may be prepared again."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reject(uow, reconciliation_id, body.reason, caller.id, dependencies.clock.now())
    return await _respond(request, caller, reconciliation_id)


async def _respond(request: Request, caller: CurrentCaller, reconciliation_id: UUID, status: int = 200) -> Response:
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        reconciliation = await find_reconciliation(uow, reconciliation_id)
    return ok(request, reconciliation, status=status)
