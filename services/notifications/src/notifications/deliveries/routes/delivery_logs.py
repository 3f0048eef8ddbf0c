"""Delivery attempts, for staff."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import one_of, permission
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from contracts.channels import Channel
from notifications.deliveries.domain.statuses import AttemptStatus
from notifications.deliveries.queries.deliveries import LOG_SORTS, page_of_delivery_logs
from notifications.deliveries.responses import DeliveryLog, NotificationDelivery
from notifications.deliveries.use_cases.deliveries.resend_delivery import resend_delivery
from notifications.dependencies import Dependencies

endpoint = Endpoints("notifications")


async def log_filters(
    notification_id: Annotated[UUID | None, Query(alias="notificationId")] = None,
    order_id: Annotated[UUID | None, Query(alias="orderId", description="Messages about this order.")] = None,
    user_id: Annotated[UUID | None, Query(alias="userId", description="Messages to this user.")] = None,
    channel: Channel | None = None,
    status: AttemptStatus | None = None,
) -> dict[str, UUID | str]:
    """Return the given filters by their public names."""
    given = {"notificationId": notification_id, "orderId": order_id, "userId": user_id}
    return {name: value for name, value in {**given, "channel": channel, "status": status}.items() if value is not None}


@endpoint(
    "GET",
    "/api/notification-delivery-logs",
    id="deliveryLogs.list",
    returns=list[DeliveryLog],
    allow=one_of("delivery_logs:read", "notifications:resend"),
)
async def list_delivery_logs(
    request: Request,
    caller: CurrentCaller,
    page: Annotated[OffsetPage, Depends(offset_page(*LOG_SORTS))],
    filters: Annotated[dict[str, UUID | str], Depends(log_filters)],
) -> Response:
    """Delivery attempts, newest first, for auditors and for staff who may resend."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_delivery_logs(uow, page, filters)
    return respond_offset_page(request, page, found)


@endpoint(
    "POST",
    "/api/notification-delivery-logs/{log_id}/resend",
    id="deliveryLogs.resend",
    returns=NotificationDelivery,
    allow=permission("notifications:resend"),
)
async def resend_notification(request: Request, caller: CurrentCaller, log_id: UUID) -> Response:
    """Resend the message of an attempt, as a new attempt of its delivery. A repeated Idempotency-Key changes
    nothing.
    """
    dependencies = dependencies_of(request, Dependencies)
    key = request.headers.get("idempotency-key")
    # As the service: no caller may read addresses and encrypted values.
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        delivery = await resend_delivery(uow, log_id, caller.id, key, dependencies.clock.now())
    return ok(request, delivery)
