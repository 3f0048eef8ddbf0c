"""Notify a customer of a reply by support."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.deliveries import (
    DeliveryContext,
    EncryptedValue,
    NotificationRequest,
    deliver_notification,
    notification_id_of,
    notify_user,
)
from notifications.support.domain.cart_replies import TEXTS
from notifications.support.store import tickets

TEMPLATE: Final = "ticket_reply"
CHANNEL: Final = "messaging"


async def notify_reply(uow: UnitOfWork, message_id: UUID, delivery_context: DeliveryContext) -> bool:
    """Notify a known user by mail, push and feed, and the writer in the messaging app, once each.

    Preferences and quiet hours do not delay the reply in the messaging app: the customer wrote there. Return False for
    an erased ticket. Raises ContactUnknown.
    """
    reply = await tickets.find_reply(uow, message_id)
    if reply is None or not reply.body:
        return False
    notification_id = notification_id_of(TEMPLATE, message_id)
    parameters = {"ticketId": str(reply.ticket_id), "ticketNumber": reply.number, "messageId": str(message_id)}
    # An automatic reply is about what the customer has just sent there.
    is_announced = reply.user_id is not None and reply.kind not in TEXTS
    if reply.user_id is not None and is_announced:
        notify_user(uow, delivery_context, reply.user_id, TEMPLATE, parameters, message_id)
    if reply.phone_encrypted is not None and CHANNEL in delivery_context.channels:
        address = {"address": EncryptedValue(reply.phone_encrypted, str(reply.ticket_id))}
        request = NotificationRequest(
            notification_id, CHANNEL, TEMPLATE, parameters, user_id=reply.user_id, encrypted=address
        )
        await deliver_notification(uow, request, delivery_context, recipient=reply.phone_masked, in_feed=is_announced)
    return True
