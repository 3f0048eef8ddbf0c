"""Release of escrow by staff, and the plan of a resolution."""

from typing import Annotated
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import one_of, permission
from common.primitives.money import AMOUNT_MINOR_MAX
from common.web.endpoint_table import Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.idempotency import OptionalIdempotentCommand
from payments.dependencies import Dependencies
from payments.queries.resolution_plans import find_resolution_plan
from payments.responses.escrow import EscrowRelease, ResolutionPlan
from payments.schemas.escrow import ReleaseEscrowRequest
from payments.use_cases.escrow.release_by_staff import release_by_staff

endpoint = Endpoints("escrow")


@endpoint(
    "POST",
    "/api/orders/{order_id}/release",
    id="escrow.release",
    returns=EscrowRelease,
    allow=permission("escrow:release", step_up=True),
    quota=Quota.SENSITIVE,
)
async def release_escrow(
    request: Request,
    caller: CurrentCaller,
    command: OptionalIdempotentCommand,
    order_id: UUID,
    body: ReleaseEscrowRequest,
) -> Response:
    """Release a part of the order's escrow to the vendor, less commission.

    409 for more than is locked; 423 while the order is disputed.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        done = await release_by_staff(uow, order_id, body.amount_minor, caller, dependencies.clock.now(), command)
    return ok(request, EscrowRelease(released_minor=done.released_minor, remaining_locked_minor=done.locked_minor))


@endpoint(
    "GET",
    "/api/orders/{order_id}/resolution-plan",
    id="escrow.planResolution",
    returns=ResolutionPlan,
    allow=one_of("disputes:prepare", "disputes:approve"),
)
async def plan_resolution(
    request: Request,
    caller: CurrentCaller,
    order_id: UUID,
    refund_minor: Annotated[
        int, Query(alias="refundMinor", ge=0, le=AMOUNT_MINOR_MAX, description="Kobo that return to the buyer.")
    ],
) -> Response:
    """Return what buyer, vendor and platform get when this amount returns to the buyer. Nothing is recorded."""
    dependencies = dependencies_of(request, Dependencies)
    # Acts as the service: the escrow is invisible to support.
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        plan = await find_resolution_plan(uow, order_id, refund_minor, with_entries=caller.may("ledger:read"))
    return ok(request, plan)
