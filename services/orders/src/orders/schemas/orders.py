"""Checkout and orders (contract section 6)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.answers import EnvelopeMeta, PageMeta
from common.schemas import Kobo, RequestBody, ResponseShape

# One checkout is one delivery of one vendor; more lines than this are several.
CHECKOUT_LINES_MAX = 50
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class CheckoutLine(RequestBody):
    product_id: UUID
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]


class CheckoutRequest(RequestBody):
    items: Annotated[list[CheckoutLine], Field(min_length=1, max_length=CHECKOUT_LINES_MAX)]
    campus_id: UUID | None = None
    hub_id: UUID | None = None
    delivery_note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] | None = None
    expected_total_minor: Kobo | None = None


class CancelRequest(RequestBody):
    reason: Reason


class EmptyRequest(RequestBody):
    """`{}`: who asks says nothing more."""


class OrderItemShape(ResponseShape):
    id: UUID
    product_id: UUID
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int


class OrderShape(ResponseShape):
    id: UUID
    status: str
    total: float
    total_minor: int
    currency: str
    buyer_id: UUID
    vendor_id: UUID
    campus_id: UUID
    hub_id: UUID | None
    items: list[OrderItemShape]
    subtotal_minor: int
    delivery_fee_minor: int
    commission_minor: Annotated[int | None, Field(description="For the vendor and for staff only.")] = None
    refunded_minor: int
    delivery_note: str | None
    payment_due_at: str
    delivered_at: str | None
    revision: int
    created_at: str
    updated_at: str


class OrderAnswer(ResponseShape):
    success: bool
    data: OrderShape
    meta: EnvelopeMeta


class OrderPageAnswer(ResponseShape):
    success: bool
    data: list[OrderShape]
    meta: PageMeta


class OrderItemsAnswer(ResponseShape):
    success: bool
    data: list[OrderItemShape]
    meta: EnvelopeMeta
