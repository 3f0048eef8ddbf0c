"""Endpoints of automatic payouts."""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import one_of, permission
from common.primitives.problems import NotFound
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from payouts import responses, schemas
from payouts.dependencies import Dependencies
from payouts.domain.schedules import Schedule
from payouts.queries.bank_details import find_legal_name
from payouts.queries.schedules import find_schedule
from payouts.use_cases.schedules.change_schedule import change_schedule

endpoint = Endpoints("payout schedules")


@endpoint(
    "GET",
    "/api/vendors/{vendor_id}/payout-schedule",
    id="payoutSchedules.get",
    returns=responses.PayoutSchedule,
    allow=one_of("wallet:own", "payouts:read"),
)
async def get_payout_schedule(request: Request, caller: CurrentCaller, vendor_id: UUID) -> Response:
    """Return the schedule and the decision of its latest period; `none` until one is set."""
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        # Finance and auditors see existing vendors; a merchant sees the own one even before its approval was received.
        if vendor_id != caller.vendor_id and await find_legal_name(uow, vendor_id) is None:
            raise NotFound
        schedule = await find_schedule(uow, vendor_id)
    return ok(request, schedule)


@endpoint(
    "PUT",
    "/api/vendors/{vendor_id}/payout-schedule",
    id="payoutSchedules.replace",
    returns=responses.PayoutSchedule,
    allow=permission("wallet:own", step_up=True),
)
async def replace_payout_schedule(
    request: Request,
    caller: CurrentCaller,
    vendor_id: UUID,
    body: schemas.ReplacePayoutScheduleRequest,
) -> Response:
    """Request all that is available on each of its days, at 06:00 in Lagos; staff dispatch it as any other payout."""
    if vendor_id != caller.vendor_id:
        raise NotFound
    dependencies = dependencies_of(request, Dependencies)
    schedule = Schedule(body.frequency, body.weekday, body.minimum_minor)
    minimum_minor, now = dependencies.payout_minimum_minor, dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await change_schedule(uow, vendor_id, schedule, minimum_minor, caller.id, now)
        changed = await find_schedule(uow, vendor_id)
    return ok(request, changed)
