"""Writes of conversations with the assistant."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from common.database.retention import RetentionRule, Rule
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id

# Serializes the messages of a user, so that concurrent ones cannot exceed the limit together.
_LOCK_USER: Final = "SELECT pg_advisory_xact_lock(hashtextextended('conversations:' || $1::text, 0))"
_DROP_OLD_TURNS: Final = "DELETE FROM conversation_turns WHERE user_id = $1 AND until <= $2"
_START_TURN: Final = """
INSERT INTO conversation_turns (id, user_id, conversation_id, until) VALUES ($1, $2, $3, $4)
ON CONFLICT (conversation_id) DO NOTHING
"""
_COUNT_TURNS: Final = "SELECT count(*) FROM conversation_turns WHERE user_id = $1"
_FINISH_TURN: Final = "DELETE FROM conversation_turns WHERE id = $1"
_START_CONVERSATION: Final = """
INSERT INTO conversations (id, user_id, title, message_count, created_at, last_message_at)
VALUES ($1, $2, $3, 0, $4, $4)
ON CONFLICT (id) DO NOTHING
"""
_GROW: Final = """
UPDATE conversations SET message_count = message_count + 2, last_message_at = $2 WHERE id = $1 RETURNING message_count
"""
_SAVE_MESSAGE: Final = """
INSERT INTO conversation_messages
    (id, conversation_id, user_id, position, role, text, provider, prompt_tokens, completion_tokens, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_REMOVE_TURNS: Final = "DELETE FROM conversation_turns WHERE conversation_id = $1"
_REMOVE: Final = "DELETE FROM conversations WHERE id = $1"
_DELETE_TURNS: Final = "DELETE FROM conversation_turns WHERE user_id = $1"
_DELETE: Final = "DELETE FROM conversations WHERE user_id = $1"
# Conversations cascade to hundreds of messages; small batches keep transactions short.
CONVERSATIONS_BATCH_MAX: Final = 100


async def lock_turns(uow: UnitOfWork, user_id: UUID, now: datetime) -> None:
    """Serialize the user's messages and delete turns whose process died."""
    await uow.execute(_LOCK_USER, str(user_id))
    await uow.execute(_DROP_OLD_TURNS, user_id, now)


async def start_turn(uow: UnitOfWork, turn_id: UUID, user_id: UUID, conversation_id: UUID, until: datetime) -> bool:
    """Start a turn that expires at `until`; return False when the conversation has another turn."""
    return bool(await uow.execute(_START_TURN, turn_id, user_id, conversation_id, until))


async def count_turns(uow: UnitOfWork, user_id: UUID) -> int:
    """Return how many messages of the user are in progress."""
    count: int = await uow.fetch_value(_COUNT_TURNS, user_id)
    return count


async def finish_turn(uow: UnitOfWork, turn_id: UUID) -> bool:
    """Return whether the turn was alive: it ends with its time limit, its conversation or its user."""
    return bool(await uow.execute(_FINISH_TURN, turn_id))


async def start_conversation(uow: UnitOfWork, conversation_id: UUID, user_id: UUID, title: str, now: datetime) -> None:
    """Insert a conversation without messages if it is new."""
    await uow.execute(_START_CONVERSATION, conversation_id, user_id, title, now)


async def grow_conversation(uow: UnitOfWork, conversation_id: UUID, now: datetime) -> int | None:
    """Add two to the number of messages and return it; None for a deleted conversation."""
    count: int | None = await uow.fetch_value(_GROW, conversation_id, now)
    return count


class NewMessage(NamedTuple):
    """A message of a conversation, at its position from 1."""

    conversation_id: UUID
    user_id: UUID
    position: int
    role: str
    text: str


async def save_message(
    uow: UnitOfWork,
    message: NewMessage,
    now: datetime,
    *,
    provider: str | None = None,
    tokens: tuple[int, int] | None = None,
) -> None:
    """Insert a message. `tokens` are the counts of prompt and reply."""
    await uow.execute(_SAVE_MESSAGE, new_id(), *message, provider, *(tokens or (None, None)), now)


async def remove_conversation(uow: UnitOfWork, conversation_id: UUID) -> bool:
    """Delete the caller's conversation with its turn, which cancels a reply in progress; return whether it existed."""
    await uow.execute(_REMOVE_TURNS, conversation_id)
    return bool(await uow.execute(_REMOVE, conversation_id))


async def delete_conversations(uow: UnitOfWork, user_id: UUID) -> None:
    """Delete a user's conversations. Turns first: the second statement sees a reply that was saved concurrently."""
    await uow.execute(_DELETE_TURNS, user_id)
    await uow.execute(_DELETE, user_id)


def retention_rules(conversations: timedelta) -> tuple[Rule, ...]:
    """Return the rules of conversations, since their last message."""
    return (
        RetentionRule("conversations", ("id",), "last_message_at", conversations, rows_max=CONVERSATIONS_BATCH_MAX),
        # Turns of processes that died.
        RetentionRule("conversation_turns", ("id",), "until", timedelta(0)),
    )
