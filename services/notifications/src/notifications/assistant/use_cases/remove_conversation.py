"""Remove a conversation with the assistant."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from notifications.assistant import store


async def remove_conversation(uow: UnitOfWork, conversation_id: UUID) -> None:
    """Delete the caller's conversation with its messages. Raises NotFound."""
    if not await store.remove_conversation(uow, conversation_id):
        raise NotFound
