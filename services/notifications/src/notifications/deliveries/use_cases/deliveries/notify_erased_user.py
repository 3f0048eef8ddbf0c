"""Notify an erased user."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from notifications.deliveries.domain.deliveries import EncryptedValue, NotificationRequest, notification_id_of
from notifications.deliveries.use_cases.deliveries.deliver_notification import deliver_notification
from notifications.deliveries.use_cases.deliveries.record_deliveries import DeliveryContext

TEMPLATE = "account_erased"


async def notify_erased_user(
    uow: UnitOfWork, delivery_context: DeliveryContext, encryptor: Encryptor, user_id: UUID, email: str
) -> None:
    """Send a last mail that belongs to no user. Its encrypted address is deleted when the delivery ends."""
    notification_id = notification_id_of(TEMPLATE, user_id)
    context = str(notification_id)
    request = NotificationRequest(
        notification_id=notification_id,
        channel="email",
        template=TEMPLATE,
        parameters={},
        encrypted={"address": EncryptedValue(encryptor.encrypt(email, context), context)},
    )
    await deliver_notification(uow, request, delivery_context, recipient=f"erased:{notification_id}")
