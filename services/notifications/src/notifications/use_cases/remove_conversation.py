"""Remove a conversation with the assistant."""

from uuid import UUID

from common.database import UnitOfWork
from common.problems import NotFound
from notifications import store


async def remove_conversation(uow: UnitOfWork, conversation_id: UUID) -> None:
    """Removes one of the caller's conversations with everything said in it. Raises NotFound."""
    if not await store.remove_conversation(uow, conversation_id):
        raise NotFound
