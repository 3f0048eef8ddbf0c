"""Keep a turn of a conversation: the message and its reply together, or neither."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications import store
from notifications.domain.conversations import Used, title_of
from notifications.domain.errors import ConversationGone
from notifications.use_cases.assistant.open_turn import Turn


async def save_turn(
    uow: UnitOfWork, turn: Turn, user_id: UUID, reply: str, provider: str, used: Used | None, now: datetime
) -> None:
    """Writes a complete turn down and ends it. Raises ConversationGone when it was removed, or its person erased, meanwhile."""
    if not await store.end_turn(uow, turn.id):
        raise ConversationGone
    is_first = len(turn.lines) == 1
    if is_first:
        await store.start_conversation(uow, turn.conversation_id, user_id, title_of(turn.message), turn.begun_at)
    count = await store.grow_conversation(uow, turn.conversation_id, now)
    if count is None:
        raise ConversationGone
    tokens = (used.prompt_tokens, used.completion_tokens) if used else None
    await store.save_message(uow, turn.conversation_id, user_id, count - 1, "user", turn.message, turn.begun_at)
    await store.save_message(
        uow, turn.conversation_id, user_id, count, "assistant", reply, now, provider=provider, tokens=tokens
    )
