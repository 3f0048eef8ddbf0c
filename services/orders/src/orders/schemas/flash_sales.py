"""Flash sales (contract section 11)."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from common.web.schemas import Instant, PositiveKobo, RequestBody


class CreateFlashSaleRequest(RequestBody):
    product_id: UUID
    variant_id: Annotated[UUID | None, Field(description="Required for a product with variants.")] = None
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


class ApproveFlashSaleRequest(RequestBody):
    hash: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=128,
            description="The `hash` of the sale that the vendor read; another hash is rejected with 409.",
        ),
    ] = None
