"""Write a message into a ticket."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import Forbidden, NotFound
from notifications.domain.errors import TicketClosed
from notifications.domain.ticket_texts import mask_digits
from notifications.domain.tickets import side_of, status_after
from notifications.queries import tickets as seen
from notifications.store import tickets


async def write_to_ticket(uow: UnitOfWork, caller: Caller, ticket_id: UUID, text: str, now: datetime) -> UUID:
    """The id of the message; an answer of staff is told to the customer by the worker. The text is stored with its digits masked.

    Raises NotFound for a ticket that the caller may not see, Forbidden for one that they only read, TicketClosed.
    """
    ticket = await seen.find_ticket(uow, ticket_id)
    if ticket is None:
        raise NotFound
    side = side_of(caller.id, ticket["user_id"], may_manage=caller.may("tickets:manage"))
    if side is None:
        raise Forbidden
    locked = await tickets.lock_ticket(uow, ticket_id)
    status = None if locked is None else status_after(locked["status"], side, locked["closed_at"], now)
    if status is None:
        raise TicketClosed
    message_id = new_id()
    await tickets.save_written(uow, ticket_id, status, side, now)
    masked = mask_digits(text)
    await tickets.save_ticket_message(uow, message_id, ticket_id, side, caller.id, "app", "text", masked, now)
    if side == "staff":
        tickets.leave_reply(uow, message_id)
    return message_id
