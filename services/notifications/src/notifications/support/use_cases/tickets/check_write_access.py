"""Check that a caller may write to a ticket."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Forbidden, NotFound
from notifications.support.domain.tickets import Side, side_of
from notifications.support.queries.tickets import find_ticket


async def check_write_access(uow: UnitOfWork, caller: Caller, ticket_id: UUID) -> Side:
    """Return the caller's side. Raises NotFound for an invisible ticket, Forbidden for a reader."""
    ticket = await find_ticket(uow, ticket_id)
    if ticket is None:
        raise NotFound
    side = side_of(caller.id, ticket.user_id, may_manage=caller.may("tickets:manage"))
    if side is None:
        raise Forbidden
    return side
