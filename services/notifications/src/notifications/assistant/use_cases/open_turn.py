"""Open a turn of a conversation with the assistant."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from notifications.assistant import queries, store
from notifications.assistant.domain.conversations import (
    HISTORY_MESSAGES_MAX,
    MESSAGES_MAX,
    ChatMessage,
    recent,
    without_secrets,
)
from notifications.assistant.domain.errors import ConversationBusy, ConversationFull, TooManyConcurrentMessages


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """`lifetime` exceeds the time of any reply; the turn of a dead process expires with it."""

    concurrent_max: int
    lifetime: timedelta
    history_characters_max: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A message in progress. `messages` is the input of the model: the history and the message."""

    id: UUID
    conversation_id: UUID
    message: str
    messages: tuple[ChatMessage, ...]
    started_at: datetime


async def open_turn(
    uow: UnitOfWork, user_id: UUID, conversation_id: UUID | None, message: str, limits: TurnLimits, now: datetime
) -> Turn:
    """Open the turn of a caller's message; `run_turn` finishes it.

    Raises NotFound, ConversationFull, ConversationBusy (409), TooManyConcurrentMessages (429).
    """
    await store.lock_turns(uow, user_id, now)
    history: list[ChatMessage] = []
    if conversation_id is not None:
        count = await queries.count_messages(uow, conversation_id)
        if count is None:
            raise NotFound
        if count >= MESSAGES_MAX:
            raise ConversationFull
        history = await queries.list_recent_messages(uow, conversation_id, HISTORY_MESSAGES_MAX)
    turn_id, conversation_id = new_id(), conversation_id or new_id()
    if not await store.start_turn(uow, turn_id, user_id, conversation_id, now + limits.lifetime):
        raise ConversationBusy
    if await store.count_turns(uow, user_id) > limits.concurrent_max:
        raise TooManyConcurrentMessages(limits.concurrent_max)
    text = without_secrets(message)
    messages = (*recent(history, limits.history_characters_max - len(text)), ChatMessage("user", text))
    return Turn(turn_id, conversation_id, text, messages, now)
