"""Change the priority of a ticket."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from notifications.support.domain.errors import TicketChanged
from notifications.support.domain.tickets import Priority
from notifications.support.store import tickets


async def change_ticket_priority(
    uow: UnitOfWork, ticket_id: UUID, priority: Priority, revision: int | None, now: datetime
) -> None:
    """Change the priority. Raises NotFound, and TicketChanged for a stale `revision`."""
    ticket = await tickets.lock_ticket(uow, ticket_id)
    if ticket is None:
        raise NotFound
    if revision is not None and ticket.revision != revision:
        raise TicketChanged
    await tickets.save_priority(uow, ticket_id, priority, now)
