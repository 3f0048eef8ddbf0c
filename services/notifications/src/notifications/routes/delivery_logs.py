"""The attempts to deliver, for staff."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.caller import Caller
from common.http import CurrentCaller, OffsetPage, dependencies_of, guarded_router, offset_page, ok, signed_in
from common.problems import Forbidden
from notifications import queries
from notifications.schemas import Channel, DeliveryLogShape

router = guarded_router(tags=["notifications"])

Status = Literal["sending", "unknown", "sent", "delivered", "read", "failed", "bounced"]


def reader_of_logs(caller: CurrentCaller) -> Caller:
    """Auditors read the logs, and whoever may send again; the guard knows one permission only."""
    if not (caller.may("delivery_logs:read") or caller.may("notifications:resend")):
        raise Forbidden
    return caller


@router.get("/api/notification-delivery-logs", responses={200: {"model": list[DeliveryLogShape]}})
@signed_in
async def list_delivery_logs(
    request: Request,
    caller: Annotated[Caller, Depends(reader_of_logs)],
    page: Annotated[OffsetPage, Depends(offset_page(*queries.LOG_SORTS))],
    notification_id: Annotated[UUID | None, Query(alias="notificationId")] = None,
    channel: Channel | None = None,
    status: Status | None = None,
) -> Response:
    """One row for each attempt, newest first."""
    dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        rows, total = await queries.page_of_delivery_logs(uow, page, notification_id, channel, status)
    meta: dict[str, Any] = page.meta(total)
    return ok(request, rows, **meta)
