"""Write an internal note on a ticket."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from notifications.deliveries import mask_digits
from notifications.support.store import tickets
from notifications.support.use_cases.tickets.check_note_access import check_note_access


async def note_on_ticket(uow: UnitOfWork, caller: Caller, ticket_id: UUID, text: str, now: datetime) -> UUID:
    """Store the note with masked digits and return its id. It changes no status and notifies no one; a closed ticket
    takes it too.

    Raises NotFound and OwnTicket.
    """
    await check_note_access(uow, caller, ticket_id)
    note_id = new_id()
    await tickets.save_ticket_note(uow, note_id, ticket_id, caller.id, mask_digits(text), now)
    return note_id
