"""Tell a customer that support has answered."""

from typing import Final
from uuid import UUID

from common.database import UnitOfWork
from notifications.domain.deliveries import Sealed, Wanted, notification_id_of
from notifications.store import tickets
from notifications.use_cases.deliver_notification import Desk, deliver_notification
from notifications.use_cases.tell_person import tell_person

TEMPLATE: Final = "ticket_reply"
CHANNEL: Final = "messaging"


async def tell_reply(uow: UnitOfWork, message_id: UUID, desk: Desk) -> bool:
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
        await tell_person(uow, desk, reply["user_id"], TEMPLATE, parameters, notification_id)
    if reply["phone_sealed"] is not None and CHANNEL in desk.channels:
        address = {"address": Sealed(reply["phone_sealed"], str(reply["ticket_id"]))}
        wanted = Wanted(notification_id, CHANNEL, TEMPLATE, parameters, user_id=reply["user_id"], sealed=address)
        await deliver_notification(uow, wanted, desk, recipient=reply["phone_masked"], in_feed=is_known)
    return True
