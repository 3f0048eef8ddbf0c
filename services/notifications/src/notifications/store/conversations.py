"""Conversations with the assistant: SQL by name, without decisions."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id

# One message of a person at a time is let in and counted, so that several at once do not exceed the limit together.
_LOCK_USER: Final = "SELECT pg_advisory_xact_lock(hashtextextended('conversations:' || $1::text, 0))"
_DROP_OLD_TURNS: Final = "DELETE FROM conversation_turns WHERE user_id = $1 AND until <= $2"
_START_TURN: Final = """
INSERT INTO conversation_turns (id, user_id, conversation_id, until) VALUES ($1, $2, $3, $4)
ON CONFLICT (conversation_id) DO NOTHING
"""
_COUNT_TURNS: Final = "SELECT count(*) FROM conversation_turns WHERE user_id = $1"
_END_TURN: Final = "DELETE FROM conversation_turns WHERE id = $1"
_START_CONVERSATION: Final = """
INSERT INTO conversations (id, user_id, title, message_count, created_at, last_message_at) VALUES ($1, $2, $3, 0, $4, $4)
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
_FORGET_TURNS: Final = "DELETE FROM conversation_turns WHERE user_id = $1"
_FORGET: Final = "DELETE FROM conversations WHERE user_id = $1"


async def lock_turns(uow: UnitOfWork, user_id: UUID, now: datetime) -> None:
    """Makes the other messages of this person wait, and forgets turns whose process died."""
    await uow.execute(_LOCK_USER, str(user_id))
    await uow.execute(_DROP_OLD_TURNS, user_id, now)


async def start_turn(uow: UnitOfWork, turn_id: UUID, user_id: UUID, conversation_id: UUID, until: datetime) -> bool:
    """Whether no other message of the conversation is being answered; then this one is, at most until then."""
    return bool(await uow.execute(_START_TURN, turn_id, user_id, conversation_id, until))


async def count_turns(uow: UnitOfWork, user_id: UUID) -> int:
    """How many messages of this person are being answered."""
    count: int = await uow.fetch_value(_COUNT_TURNS, user_id)
    return count


async def end_turn(uow: UnitOfWork, turn_id: UUID) -> bool:
    """Whether the turn still stood: it does not when it took too long, or its conversation or person is gone."""
    return bool(await uow.execute(_END_TURN, turn_id))


async def start_conversation(uow: UnitOfWork, conversation_id: UUID, user_id: UUID, title: str, now: datetime) -> None:
    """A conversation without messages."""
    await uow.execute(_START_CONVERSATION, conversation_id, user_id, title, now)


async def grow_conversation(uow: UnitOfWork, conversation_id: UUID, now: datetime) -> int | None:
    """How many messages it has with the two that come; None when it is gone."""
    count: int | None = await uow.fetch_value(_GROW, conversation_id, now)
    return count


async def save_message(
    uow: UnitOfWork,
    conversation_id: UUID,
    user_id: UUID,
    position: int,
    role: str,
    text: str,
    now: datetime,
    *,
    provider: str | None = None,
    tokens: tuple[int, int] | None = None,
) -> None:
    """One message at its place, from 1; `tokens`: what the provider counted for prompt and reply."""
    prompt_tokens, completion_tokens = tokens or (None, None)
    await uow.execute(
        _SAVE_MESSAGE,
        new_id(),
        conversation_id,
        user_id,
        position,
        role,
        text,
        provider,
        prompt_tokens,
        completion_tokens,
        now,
    )


async def remove_conversation(uow: UnitOfWork, conversation_id: UUID) -> bool:
    """Whether the caller had such a conversation. A reply that is being written finds its turn gone."""
    await uow.execute(_REMOVE_TURNS, conversation_id)
    return bool(await uow.execute(_REMOVE, conversation_id))


async def forget_conversations(uow: UnitOfWork, user_id: UUID) -> None:
    """Removes everything that a person said to the assistant. Turns first: a reply that is kept meanwhile is seen by the second."""
    await uow.execute(_FORGET_TURNS, user_id)
    await uow.execute(_FORGET, user_id)
