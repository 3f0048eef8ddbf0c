"""Endpoints to release a quarantined account, by two users of finance (contract section 8.2)."""

from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Depends, Query, Request, Response

from common.auth.caller import THE_SERVICE
from common.web.http import CurrentCaller, dependencies_of, guarded_router, ok, requires
from common.web.idempotency import OptionalIdempotentCommand
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.responses import responses_for
from common.web.schemas import DecisionApproval
from payouts.dependencies import Dependencies
from payouts.domain.quarantines import ReleaseStatus
from payouts.queries.bank_detail_releases import find_release, page_of_releases
from payouts.schemas.bank_detail_releases import (
    BankDetailRelease,
    BankDetailReleaseDetail,
    PrepareBankDetailReleaseRequest,
    RejectBankDetailReleaseRequest,
)
from payouts.use_cases.bank_detail_releases.approve_release import approve_release
from payouts.use_cases.bank_detail_releases.prepare_release import prepare_release
from payouts.use_cases.bank_detail_releases.reject_release import reject_release

router = guarded_router(tags=["bank details"])

DECIDED: Final = responses_for(BankDetailReleaseDetail, 403, 404, 409, 422)


@router.post(
    "/api/vendors/{id}/bank-details/release",
    operation_id="bankDetailReleases.prepare",
    status_code=201,
    responses=responses_for(BankDetailReleaseDetail, 403, 404, 409, 422, status=201),
)
@requires("bank_details:quarantine", step_up=True)
async def prepare_release_route(
    request: Request,
    caller: CurrentCaller,
    id: UUID,  # noqa: A002 - the contract's name
    body: PrepareBankDetailReleaseRequest,
    command: OptionalIdempotentCommand,
) -> Response:
    """Prepare the end of the newest quarantine of the vendor's account, for every vendor; another user decides."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        release_id = await prepare_release(uow, id, body.reason, caller.id, dependencies.clock.now(), command)
    return await _respond(request, caller, release_id, status=201)


@router.get(
    "/api/bank-detail-releases",
    operation_id="bankDetailReleases.list",
    responses=responses_for(list[BankDetailRelease], 403, 422),
)
@requires("payouts:read")
async def list_releases(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    status: ReleaseStatus | None = None,
    vendor_id: Annotated[UUID | None, Query(alias="vendorId")] = None,
    awaiting: Annotated[
        Literal["approval"] | None, Query(description="Only prepared ones that the caller may approve.")
    ] = None,
) -> Response:
    """List releases of quarantined accounts with their makers and checkers."""
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_releases(uow, page, status, vendor_id, awaiting_approval=awaiting is not None)
    return respond_offset_page(request, page, found)


@router.get(
    "/api/bank-detail-releases/{id}",
    operation_id="bankDetailReleases.get",
    responses=responses_for(BankDetailReleaseDetail, 403, 404),
)
@requires("payouts:read")
async def read_release(request: Request, caller: CurrentCaller, id: UUID) -> Response:  # noqa: A002 - the contract's name
    """One release with the quarantines that it ends."""
    return await _respond(request, caller, id)


@router.post("/api/bank-detail-releases/{id}/approve", operation_id="bankDetailReleases.approve", responses=DECIDED)
@requires("bank_details:release", step_up=True)
async def approve_release_route(
    request: Request,
    caller: CurrentCaller,
    id: UUID,  # noqa: A002 - the contract's name
    body: DecisionApproval,
) -> Response:
    """End the quarantines that have this hash, once, and notifies the vendors. Its maker is refused, under any role."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        now = dependencies.clock.now()
        await approve_release(uow, dependencies.account_numbers, id, body.hash, caller.id, now)
    return await _respond(request, caller, id)


@router.post("/api/bank-detail-releases/{id}/reject", operation_id="bankDetailReleases.reject", responses=DECIDED)
@requires("bank_details:release", step_up=True)
async def reject_release_route(
    request: Request,
    caller: CurrentCaller,
    id: UUID,  # noqa: A002 - the contract's name
    body: RejectBankDetailReleaseRequest,
) -> Response:
    """Rejects; the account stays quarantined, and a release may be prepared again."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reject_release(uow, id, body.reason, caller.id, dependencies.clock.now())
    return await _respond(request, caller, id)


async def _respond(request: Request, caller: CurrentCaller, release_id: UUID, status: int = 200) -> Response:
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        release = await find_release(uow, release_id)
    return ok(request, release, status=status)
