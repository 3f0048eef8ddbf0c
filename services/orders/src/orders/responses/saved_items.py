"""Responses of saved products and followed vendors."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from orders.responses.products import Product


class SavedProduct(ResponseModel):
    """A product that the buyer saved."""

    product_id: UUID
    saved_at: Annotated[Timestamp, Meta(description="The time at which it was saved.")]
    product: Annotated[Product | None, Meta(description="Null while the product is not listed.")]


class FollowedVendor(ResponseModel):
    """A vendor that the buyer follows."""

    vendor_id: UUID
    business_name: str
    followed_at: Annotated[Timestamp, Meta(description="The time since which it is followed.")]
