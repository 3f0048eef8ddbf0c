"""Check that a caller may read a conversation."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import Database
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from orders.store import conversations


async def check_conversation_access(
    database: Database, caller: Caller, conversation_id: UUID, *, now: datetime
) -> None:
    """Record the read of a caller who is no party of the conversation. Raises NotFound for an invisible one."""
    async with database.unit_of_work(acting_as=caller) as uow:
        parties = await conversations.find_parties(uow, conversation_id)
    if parties is None:
        raise NotFound
    if parties.side_of(caller) is None:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await conversations.record_staff_read(uow, new_id(), conversation_id, caller.id, now)
