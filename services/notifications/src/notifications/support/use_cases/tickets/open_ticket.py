"""Open a support ticket."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.notifications import TicketOpened
from notifications.deliveries import mask_digits
from notifications.support.store import tickets


async def open_ticket(
    uow: UnitOfWork, user_id: UUID, subject: str, text: str, order_id: UUID | None, now: datetime
) -> UUID:
    """Open a ticket with its first message, with masked digits. The caller has checked the order."""
    ticket_id = new_id()
    number = await tickets.save_opened_ticket(uow, ticket_id, user_id, "app", mask_digits(subject), order_id, now)
    masked = mask_digits(text)
    message = tickets.NewTicketMessage(new_id(), ticket_id, "customer", user_id, "app", "text", masked)
    await tickets.save_ticket_message(uow, message, now)
    uow.publish(TicketOpened(ticket_id=ticket_id, user_id=user_id, source="app", number=number))
    return ticket_id
