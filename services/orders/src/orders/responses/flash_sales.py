"""Responses of flash sales."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp


class FlashSale(ResponseModel):
    id: UUID
    product_id: UUID
    variant_id: UUID | None
    product_name: str
    vendor_id: UUID
    campus_id: UUID
    price_minor: int
    regular_price_minor: int
    currency: str
    quantity: int
    remaining: int
    per_buyer_limit: int
    status: Annotated[
        Literal["prepared", "expired", "upcoming", "running", "sold_out", "ended"],
        Meta(description="`prepared` and `expired`: staff proposed the sale, and the vendor has not approved it."),
    ]
    starts_at: Timestamp
    ends_at: Timestamp
    created_at: Timestamp
    approved_at: Annotated[
        Timestamp | None, Meta(description="The time of the vendor's approval; null for a proposal of staff.")
    ]
    hash: Annotated[str | None, Meta(description="SHA-256 of the exact terms in hex, until the approval.")]
