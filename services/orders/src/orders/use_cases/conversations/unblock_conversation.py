"""Unblock a conversation."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.domain.conversations import Side
from orders.store import conversations


async def unblock_conversation(uow: UnitOfWork, conversation_id: UUID, side: Side) -> None:
    """Accept messages of the other side again. Again: no effect. Runs as the service."""
    await conversations.remove_block(uow, conversation_id, side)
