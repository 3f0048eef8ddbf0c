"""Open a turn of a conversation with the assistant."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from notifications import queries, store
from notifications.domain.conversations import HISTORY_MESSAGES_MAX, MESSAGES_MAX, Line, recent, without_secrets
from notifications.domain.errors import ConversationFull, MessageBeingAnswered, TooManyQuestions


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """`life`: longer than any reply takes; a turn whose process died ends with it."""

    at_once_max: int
    life: timedelta
    history_characters_max: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A message that is being answered. `lines` is what the assistant reads: what was said before, and the message."""

    id: UUID
    conversation_id: UUID
    message: str
    lines: tuple[Line, ...]
    begun_at: datetime


async def open_turn(
    uow: UnitOfWork, user_id: UUID, conversation_id: UUID | None, message: str, limits: TurnLimits, now: datetime
) -> Turn:
    """The turn of a message of the caller; it ends with `answer_turn`.

    Raises NotFound, ConversationFull, MessageBeingAnswered (409), TooManyQuestions (429).
    """
    await store.lock_turns(uow, user_id, now)
    history: list[Line] = []
    if conversation_id is not None:
        count = await queries.count_messages(uow, conversation_id)
        if count is None:
            raise NotFound
        if count >= MESSAGES_MAX:
            raise ConversationFull
        history = await queries.list_recent_lines(uow, conversation_id, HISTORY_MESSAGES_MAX)
    turn_id, conversation_id = new_id(), conversation_id or new_id()
    if not await store.start_turn(uow, turn_id, user_id, conversation_id, now + limits.life):
        raise MessageBeingAnswered
    if await store.count_turns(uow, user_id) > limits.at_once_max:
        raise TooManyQuestions(limits.at_once_max)
    said = without_secrets(message)
    lines = (*recent(history, limits.history_characters_max - len(said)), Line("user", said))
    return Turn(turn_id, conversation_id, said, lines, now)
