"""Return requests (contract section 6)."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from common.web.schemas import RequestBody, ResponseShape
from orders.domain.returns import ReturnStatus
from orders.schemas.orders import CHECKOUT_LINES_MAX, Reason


class ReturnLine(RequestBody):
    item_id: UUID
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]


class RequestReturnRequest(RequestBody):
    items: Annotated[list[ReturnLine], Field(min_length=1, max_length=CHECKOUT_LINES_MAX)]
    reason: Reason


class DecideReturnRequest(RequestBody):
    reason: Reason | None = None


class ReturnedItem(ResponseShape):
    item_id: UUID
    product_id: UUID
    name: str
    quantity: int
    unit_price_minor: int


class ReturnRequest(ResponseShape):
    id: UUID
    order_id: UUID
    order_number: Annotated[str | None, Field(description="The order's number for people: `CM-XXXX-XXXX`.")]
    buyer_id: UUID
    vendor_id: UUID
    status: ReturnStatus
    reason: str
    items: list[ReturnedItem]
    refund_minor: Annotated[int | None, Field(description="Set by the approval.")]
    refund_id: UUID | None
    decided_by: UUID | None
    decision_reason: str | None
    decided_at: datetime | None
    created_at: datetime
