"""Tell a customer that support has answered."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.domain.deliveries import EncryptedValue, NotificationRequest, notification_id_of
from notifications.store import tickets
from notifications.use_cases.deliveries.deliver_notification import DeliveryContext, deliver_notification
from notifications.use_cases.deliveries.notify_user import notify_user

TEMPLATE: Final = "ticket_reply"
CHANNEL: Final = "messaging"


async def notify_reply(uow: UnitOfWork, message_id: UUID, delivery_context: DeliveryContext) -> bool:
    """By mail, push and in the feed when the customer is known, and in the messaging app when they wrote there, once each.

    Whoever wrote there has asked for the answer: no wish and no quiet hours of theirs delay it. False for a ticket that was
    emptied meanwhile. Raises ContactUnknown, for the retry ladder.
    """
    reply = await tickets.find_reply(uow, message_id)
    if reply is None or not reply["body"]:
        return False
    notification_id = notification_id_of(TEMPLATE, message_id)
    parameters = {"ticketId": str(reply["ticket_id"]), "messageId": str(message_id)}
    is_known = reply["user_id"] is not None
    if is_known:
        await notify_user(uow, delivery_context, reply["user_id"], TEMPLATE, parameters, notification_id)
    if reply["phone_sealed"] is not None and CHANNEL in delivery_context.channels:
        address = {"address": EncryptedValue(reply["phone_sealed"], str(reply["ticket_id"]))}
        wanted = NotificationRequest(
            notification_id, CHANNEL, TEMPLATE, parameters, user_id=reply["user_id"], sealed=address
        )
        await deliver_notification(uow, wanted, delivery_context, recipient=reply["phone_masked"], in_feed=is_known)
    return True
