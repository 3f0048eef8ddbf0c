"""Find the participant of a conversation."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.conversations import Participant
from orders.store import conversations


async def find_participant(uow: UnitOfWork, caller: Caller, conversation_id: UUID) -> Participant:
    """Return the caller with the side that they write for. Raises NotFound for everyone but the parties."""
    parties = await conversations.find_parties(uow, conversation_id)
    side = None if parties is None else parties.side_of(caller)
    if parties is None or side is None:
        raise NotFound
    return Participant(caller.id, conversation_id, parties, side)
