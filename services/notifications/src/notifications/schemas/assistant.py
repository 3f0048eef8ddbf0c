"""Request and response models of the assistant (contract sections 4 and 12)."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody, ResponseShape

Provider = Literal["built-in", "openai-compatible"]
MESSAGE_CHARACTERS_MAX: Final = 4_000


class ChatRequest(RequestBody):
    """One message; without `conversationId` it starts a conversation."""

    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MESSAGE_CHARACTERS_MAX)]
    conversation_id: UUID | None = None


class ChatReply(ResponseShape):
    """`provider`: `built-in` or `openai-compatible`. The reply is plain text."""

    conversation_id: UUID
    reply: str
    provider: Provider


class Conversation(ResponseShape):
    """A conversation of the caller. Its title is the beginning of the first message."""

    id: UUID
    title: str
    created_at: datetime
    last_message_at: datetime


class ConversationMessage(ResponseShape):
    """Only replies have a `provider`."""

    id: UUID
    role: Literal["user", "assistant"]
    text: str
    provider: Provider | None
    created_at: datetime


class AssistantToken(ResponseShape):
    """The data of an event `token`: the next piece of the reply."""

    text: Annotated[str, Field(description="The piece, plain text.")]


class TokenUsage(ResponseShape):
    """What the model counted."""

    prompt_tokens: Annotated[int, Field(description="Tokens that were read.")]
    completion_tokens: Annotated[int, Field(description="Tokens that were written.")]


class AssistantDone(ResponseShape):
    """The data of the event `done`: the reply is complete and saved."""

    conversation_id: UUID
    provider: Provider
    usage: Annotated[TokenUsage, Field(description="Absent where the provider counts none.")] | None = None


STREAM_RESPONSE: Final[dict[str, Any]] = {
    "model": AssistantToken | AssistantDone,
    "description": (
        "Server-sent events; the schema is that of their `data`. `token`: pieces of the reply in order. Then one of: `done`; "
        "`error`: a problem document; the turn is not saved. `: ping` comments in between."
    ),
}
