"""Reply to a cart of the messaging app."""

from collections.abc import Sequence
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from contracts.notifications import CartLine, CartReceived
from notifications.deliveries import mask_digits, notification_id_of
from notifications.support.domain.cart_replies import TEXTS, CartReply
from notifications.support.domain.messaging_webhook import OrderedItem
from notifications.support.store import tickets
from notifications.support.use_cases.tickets.record_customer_message import SOURCE, RecordedMessage


async def reply_to_cart(
    uow: UnitOfWork, item_id: str, recorded: RecordedMessage, items: Sequence[OrderedItem], now: datetime
) -> None:
    """Publish the cart of a user with this number as a purchase draft and send its link; else send one to sign up.

    The draft has the id of the reply, which is the same for the same message. A ticket that the cart opened waits for
    the customer; in another one the customer's question still waits for staff.
    """
    kind: CartReply = "sign_up" if recorded.user_id is None else "purchase_draft"
    draft_id = notification_id_of(kind, item_id)
    if recorded.user_id is not None:
        lines = tuple(CartLine(retailer_id=item.retailer_id, quantity=item.quantity) for item in items)
        uow.publish(CartReceived(draft_id=draft_id, user_id=recorded.user_id, items=lines))
    text = mask_digits(TEXTS[kind])
    reply = tickets.NewTicketMessage(draft_id, recorded.ticket_id, "staff", None, SOURCE, kind, text)
    await tickets.save_ticket_message(uow, reply, now)
    if recorded.is_opened:
        await tickets.record_ticket_activity(uow, recorded.ticket_id, "open", "pending", "staff", now)
    tickets.enqueue_reply(uow, draft_id)
