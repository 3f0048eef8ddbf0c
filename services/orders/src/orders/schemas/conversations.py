"""Conversations (contract section 11.9)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import Instant, PositiveKobo, RequestBody
from orders.domain.conversations import TEXT_CHARACTERS_MAX


class OpenConversationRequest(RequestBody):
    """Exactly one of the two."""

    product_id: UUID | None = None
    order_id: UUID | None = None


class PostMessageRequest(RequestBody):
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=TEXT_CHARACTERS_MAX)]
    image_id: Annotated[
        UUID | None, Field(description="An image that the caller added to this conversation within the last day.")
    ] = None


class MakeOfferRequest(RequestBody):
    product_id: UUID
    variant_id: Annotated[UUID | None, Field(description="Required for a product with variants.")] = None
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]
    unit_price_minor: PositiveKobo
    expires_at: Annotated[Instant | None, Field(description="At most 48 hours ahead, which is the default.")] = None
