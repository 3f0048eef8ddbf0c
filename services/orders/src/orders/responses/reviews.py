"""Responses of reviews."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from common.web.responses import CursorMeta, Success
from orders.responses.orders import OrderNumber


class ReviewReply(ResponseModel):
    """The reply of the reviewed vendor."""

    text: str
    created_at: Timestamp


class Review(ResponseModel):
    """`productId` is null for a review of the vendor."""

    id: UUID
    vendor_id: UUID
    product_id: UUID | None
    rating: int
    text: str
    created_at: Timestamp
    reply: Annotated[ReviewReply | None, Meta(description="Null without a reply.")]


class OwnReview(Review):
    """The review as its author and staff see it."""

    order_id: UUID
    order_number: OrderNumber
    buyer_id: UUID
    hidden_at: Timestamp | None
    hidden_because: str | None


class ReviewMeta(CursorMeta):
    """Adds the mean of all shown reviews with two decimal places; null without reviews."""

    rating: float | None
    rating_count: int


class ReviewList(ResponseModel):
    """A page of reviews."""

    success: Success
    data: list[Review]
    meta: ReviewMeta
