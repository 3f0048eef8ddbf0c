"""Responses of takedowns."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp


class ProductTakedown(ResponseModel):
    id: UUID
    product_id: UUID
    product_name: Annotated[str | None, Meta(description="Null for a product that its vendor has removed.")]
    vendor_id: UUID
    vendor_name: str | None
    campus_id: UUID
    reason: Annotated[str, Meta(description="Why the product was taken down; its vendor reads it.")]
    delisted_by: Annotated[UUID, Meta(description="The campus admin who took it down.")]
    created_at: Timestamp
    restored_by: Annotated[UUID | None, Meta(description="Null while the takedown is open.")]
    restored_at: Annotated[Timestamp | None, Meta(description="Null while the takedown is open.")]
    restored_because: Annotated[str | None, Meta(description="Why it was restored; its vendor reads it.")]
