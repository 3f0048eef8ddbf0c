"""Reads of a user's conversations with the assistant."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.standard_endpoints.personal_records import Section
from notifications.assistant.domain.conversations import ChatMessage
from notifications.assistant.responses import Conversation, ConversationMessage

_LIST: Final = """
SELECT id, title, created_at, last_message_at FROM conversations
WHERE user_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3))
ORDER BY created_at DESC, id DESC LIMIT $4
"""
_COUNT: Final = "SELECT message_count FROM conversations WHERE id = $1"
_MESSAGES: Final = """
SELECT position, id, role, text, provider, created_at FROM conversation_messages
WHERE conversation_id = $1 AND position > $2 ORDER BY position LIMIT $3
"""
_RECENT: Final = """
SELECT role, text FROM conversation_messages WHERE conversation_id = $1 ORDER BY position DESC LIMIT $2
"""
# Of the personal data export.
SECTIONS: Final = (
    Section(
        "conversations",
        "SELECT id::text AS place, id, title, created_at, last_message_at FROM conversations WHERE user_id = $1",
    ),
    Section(
        "conversationMessages",
        "SELECT id::text AS place, id, conversation_id, position, role, text, provider, created_at "
        "FROM conversation_messages WHERE user_id = $1",
    ),
)


async def list_conversations(
    uow: UnitOfWork, user_id: UUID, after: tuple[datetime, UUID] | None, rows_max: int
) -> list[Conversation]:
    """Return the user's conversations, newest first, after a cursor position."""
    at, conversation_id = after or (None, None)
    return [Conversation.from_row(row) for row in await uow.fetch(_LIST, user_id, at, conversation_id, rows_max)]


async def count_messages(uow: UnitOfWork, conversation_id: UUID) -> int | None:
    """Return the number of messages; None for an unknown or foreign conversation."""
    count: int | None = await uow.fetch_value(_COUNT, conversation_id)
    return count


async def list_messages(
    uow: UnitOfWork, conversation_id: UUID, after_position: int, rows_max: int
) -> list[tuple[int, ConversationMessage]]:
    """Return the messages after a position in their order, each with its position."""
    rows = await uow.fetch(_MESSAGES, conversation_id, after_position, rows_max)
    return [(row["position"], ConversationMessage.from_row(row)) for row in rows]


async def list_recent_messages(uow: UnitOfWork, conversation_id: UUID, rows_max: int) -> list[ChatMessage]:
    """Return the newest messages of a conversation, oldest first."""
    rows = await uow.fetch(_RECENT, conversation_id, rows_max)
    return [ChatMessage(*row) for row in reversed(rows)]
