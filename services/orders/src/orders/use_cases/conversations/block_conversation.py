"""Block a conversation."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.conversations import Side
from orders.store import conversations


async def block_conversation(uow: UnitOfWork, conversation_id: UUID, side: Side) -> None:
    """Reject messages of the other side. Again: no effect. Runs as the service."""
    await conversations.save_block(uow, conversation_id, side)
