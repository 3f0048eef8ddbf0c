"""Record a notification with all others of a transaction."""

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries.domain.deliveries import Contact, NotificationRequest
from notifications.deliveries.use_cases.deliveries.address_notification import address_notification
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext
from notifications.deliveries.use_cases.deliveries.record_together import ComposedNotification, record_together


async def defer_notification(
    uow: UnitOfWork,
    request: NotificationRequest,
    delivery_context: DeliveryContext,
    *,
    contact: Contact | None = None,
    recipient: str | None = None,
    is_streamed: bool = True,
) -> None:
    """Record a notification and its deliveries before the commit, with all others of the transaction.

    For events, whose transactions contain messages to several users. Without `is_streamed` no process streams the
    user's feed. Raises as `address_notification`.
    """
    notification = await address_notification(uow, request, delivery_context, contact=contact, recipient=recipient)
    uow.defer(record_together, ComposedNotification(delivery_context, notification, is_streamed))
