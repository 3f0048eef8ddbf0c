"""Responses of return requests."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from orders.domain.refund_destinations import RefundTo
from orders.domain.returns import ReturnStatus
from orders.responses.orders import OrderNumber


class ReturnedItem(ResponseModel):
    item_id: UUID
    product_id: UUID
    variant_id: UUID | None
    name: str
    quantity: int
    unit_price_minor: int


class ReturnRequest(ResponseModel):
    id: UUID
    order_id: UUID
    order_number: OrderNumber
    buyer_id: UUID
    vendor_id: UUID
    status: ReturnStatus
    reason: str
    items: list[ReturnedItem]
    refund_minor: Annotated[int | None, Meta(description="Set by the approval.")]
    refund_id: UUID | None
    decided_by: UUID | None
    decision_reason: str | None
    decided_at: Timestamp | None
    created_at: Timestamp
    refund_to: Annotated[
        RefundTo | None, Meta(description="The buyer's choice for the refund; null: back to where the money came from.")
    ]
    cancels_lines: Annotated[
        bool, Meta(description="Vendor or support cancelled the items before the dispatch: nothing is sent back.")
    ]
