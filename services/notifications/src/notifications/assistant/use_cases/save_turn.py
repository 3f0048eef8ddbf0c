"""Save a turn of a conversation: message and reply together."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from notifications.assistant import store
from notifications.assistant.domain.conversations import TokenUsage, title_of
from notifications.assistant.domain.errors import ConversationDeleted
from notifications.assistant.use_cases.open_turn import Turn


async def save_turn(
    uow: UnitOfWork, turn: Turn, user_id: UUID, reply: str, provider: str, usage: TokenUsage | None, now: datetime
) -> None:
    """Save a complete turn and finish it. Raises ConversationDeleted when it, or its user, has been deleted."""
    if not await store.finish_turn(uow, turn.id):
        raise ConversationDeleted
    is_first = len(turn.messages) == 1
    if is_first:
        await store.start_conversation(uow, turn.conversation_id, user_id, title_of(turn.message), turn.started_at)
    count = await store.grow_conversation(uow, turn.conversation_id, now)
    if count is None:
        raise ConversationDeleted
    tokens = (usage.prompt_tokens, usage.completion_tokens) if usage else None
    question = store.NewMessage(turn.conversation_id, user_id, count - 1, "user", turn.message)
    await store.save_message(uow, question, turn.started_at)
    response = store.NewMessage(turn.conversation_id, user_id, count, "assistant", reply)
    await store.save_message(uow, response, now, provider=provider, tokens=tokens)
