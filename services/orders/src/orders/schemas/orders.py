"""Checkout and orders (contract section 6)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.responses import EnvelopeMeta, PageMeta
from common.web.schemas import Kobo, RequestBody, ResponseShape

# One checkout is one delivery of one vendor; more lines than this are several.
CHECKOUT_LINES_MAX = 50
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class CheckoutLine(RequestBody):
    product_id: UUID
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]


class CheckoutRequest(RequestBody):
    """Either the lines themselves, or the part of the caller's cart that one vendor sells."""

    items: Annotated[list[CheckoutLine] | None, Field(min_length=1, max_length=CHECKOUT_LINES_MAX)] = None
    cart_id: UUID | None = None
    vendor_id: Annotated[UUID | None, Field(description="Of a cart that holds several vendors' goods.")] = None
    campus_id: UUID | None = None
    hub_id: UUID | None = None
    delivery_note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] | None = None
    expected_total_minor: Kobo | None = None


class CancelRequest(RequestBody):
    reason: Reason


class EmptyRequest(RequestBody):
    """`{}`: who asks says nothing more."""


class OffsetMeta(EnvelopeMeta):
    page: int
    limit: int
    total: int
    total_pages: Annotated[int, Field(alias="total_pages")]


class OrderItem(ResponseShape):
    id: UUID
    product_id: UUID
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int


class Order(ResponseShape):
    id: UUID
    status: str
    total: float
    total_minor: int
    currency: str
    buyer_id: UUID
    vendor_id: UUID
    campus_id: UUID
    hub_id: UUID | None
    items: list[OrderItem]
    subtotal_minor: int
    delivery_fee_minor: int
    commission_minor: Annotated[int | None, Field(description="For the vendor and for staff only.")] = None
    refunded_minor: int
    delivery_note: str | None
    payment_due_at: str
    delivered_at: str | None
    return_due_at: Annotated[str | None, Field(description="Until when goods of it may be asked back.")]
    revision: int
    created_at: str
    updated_at: str


class OrderResponse(ResponseShape):
    success: bool
    data: Order
    meta: EnvelopeMeta


class OrderPageResponse(ResponseShape):
    success: bool
    data: list[Order]
    meta: PageMeta


class CampusOrderPageResponse(ResponseShape):
    success: bool
    data: list[Order]
    meta: OffsetMeta


class OrderItemsResponse(ResponseShape):
    success: bool
    data: list[OrderItem]
    meta: PageMeta
