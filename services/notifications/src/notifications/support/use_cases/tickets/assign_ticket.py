"""Assign a ticket to a member of staff."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from notifications.support.store import tickets


async def assign_ticket(uow: UnitOfWork, ticket_id: UUID, assignee_id: UUID | None, now: datetime) -> None:
    """Assign the ticket; None removes the assignee. A repetition has no effect. Raises NotFound."""
    if await tickets.lock_ticket(uow, ticket_id) is None:
        raise NotFound
    await tickets.save_assignee(uow, ticket_id, assignee_id, now)
