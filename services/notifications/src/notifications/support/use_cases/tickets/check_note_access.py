"""Check that a caller may see the notes of a ticket."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from notifications.support.domain.errors import OwnTicket
from notifications.support.queries.tickets import find_ticket


async def check_note_access(uow: UnitOfWork, caller: Caller, ticket_id: UUID) -> None:
    """Raise NotFound for an invisible ticket, OwnTicket for its customer, who may be a member of staff."""
    ticket = await find_ticket(uow, ticket_id)
    if ticket is None:
        raise NotFound
    if ticket.user_id == caller.id:
        raise OwnTicket
