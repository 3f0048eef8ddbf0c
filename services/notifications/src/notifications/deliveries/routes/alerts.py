"""Alerts for the on-call staff."""

from typing import Annotated, Literal

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import one_of
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from notifications.deliveries.queries.alerts import ALERT_SORTS, page_of_alerts
from notifications.deliveries.responses import Alert
from notifications.dependencies import Dependencies

endpoint = Endpoints("operations")


@endpoint("GET", "/api/alerts", id="alerts.list", returns=list[Alert], allow=one_of("alerts:read", "money_alerts:read"))
async def list_alerts(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page(*ALERT_SORTS))],
    status: Literal["open", "closed"] | None = None,
) -> Response:
    """Alerts of all services, newest first; finance reads those of payments and payouts. `sort=severity`: the highest
    severity first.
    """
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_alerts(uow, page, status)
    return respond_offset_page(request, page, found)
