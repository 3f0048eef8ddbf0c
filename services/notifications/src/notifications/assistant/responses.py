"""Response models of the assistant (contract sections 4 and 12)."""

from typing import Annotated, Any, Final, Literal
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from common.web.response_models import ResponseModel, Timestamp
from notifications.assistant.domain.conversations import Provider


class ChatReply(ResponseModel):
    """`provider`: `built-in` or `openai-compatible`. The reply is plain text."""

    conversation_id: UUID
    reply: Annotated[str, Meta(description="The reply, plain text.")]
    provider: Provider


class Conversation(ResponseModel):
    """A conversation of the caller. Its title is the beginning of the first message."""

    id: UUID
    title: str
    created_at: Timestamp
    last_message_at: Annotated[Timestamp, Meta(description="The time of the last message.")]


class ConversationMessage(ResponseModel):
    """Only replies have a `provider`."""

    id: UUID
    role: Literal["user", "assistant"]
    text: str
    provider: Provider | None
    created_at: Timestamp


class AssistantToken(ResponseModel):
    """The data of an event `token`: the next piece of the reply."""

    text: Annotated[str, Meta(description="The piece, plain text.")]


class TokenUsage(ResponseModel):
    """Tokens that the model counted."""

    prompt_tokens: Annotated[int, Meta(description="Tokens that were read.")]
    completion_tokens: Annotated[int, Meta(description="Tokens that were written.")]


class AssistantDone(ResponseModel, omit_defaults=True):
    """The data of the event `done`: the reply is complete and saved."""

    conversation_id: UUID
    provider: Provider
    usage: Annotated[
        TokenUsage | None, Meta(description="The tokens of the model; absent where the provider counts none.")
    ] = None


STREAM_RESPONSE: Final[dict[str, Any]] = {
    "model": AssistantToken | AssistantDone,
    "description": (
        "Server-sent events; the schema is that of their `data`. `token`: pieces of the reply in order. Then one of: "
        "`done`; `error`: a problem document; the turn is not saved. `: ping` comments in between."
    ),
}


class ToolMessage(ResponseModel):
    """A message of the Model Context Protocol (JSON-RPC 2.0): the result of a request, or its error."""

    jsonrpc: Annotated[Literal["2.0"], Meta(description="The version of JSON-RPC.")]
    id: Annotated[
        Annotated[int, Meta(ge=-(2**53) + 1, le=2**53 - 1)] | str,
        Meta(description="That of the request.", examples=[1]),
    ]
    result: Annotated[
        dict[str, Any] | UnsetType, Meta(description="What the method returns.", examples=[{"tools": []}])
    ] = UNSET
    error: Annotated[dict[str, Any] | UnsetType | None, Meta(description="Instead of a result.")] = UNSET
