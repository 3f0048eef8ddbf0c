"""Flash sales (contract section 11)."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from common.web.schemas import Instant, PositiveKobo, RequestBody, ResponseShape


class CreateFlashSaleRequest(RequestBody):
    product_id: UUID
    price_minor: PositiveKobo
    quantity: Annotated[int, Field(strict=True, ge=1, le=100_000)]
    per_buyer_limit: Annotated[int, Field(strict=True, ge=1, le=99)]
    starts_at: Instant
    ends_at: Instant


class FlashSaleQuery(BaseModel):
    """The filters of the list. Without a status it contains running and upcoming sales."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    status: Annotated[
        Literal["upcoming", "running", "ended", "prepared"] | None,
        Field(description="`prepared` awaits the vendor's approval; only the vendor and staff of the campus see it."),
    ] = None
    product_id: UUID | None = None
    vendor_id: UUID | None = None
    campus_id: UUID | None = None


class FlashSale(ResponseShape):
    id: UUID
    product_id: UUID
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
        Field(description="`prepared` and `expired`: staff proposed the sale, and the vendor has not approved it."),
    ]
    starts_at: datetime
    ends_at: datetime
    created_at: datetime
    approved_at: Annotated[
        datetime | None, Field(description="The time of the vendor's approval; null for a proposal of staff.")
    ]
    hash: Annotated[str | None, Field(description="SHA-256 of the exact terms in hex, until the approval.")]


class ApproveFlashSaleRequest(RequestBody):
    hash: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=128,
            description="The `hash` of the sale that the vendor read; another hash is rejected with 409.",
        ),
    ] = None
