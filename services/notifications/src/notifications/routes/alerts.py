"""Alerts for the people on call."""

from typing import Annotated, Literal

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from common.web.http import CurrentCaller, OffsetPage, dependencies_of, guarded_router, offset_page, ok, requires
from notifications import queries
from notifications.dependencies import Dependencies
from notifications.schemas import Alert

router = guarded_router(tags=["operations"])


@router.get("/api/alerts", responses={200: {"model": list[Alert]}})
@requires("alerts:read")
async def list_alerts(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page(*queries.ALERT_SORTS))],
    status: Literal["open", "closed"] | None = None,
) -> Response:
    """Alerts of all services, newest first. `sort=severity`: the highest severity first."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        rows, total = await queries.page_of_alerts(uow, page, status)
    return ok(request, rows, **page.meta(total))
