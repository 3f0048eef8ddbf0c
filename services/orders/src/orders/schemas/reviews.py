"""Reviews of vendors and products (contract section 11)."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from common.web.schemas import RequestBody
from orders.schemas.orders import Reason

TEXT_CHARACTERS_MAX = 2_000
ReviewText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=TEXT_CHARACTERS_MAX)]


class CreateReviewRequest(RequestBody):
    order_id: UUID
    rating: Annotated[int, Field(strict=True, ge=1, le=5)]
    text: ReviewText


class ReplyToReviewRequest(RequestBody):
    text: ReviewText


class HideReviewRequest(RequestBody):
    reason: Reason


class ModerationQuery(BaseModel):
    """The filters of the moderation list."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    vendor_id: UUID | None = None
    product_id: UUID | None = None
    hidden: bool | None = None
