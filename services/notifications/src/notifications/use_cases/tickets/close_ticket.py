"""Close a ticket."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from notifications.store import tickets
from notifications.use_cases.tickets.check_write_access import check_write_access


async def close_ticket(uow: UnitOfWork, caller: Caller, ticket_id: UUID, now: datetime) -> None:
    """Close it as its customer or as staff. A repetition has no effect. Raises NotFound, Forbidden."""
    await check_write_access(uow, caller, ticket_id)
    await tickets.save_ticket_closed(uow, ticket_id, now)
