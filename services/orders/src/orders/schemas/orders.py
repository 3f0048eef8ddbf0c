"""Checkout and orders (contract section 6)."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import Kobo, RequestBody, ResponseShape
from orders.domain.order_history import OrderEvent
from orders.domain.transitions import State

# A checkout is one delivery of one vendor; 50 lines cover it.
CHECKOUT_LINES_MAX = 50
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class CheckoutLine(RequestBody):
    product_id: UUID
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]


class CheckoutRequest(RequestBody):
    """Either items, or the lines of one vendor in the caller's cart."""

    items: Annotated[list[CheckoutLine] | None, Field(min_length=1, max_length=CHECKOUT_LINES_MAX)] = None
    cart_id: UUID | None = None
    vendor_id: Annotated[UUID | None, Field(description="Required for a cart with products of several vendors.")] = None
    campus_id: UUID | None = None
    hub_id: UUID | None = None
    delivery_note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] | None = None
    expected_total_minor: Kobo | None = None


class CancelOrderRequest(RequestBody):
    reason: Reason


class OrderItem(ResponseShape):
    id: UUID
    product_id: UUID
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int


class OrderTimelineEntry(ResponseShape):
    """A transition of the order, or an event of its delivery PIN. It never contains the PIN."""

    event: Annotated[
        OrderEvent,
        Field(
            description="`placed`, the trigger of a transition (contract section 6.2), or `pin_issued`, `pin_rejected` "
            "(a wrong attempt) and `pin_locked` (the wrong attempt that locked the PIN)."
        ),
    ]
    status: Annotated[State | None, Field(description="The status that the transition led to; null for a PIN event.")]
    occurred_at: Annotated[datetime, Field(description="When the transaction of the event was made.")]


class OrderContact(ResponseShape):
    name: str | None
    phone: Annotated[str | None, Field(description="Null until its owner has proven the number.")]


class Order(ResponseShape):
    id: UUID
    number: Annotated[str, Field(description="For people: unique, in Crockford's base 32.", examples=["CM-7K3M-9QZ2"])]
    status: State
    total: float
    total_minor: int
    currency: str
    buyer_id: UUID
    buyer_name: Annotated[
        str | None,
        Field(
            description="First name and initial; null for an unknown or erased buyer, and for finance.",
            examples=["Ada O."],
        ),
    ]
    vendor_id: UUID
    vendor_name: Annotated[str | None, Field(description="The business name; null for an erased vendor.")]
    campus_id: UUID
    hub_id: Annotated[UUID | None, Field(description="Null for finance.")]
    items: list[OrderItem]
    subtotal_minor: int
    delivery_fee_minor: int
    commission_minor: Annotated[int | None, Field(description="Only for the vendor and for staff.")] = None
    refunded_minor: int
    delivery_note: Annotated[str | None, Field(description="Null for finance.")]
    payment_due_at: datetime
    delivered_at: datetime | None
    return_due_at: Annotated[datetime | None, Field(description="The end of the return window.")]
    revision: int
    created_at: datetime
    updated_at: datetime
    contact: Annotated[
        OrderContact | None,
        Field(
            description="The other side while the order is `paid_escrow`, `dispatched` or `disputed`: the vendor's owner for "
            "the buyer; the buyer for the vendor, for a hub agent, and for holders of orders:read of a disputed order. Else null."
        ),
    ]
