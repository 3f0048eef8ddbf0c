"""The conversations of a user with the assistant."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from notifications.domain.conversations import Line

_LIST: Final = """
SELECT id, title, created_at, last_message_at FROM conversations
WHERE user_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3))
ORDER BY created_at DESC, id DESC LIMIT $4
"""
_COUNT: Final = "SELECT message_count FROM conversations WHERE id = $1"
_MESSAGES: Final = """
SELECT id, position, role, text, provider, created_at FROM conversation_messages
WHERE conversation_id = $1 AND position > $2 ORDER BY position LIMIT $3
"""
_RECENT: Final = """
SELECT role, text FROM conversation_messages WHERE conversation_id = $1 ORDER BY position DESC LIMIT $2
"""


async def list_conversations(
    uow: UnitOfWork, user_id: UUID, after: tuple[datetime, UUID] | None, rows_max: int
) -> list[dict[str, Any]]:
    """The user's conversations, the youngest first, after a position."""
    at, conversation_id = after or (None, None)
    return [
        {
            "id": str(row["id"]),
            "title": row["title"],
            "createdAt": iso(row["created_at"]),
            "lastMessageAt": iso(row["last_message_at"]),
        }
        for row in await uow.fetch(_LIST, user_id, at, conversation_id, rows_max)
    ]


async def count_messages(uow: UnitOfWork, conversation_id: UUID) -> int | None:
    """How long a conversation of the caller is; None when the caller has none such."""
    count: int | None = await uow.fetch_value(_COUNT, conversation_id)
    return count


async def list_messages(
    uow: UnitOfWork, conversation_id: UUID, after_position: int, rows_max: int
) -> list[dict[str, Any]]:
    """The messages of a conversation in the order in which they were said, after a position; `position` is not public."""
    return [
        {
            "position": row["position"],
            "id": str(row["id"]),
            "role": row["role"],
            "text": row["text"],
            "provider": row["provider"],
            "createdAt": iso(row["created_at"]),
        }
        for row in await uow.fetch(_MESSAGES, conversation_id, after_position, rows_max)
    ]


async def list_recent_lines(uow: UnitOfWork, conversation_id: UUID, rows_max: int) -> list[Line]:
    """The newest messages of a conversation, oldest first."""
    rows = await uow.fetch(_RECENT, conversation_id, rows_max)
    return [Line(row["role"], row["text"]) for row in reversed(rows)]
