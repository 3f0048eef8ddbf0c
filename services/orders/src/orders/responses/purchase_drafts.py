"""Responses of purchase drafts."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from orders.domain.purchase_drafts import DraftStatus, Obstacle


class PurchaseDraftItem(ResponseModel):
    """A line at the current price. The product is null where none is sold under the id."""

    retailer_id: Annotated[str, Meta(description="The id of a product or of a variant, as the messaging app sent it.")]
    quantity: int
    product_id: UUID | None
    variant_id: UUID | None
    vendor_id: UUID | None
    vendor_name: str | None
    name: str | None
    unit_price_minor: int | None
    line_total_minor: int | None
    obstacle: Annotated[Obstacle | None, Meta(description="What keeps the item from being ordered; else null.")]


class PurchaseDraft(ResponseModel):
    """A cart of the messaging app, to be reviewed and checked out by its buyer."""

    id: UUID
    status: Annotated[
        DraftStatus, Meta(description="`open` until the checkout or the expiry, then `checked_out` or `expired`.")
    ]
    items: list[PurchaseDraftItem]
    subtotal_minor: Annotated[int, Meta(description="The sum of the items that can be ordered, without delivery fees.")]
    currency: str
    purchase_id: Annotated[UUID | None, Meta(description="The purchase of the checkout; null before.")]
    expires_at: Timestamp
    created_at: Timestamp
