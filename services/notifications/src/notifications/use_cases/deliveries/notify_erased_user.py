"""Tell somebody who was erased that it is done."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.encryption import Encryptor
from notifications.domain.deliveries import EncryptedValue, NotificationRequest, notification_id_of
from notifications.use_cases.deliveries.deliver_notification import DeliveryContext, deliver_notification

TEMPLATE = "account_erased"


async def notify_erased_user(
    uow: UnitOfWork, delivery_context: DeliveryContext, sealer: Encryptor, user_id: UUID, email: str
) -> None:
    """One last mail, which is nobody's. The address rests sealed with it, and is emptied when the mail was sent or given up."""
    notification_id = notification_id_of(TEMPLATE, user_id)
    context = str(notification_id)
    wanted = NotificationRequest(
        notification_id=notification_id,
        channel="email",
        template=TEMPLATE,
        parameters={},
        sealed={"address": EncryptedValue(sealer.encrypt(email, context), context)},
    )
    await deliver_notification(uow, wanted, delivery_context, recipient=f"erased:{notification_id}")
