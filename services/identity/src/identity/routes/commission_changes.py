"""Commission changes: `PATCH /api/vendors/:id` prepares one, a second platform_admin decides (contract section 5.5)."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.auth.guards import one_of, permission
from common.primitives.decisions import ExpiringStatus
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import AwaitingApproval, OffsetPage, offset_page, respond_offset_page
from common.web.schemas import DecisionApproval
from identity.dependencies import Dependencies
from identity.queries.commission_changes import find_commission_change, page_of_commission_changes
from identity.responses.commission_changes import CommissionChange
from identity.routes.service_callers import DECIDING
from identity.schemas.commission_changes import RejectCommissionChangeRequest
from identity.use_cases.vendors.approve_commission_change import approve_commission_change as approve
from identity.use_cases.vendors.reject_commission_change import reject_commission_change as reject

endpoint = Endpoints("commission changes")


@endpoint(
    "GET",
    "/api/commission-changes",
    id="commissionChanges.list",
    returns=list[CommissionChange],
    allow=one_of("vendors:commission", "vendors:read"),
)
async def list_commission_changes(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    status: ExpiringStatus | None = None,
    vendor_id: Annotated[UUID | None, Query(alias="vendorId")] = None,
    awaiting: AwaitingApproval = None,
) -> Response:
    """Commission changes that needed a second platform_admin, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_commission_changes(
            uow, status, vendor_id, awaiting_approval=awaiting is not None, now=now, page=page
        )
    return respond_offset_page(request, page, found)


@endpoint(
    "GET",
    "/api/commission-changes/{change_id}",
    id="commissionChanges.get",
    returns=CommissionChange,
    allow=one_of("vendors:commission", "vendors:read"),
)
async def get_commission_change(request: Request, caller: CurrentCaller, change_id: UUID) -> Response:
    """Return one commission change."""
    return await _respond(request, caller, change_id)


@endpoint(
    "POST",
    "/api/commission-changes/{change_id}/approve",
    id="commissionChanges.approve",
    returns=CommissionChange,
    allow=permission("vendors:commission", step_up=True),
)
async def approve_commission_change(
    request: Request, caller: CurrentCaller, change_id: UUID, body: DecisionApproval
) -> Response:
    """Apply the commission to the vendor's new orders. The maker of the change cannot approve it."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
        await approve(uow, caller, change_id, body.hash, now=dependencies.clock.now())
    return await _respond(request, caller, change_id)


@endpoint(
    "POST",
    "/api/commission-changes/{change_id}/reject",
    id="commissionChanges.reject",
    returns=CommissionChange,
    allow=permission("vendors:commission", step_up=True),
)
async def reject_commission_change(
    request: Request, caller: CurrentCaller, change_id: UUID, body: RejectCommissionChangeRequest | None = None
) -> Response:
    """Reject the change; the commission stays."""
    dependencies = dependencies_of(request, Dependencies)
    reason = body.reason if body else None
    async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
        await reject(uow, caller, change_id, reason, now=dependencies.clock.now())
    return await _respond(request, caller, change_id)


async def _respond(request: Request, caller: Caller, change_id: UUID) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, await find_commission_change(uow, change_id, now=dependencies.clock.now()))
