"""The function for other services, with the service key."""

from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import SERVICE_KEY
from common.web.endpoints import Endpoints
from common.web.http import dependencies_of, ok
from notifications.deliveries.responses import NotificationDelivery
from notifications.deliveries.schemas import DeliverNotificationRequest
from notifications.deliveries.use_cases.deliveries.accept_message import RequestedMessage, accept_message
from notifications.dependencies import Dependencies

endpoint = Endpoints("functions")


@endpoint(
    "POST",
    "/functions/v1/deliver-notification",
    id="functions.deliverNotification",
    returns=NotificationDelivery,
    allow=SERVICE_KEY,
)
async def deliver_notification(request: Request, body: DeliverNotificationRequest) -> Response:
    """Queue a message. A repeated (notificationId, channel, recipient) returns the status of the delivery."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        delivery = await accept_message(
            uow,
            dependencies.delivery_context(),
            dependencies.delivery_sender.encryptor,
            RequestedMessage(
                body.notification_id, body.user_id, body.channel, body.template, body.data, body.sensitive
            ),
        )
    return ok(request, delivery)
