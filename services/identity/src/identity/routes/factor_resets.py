"""Resets of lost second factors: support prepares, a platform_admin decides (contract
section 5.5).
"""

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
from common.web.schemas import DecisionApproval, EmptyRequest
from identity.dependencies import Dependencies
from identity.queries.factor_resets import find_factor_reset, page_of_factor_resets
from identity.responses.factor_resets import FactorReset
from identity.routes.revocations import apply_revocation
from identity.routes.service_callers import DECIDING
from identity.schemas.factor_resets import PrepareFactorResetRequest
from identity.use_cases.factors.approve_factor_reset import approve_factor_reset as approve
from identity.use_cases.factors.prepare_factor_reset import prepare_factor_reset as prepare
from identity.use_cases.factors.reject_factor_reset import reject_factor_reset as reject

endpoint = Endpoints("factor resets")
READERS = one_of("factor_resets:prepare", "factor_resets:approve", "staff:read")


@endpoint("GET", "/api/factor-resets", id="factorResets.list", returns=list[FactorReset], allow=READERS)
async def list_factor_resets(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page("created_at"))],
    status: ExpiringStatus | None = None,
    user_id: Annotated[UUID | None, Query(alias="userId")] = None,
    awaiting: AwaitingApproval = None,
) -> Response:
    """Return resets of lost second factors, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_factor_resets(
            uow, status, user_id, awaiting_approval=awaiting is not None, now=now, page=page
        )
    return respond_offset_page(request, page, found)


@endpoint("GET", "/api/factor-resets/{reset_id}", id="factorResets.get", returns=FactorReset, allow=READERS)
async def get_factor_reset(request: Request, caller: CurrentCaller, reset_id: UUID) -> Response:
    """Return one reset of second factors."""
    return await _respond(request, caller, reset_id)


@endpoint(
    "POST",
    "/api/factor-resets",
    id="factorResets.prepare",
    returns=FactorReset,
    status=201,
    errors=(404,),
    allow=permission("factor_resets:prepare", step_up=True),
)
async def prepare_factor_reset(request: Request, caller: CurrentCaller, body: PrepareFactorResetRequest) -> Response:
    """Prepare the removal of all second factors of a user who lost them. The user is notified at once; another person
    can approve it after 24 hours, unless the user uses a factor before.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
        reset_id = await prepare(uow, caller, body.user_id, body.reason, now=dependencies.clock.now())
    return await _respond(request, caller, reset_id, status=201)


@endpoint(
    "POST",
    "/api/factor-resets/{reset_id}/approve",
    id="factorResets.approve",
    returns=FactorReset,
    allow=permission("factor_resets:approve", step_up=True),
)
async def approve_factor_reset(
    request: Request, caller: CurrentCaller, reset_id: UUID, body: DecisionApproval
) -> Response:
    """Remove the factors and end the user's sessions. Neither its maker nor the user can approve it."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
        applied = await approve(uow, caller, reset_id, body.hash, now=now)
    if applied is not None:
        user_id, revoked = applied
        apply_revocation(dependencies, user_id, revoked.revocation, now)
    return await _respond(request, caller, reset_id)


@endpoint(
    "POST",
    "/api/factor-resets/{reset_id}/reject",
    id="factorResets.reject",
    returns=FactorReset,
    allow=permission("factor_resets:approve", step_up=True),
)
async def reject_factor_reset(
    request: Request, caller: CurrentCaller, reset_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Reject the reset; the factors stay."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=DECIDING) as uow:
        await reject(uow, caller, reset_id, now=dependencies.clock.now())
    return await _respond(request, caller, reset_id)


async def _respond(request: Request, caller: Caller, reset_id: UUID, *, status: int = 200) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        shown = await find_factor_reset(uow, reset_id, now=dependencies.clock.now())
    return ok(request, shown, status=status)
