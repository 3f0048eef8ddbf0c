"""Request and response models of the assistant (contract sections 4 and 12)."""

from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import StringConstraints

from common.web.schemas import RequestBody, ResponseShape

MESSAGE_CHARACTERS_MAX: Final = 4_000


class ChatRequest(RequestBody):
    """One message; without `conversationId` it starts a conversation."""

    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MESSAGE_CHARACTERS_MAX)]
    conversation_id: UUID | None = None


class ChatReply(ResponseShape):
    """`provider`: `built-in` or `openai-compatible`. The reply is plain text."""

    conversation_id: UUID
    reply: str
    provider: str


class Conversation(ResponseShape):
    """A conversation of the caller. Its title is the beginning of the first message."""

    id: UUID
    title: str
    created_at: str
    last_message_at: str


class ConversationMessage(ResponseShape):
    """Only replies have a `provider`."""

    id: UUID
    role: Literal["user", "assistant"]
    text: str
    provider: str | None
    created_at: str


STREAM_RESPONSE: Final[dict[str, Any]] = {
    "description": (
        "Server-sent events. `token`: `{text}`, pieces of the reply in order. Then one of: `done`: `{conversationId, provider, usage?}` "
        "with `usage` `{promptTokens, completionTokens}`; `error`: a problem document; the turn is not saved."
        "`: ping` comments in between."
    ),
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}
