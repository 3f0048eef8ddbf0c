"""The attempts to deliver, for staff."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.http import CurrentCaller, OffsetPage, dependencies_of, guarded_router, offset_page, ok, requires_one_of
from notifications import queries
from notifications.schemas import Channel, DeliveryLogShape

router = guarded_router(tags=["notifications"])

Status = Literal["sending", "unknown", "sent", "delivered", "read", "failed", "bounced"]


@router.get("/api/notification-delivery-logs", responses={200: {"model": list[DeliveryLogShape]}})
@requires_one_of("delivery_logs:read", "notifications:resend")
async def list_delivery_logs(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page(*queries.LOG_SORTS))],
    notification_id: Annotated[UUID | None, Query(alias="notificationId")] = None,
    channel: Channel | None = None,
    status: Status | None = None,
) -> Response:
    """One row for each attempt, newest first: for auditors, and whoever may send again."""
    dependencies = dependencies_of(request)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        rows, total = await queries.page_of_delivery_logs(uow, page, notification_id, channel, status)
    meta: dict[str, Any] = page.meta(total)
    return ok(request, rows, **meta)
