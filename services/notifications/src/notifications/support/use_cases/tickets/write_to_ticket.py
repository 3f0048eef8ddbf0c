"""Write a message to a ticket."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.lifecycles import Rejection
from notifications.deliveries import mask_digits
from notifications.support.domain.errors import TicketClosed
from notifications.support.domain.tickets import status_after
from notifications.support.store import tickets
from notifications.support.use_cases.tickets.check_write_access import check_write_access


async def write_to_ticket(uow: UnitOfWork, caller: Caller, ticket_id: UUID, text: str, now: datetime) -> UUID:
    """Store the text with masked digits and return the message id; the worker notifies the customer of a staff reply.

    Raises NotFound for an invisible ticket, Forbidden for a reader, TicketClosed.
    """
    side = await check_write_access(uow, caller, ticket_id)
    locked = await tickets.lock_ticket(uow, ticket_id)
    if locked is None:
        raise TicketClosed
    status = status_after(locked.status, side, locked.closed_at, now)
    if isinstance(status, Rejection):
        raise TicketClosed
    message_id = new_id()
    await tickets.record_ticket_activity(uow, ticket_id, locked.status, status, side, now)
    masked = mask_digits(text)
    message = tickets.NewTicketMessage(message_id, ticket_id, side, caller.id, "app", "text", masked)
    await tickets.save_ticket_message(uow, message, now)
    if side == "staff":
        tickets.enqueue_reply(uow, message_id)
    return message_id
