"""Drills: exercises of the people on call, which `campusctl drill` carries out."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from notifications.deliveries.domain.drills import Exercise, Measured
from notifications.deliveries.queries.drills import DRILL_SORTS, get_drill, page_of_drills
from notifications.deliveries.responses import Drill
from notifications.deliveries.schemas import EndDrillRequest, StartDrillRequest
from notifications.deliveries.use_cases.drills.end_drill import end_drill as end
from notifications.deliveries.use_cases.drills.start_drill import start_drill as start
from notifications.dependencies import Dependencies

endpoint = Endpoints("operations")

_ACTORS: Final = permission("operations:stop")


@endpoint("GET", "/api/drills", id="drills.list", returns=list[Drill], allow=permission("alerts:read"))
async def list_drills(
    request: Request, caller: CurrentCaller, page: Annotated[OffsetPage, Depends(offset_page(*DRILL_SORTS))]
) -> Response:
    """List drills with their times, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_drills(uow, page)
    return respond_offset_page(request, page, found)


@endpoint("POST", "/api/drills", id="drills.start", returns=Drill, status=201, allow=_ACTORS)
async def start_drill(request: Request, caller: CurrentCaller, body: StartDrillRequest) -> Response:
    """Record that a fault is planted. 409 while another drill runs, and in production."""
    dependencies = dependencies_of(request, Dependencies)
    exercise = Exercise(body.name, body.runbook, body.severity)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        drill_id = await start(uow, exercise, caller.id, now, is_production=dependencies.is_production)
        return ok(request, await get_drill(uow, drill_id), status=201)


@endpoint("POST", "/api/drills/{drill_id}/end", id="drills.end", returns=Drill, allow=_ACTORS)
async def end_drill(request: Request, caller: CurrentCaller, drill_id: UUID, body: EndDrillRequest) -> Response:
    """Record the times of a drill whose fault is removed; 409 when it ended before."""
    dependencies = dependencies_of(request, Dependencies)
    measured = Measured(body.seen_at, body.acknowledged_at, body.cleared_at, body.runbook_steps)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await end(uow, drill_id, measured, dependencies.clock.now())
        return ok(request, await get_drill(uow, drill_id))
