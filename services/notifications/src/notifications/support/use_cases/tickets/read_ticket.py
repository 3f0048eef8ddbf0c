"""Mark the messages of a ticket as read."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from notifications.support.store import tickets
from notifications.support.use_cases.tickets.check_write_access import check_write_access


async def read_ticket(uow: UnitOfWork, caller: Caller, ticket_id: UUID) -> None:
    """Mark them for the caller's side: the customer, or all staff. Raises NotFound, Forbidden."""
    side = await check_write_access(uow, caller, ticket_id)
    await tickets.save_ticket_read(uow, ticket_id, side)
