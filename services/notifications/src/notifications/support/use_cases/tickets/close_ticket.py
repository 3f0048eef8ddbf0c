"""Close a ticket."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from common.primitives.problems import NotFound
from notifications.support.domain.tickets import TICKET
from notifications.support.store import tickets
from notifications.support.use_cases.tickets.check_write_access import check_write_access


async def close_ticket(uow: UnitOfWork, caller: Caller, ticket_id: UUID, now: datetime) -> None:
    """Close it as its customer or as staff. A repetition has no effect. Raises NotFound, Forbidden."""
    await check_write_access(uow, caller, ticket_id)
    ticket = await tickets.lock_ticket(uow, ticket_id)
    if ticket is None:
        raise NotFound
    if TICKET.next_state(ticket.status, "close") is not Rejection.REPEATED:
        await tickets.save_ticket_closed(uow, ticket_id, now)
