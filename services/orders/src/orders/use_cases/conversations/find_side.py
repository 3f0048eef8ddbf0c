"""Find the side of a caller."""

from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from orders.domain.conversations import Parties, Side
from orders.store import conversations


async def find_side(uow: UnitOfWork, caller: Caller, conversation_id: UUID) -> tuple[Parties, Side]:
    """Return the parties and the side that the caller writes for. Raises NotFound for everyone but the parties."""
    parties = await conversations.find_parties(uow, conversation_id)
    side = None if parties is None else parties.side_of(caller)
    if parties is None or side is None:
        raise NotFound
    return parties, side
