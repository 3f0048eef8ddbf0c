"""Reviews of vendors and products (contract section 11)."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from common.web.responses import CursorMeta
from common.web.schemas import RequestBody, ResponseShape
from orders.schemas.orders import Reason

TEXT_CHARACTERS_MAX = 2_000


class CreateReviewRequest(RequestBody):
    order_id: UUID
    rating: Annotated[int, Field(strict=True, ge=1, le=5)]
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=TEXT_CHARACTERS_MAX)]


class HideReviewRequest(RequestBody):
    reason: Reason


class ModerationQuery(BaseModel):
    """The filters of the moderation list."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    vendor_id: UUID | None = None
    product_id: UUID | None = None
    hidden: bool | None = None


class Review(ResponseShape):
    """`productId` is null for a review of the vendor."""

    id: UUID
    vendor_id: UUID
    product_id: UUID | None
    rating: int
    text: str
    created_at: datetime


class OwnReview(Review):
    """The review as its author and staff see it."""

    order_id: UUID
    order_number: Annotated[str | None, Field(description="The order's number for people: `CM-XXXX-XXXX`.")]
    buyer_id: UUID
    hidden_at: datetime | None
    hidden_because: str | None


class ReviewMeta(CursorMeta):
    """Adds the mean of all shown reviews with two decimal places; null without reviews."""

    rating: float | None
    rating_count: int


class ReviewList(ResponseShape):
    """A page of reviews."""

    success: Literal[True]
    data: list[Review]
    meta: ReviewMeta
