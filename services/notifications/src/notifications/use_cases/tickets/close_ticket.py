"""Close a ticket."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Forbidden, NotFound
from notifications.domain.tickets import side_of
from notifications.queries import tickets as seen
from notifications.store import tickets


async def close_ticket(uow: UnitOfWork, caller: Caller, ticket_id: UUID, now: datetime) -> None:
    """By its customer or by staff; closing it again is a success without effect. Raises NotFound, Forbidden."""
    ticket = await seen.find_ticket(uow, ticket_id)
    if ticket is None:
        raise NotFound
    if side_of(caller.id, ticket["user_id"], may_manage=caller.may("tickets:manage")) is None:
        raise Forbidden
    await tickets.save_ticket_closed(uow, ticket_id, now)
