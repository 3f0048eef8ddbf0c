"""Endpoints to release a quarantined account, by two users of finance (contract section 8.2)."""

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
from payouts.queries.bank_detail_releases import find_release, page_of_releases
from payouts.responses.bank_detail_releases import BankDetailRelease, BankDetailReleaseDetail
from payouts.schemas.bank_detail_releases import PrepareBankDetailReleaseRequest, RejectBankDetailReleaseRequest
from payouts.use_cases.bank_detail_releases.approve_release import approve_release as approve
from payouts.use_cases.bank_detail_releases.prepare_release import prepare_release as prepare
from payouts.use_cases.bank_detail_releases.reject_release import reject_release as reject

endpoint = Endpoints("bank details")


@endpoint(
    "POST",
    "/api/vendors/{vendor_id}/bank-details/release",
    id="bankDetailReleases.prepare",
    returns=BankDetailReleaseDetail,
    status=201,
    allow=permission("bank_details:quarantine", step_up=True),
)
async def prepare_release(
    request: Request,
    caller: CurrentCaller,
    vendor_id: UUID,
    body: PrepareBankDetailReleaseRequest,
    command: OptionalIdempotentCommand,
) -> Response:
    """Prepare the end of the newest quarantine of the vendor's account, for every vendor; another user decides."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        release_id = await prepare(uow, vendor_id, body.reason, caller.id, dependencies.clock.now(), command)
    return await _respond(request, caller, release_id, status=201)


@endpoint(
    "GET",
    "/api/bank-detail-releases",
    id="bankDetailReleases.list",
    returns=list[BankDetailRelease],
    allow=permission("payouts:read"),
)
async def list_releases(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    status: StaffDecisionStatus | None = None,
    vendor_id: Annotated[UUID | None, Query(alias="vendorId")] = None,
    awaiting: AwaitingApproval = None,
) -> Response:
    """List releases of quarantined accounts with their makers and checkers."""
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_releases(uow, page, status, vendor_id, awaiting_approval=awaiting is not None)
    return respond_offset_page(request, page, found)


@endpoint(
    "GET",
    "/api/bank-detail-releases/{release_id}",
    id="bankDetailReleases.get",
    returns=BankDetailReleaseDetail,
    allow=permission("payouts:read"),
)
async def get_release(request: Request, caller: CurrentCaller, release_id: UUID) -> Response:
    """Return one release with the quarantines that it ends."""
    return await _respond(request, caller, release_id)


@endpoint(
    "POST",
    "/api/bank-detail-releases/{release_id}/approve",
    id="bankDetailReleases.approve",
    returns=BankDetailReleaseDetail,
    allow=permission("bank_details:release", step_up=True),
)
async def approve_release(
    request: Request,
    caller: CurrentCaller,
    release_id: UUID,
    body: DecisionApproval,
) -> Response:
    """End the quarantines that have this hash, once, and notify the vendors. Its maker is refused, under any role."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        now = dependencies.clock.now()
        await approve(uow, dependencies.account_numbers, release_id, body.hash, caller.id, now)
    return await _respond(request, caller, release_id)


@endpoint(
    "POST",
    "/api/bank-detail-releases/{release_id}/reject",
    id="bankDetailReleases.reject",
    returns=BankDetailReleaseDetail,
    allow=permission("bank_details:release", step_up=True),
)
async def reject_release(
    request: Request,
    caller: CurrentCaller,
    release_id: UUID,
    body: RejectBankDetailReleaseRequest,
) -> Response:
    """Reject it; the account stays quarantined, and a release may be prepared again."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reject(uow, release_id, body.reason, caller.id, dependencies.clock.now())
    return await _respond(request, caller, release_id)


async def _respond(request: Request, caller: CurrentCaller, release_id: UUID, status: int = 200) -> Response:
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        release = await find_release(uow, release_id)
    return ok(request, release, status=status)
