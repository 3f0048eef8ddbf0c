"""Request models of the assistant (contract sections 4 and 12)."""

from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import RequestBody

MESSAGE_CHARACTERS_MAX: Final = 4_000
# The integers that every JSON parser reads exactly.
MessageNumber = Annotated[int, Field(strict=True, ge=-(2**53) + 1, le=2**53 - 1)]
MessageName = Annotated[str, StringConstraints(max_length=200)]


class ChatRequest(RequestBody):
    """One message; without `conversationId` it starts a conversation."""

    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MESSAGE_CHARACTERS_MAX)]
    conversation_id: UUID | None = None


class ToolRequest(RequestBody):
    """A message of the Model Context Protocol (JSON-RPC 2.0): a request with an id, or a notification."""

    jsonrpc: Annotated[Literal["2.0"], Field(description="The version of JSON-RPC.")]
    id: Annotated[
        MessageNumber | MessageName | None,
        Field(description="Chosen by the client; without it no result is returned."),
    ] = None
    method: Annotated[str, StringConstraints(max_length=100), Field(description="`tools/call`, for example.")]
    params: Annotated[dict[str, object] | None, Field(description="Those of the method.")] = None
