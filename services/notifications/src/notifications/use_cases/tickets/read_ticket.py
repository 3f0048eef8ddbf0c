"""Mark what was said in a ticket as read."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Forbidden, NotFound
from notifications.domain.tickets import side_of
from notifications.queries import tickets as seen
from notifications.store import tickets


async def read_ticket(uow: UnitOfWork, caller: Caller, ticket_id: UUID) -> None:
    """For the caller's side of it: the customer, or staff as a whole. Raises NotFound, Forbidden."""
    ticket = await seen.find_ticket(uow, ticket_id)
    if ticket is None:
        raise NotFound
    side = side_of(caller.id, ticket["user_id"], may_manage=caller.may("tickets:manage"))
    if side is None:
        raise Forbidden
    await tickets.save_ticket_read(uow, ticket_id, side)
