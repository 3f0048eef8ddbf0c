"""Request models of the assistant (contract sections 4 and 12)."""

from typing import Annotated, Final
from uuid import UUID

from pydantic import StringConstraints

from common.web.schemas import RequestBody

MESSAGE_CHARACTERS_MAX: Final = 4_000


class ChatRequest(RequestBody):
    """One message; without `conversationId` it starts a conversation."""

    message: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MESSAGE_CHARACTERS_MAX)]
    conversation_id: UUID | None = None
