"""Alerts for the on-call staff."""

from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import one_of, permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from notifications.deliveries.queries.alerts import ALERT_SORTS, get_alert_detail, page_of_alerts
from notifications.deliveries.responses import Alert, AlertDetail
from notifications.deliveries.schemas import AddAlertNoteRequest, AssignAlertRequest, DiscardLostMessagesRequest
from notifications.deliveries.use_cases.alerts.acknowledge_alert import acknowledge_alert as acknowledge
from notifications.deliveries.use_cases.alerts.add_alert_note import add_alert_note as add_note
from notifications.deliveries.use_cases.alerts.assign_alert import assign_alert as assign
from notifications.deliveries.use_cases.alerts.check_assignee import check_assignee
from notifications.deliveries.use_cases.alerts.discard_lost_messages import discard_lost_messages as discard
from notifications.dependencies import Dependencies

endpoint = Endpoints("operations")

_READERS: Final = one_of("alerts:read", "money_alerts:read")


@endpoint("GET", "/api/alerts", id="alerts.list", returns=list[Alert], allow=_READERS)
async def list_alerts(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page(*ALERT_SORTS))],
    status: Literal["open", "closed"] | None = None,
) -> Response:
    """List the alerts of all services, newest first; finance reads those of payments and payouts.

    `sort=severity`: the highest severity first.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_alerts(uow, page, status)
    return respond_offset_page(request, page, found)


@endpoint("GET", "/api/alerts/{alert_id}", id="alerts.get", returns=AlertDetail, allow=_READERS)
async def get_alert(request: Request, caller: CurrentCaller, alert_id: UUID) -> Response:
    """Return one alert with its history."""
    return await _alert_response(request, caller, alert_id)


@endpoint(
    "POST",
    "/api/alerts/{alert_id}/acknowledge",
    id="alerts.acknowledge",
    returns=AlertDetail,
    allow=permission("alerts:acknowledge"),
)
async def acknowledge_alert(request: Request, caller: CurrentCaller, alert_id: UUID) -> Response:
    """Take on an open alert: it is not escalated, and is assigned to the caller where it has no assignee.

    A repetition has no effect; 409 for a closed alert.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await acknowledge(uow, alert_id, caller.id, dependencies.clock.now())
    return await _alert_response(request, caller, alert_id)


@endpoint(
    "POST",
    "/api/alerts/{alert_id}/assign",
    id="alerts.assign",
    returns=AlertDetail,
    allow=permission("alerts:acknowledge"),
)
async def assign_alert(request: Request, caller: CurrentCaller, alert_id: UUID, body: AssignAlertRequest) -> Response:
    """Assign an open alert to a user who may acknowledge alerts; 409 for a closed alert."""
    dependencies = dependencies_of(request, Dependencies)
    if body.assignee_id not in (None, caller.id):
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await check_assignee(uow, body.assignee_id)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await assign(uow, alert_id, body.assignee_id, caller.id, dependencies.clock.now())
    return await _alert_response(request, caller, alert_id)


@endpoint(
    "POST",
    "/api/alerts/{alert_id}/notes",
    id="alerts.addNote",
    returns=AlertDetail,
    status=201,
    allow=permission("alerts:acknowledge"),
)
async def add_alert_note(
    request: Request, caller: CurrentCaller, alert_id: UUID, body: AddAlertNoteRequest
) -> Response:
    """Add a note to the history of an alert, also of a closed one."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await add_note(uow, alert_id, body.text, caller.id, dependencies.clock.now())
    return await _alert_response(request, caller, alert_id, status=201)


@endpoint(
    "POST",
    "/api/alerts/{alert_id}/discard",
    id="alerts.discard",
    returns=AlertDetail,
    allow=permission("alerts:acknowledge"),
)
async def discard_alert(
    request: Request, caller: CurrentCaller, alert_id: UUID, body: DiscardLostMessagesRequest
) -> Response:
    """Discard the messages of an alert about messages that were not delivered, and close it; 409 for another alert."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await discard(uow, alert_id, caller.id, body.reason, dependencies.clock.now())
    return await _alert_response(request, caller, alert_id)


async def _alert_response(request: Request, caller: Caller, alert_id: UUID, status: int = 200) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return ok(request, await get_alert_detail(uow, alert_id), status=status)
