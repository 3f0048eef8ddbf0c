"""Read a conversation."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.conversations import Side
from orders.store import conversations


async def read_conversation(uow: UnitOfWork, conversation_id: UUID, side: Side) -> None:
    """Mark all messages as read by this side. Again: no effect. Runs as the service."""
    await conversations.save_read(uow, conversation_id, side)
