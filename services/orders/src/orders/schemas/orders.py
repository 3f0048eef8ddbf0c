"""Checkout and orders (contract section 6)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import Kobo, RequestBody
from orders.domain.refund_destinations import RefundTo

# A checkout is one delivery of one vendor; 50 lines cover it.
CHECKOUT_LINES_MAX = 50
DeliveryNote = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class CheckoutLine(RequestBody):
    product_id: UUID
    variant_id: Annotated[UUID | None, Field(description="Required for a product with variants.")] = None
    quantity: Annotated[int, Field(strict=True, ge=1, le=99)]
    offer_id: Annotated[
        UUID | None,
        Field(description="An open offer to the caller, for exactly this product, variant and quantity."),
    ] = None


class CheckoutRequest(RequestBody):
    """Either items, or the lines of one vendor in the caller's cart."""

    items: Annotated[list[CheckoutLine] | None, Field(min_length=1, max_length=CHECKOUT_LINES_MAX)] = None
    cart_id: UUID | None = None
    vendor_id: Annotated[UUID | None, Field(description="Required for a cart with products of several vendors.")] = None
    campus_id: UUID | None = None
    hub_id: UUID | None = None
    delivery_note: DeliveryNote | None = None
    expected_total_minor: Kobo | None = None


RefundDestination = Annotated[
    RefundTo | None,
    Field(description="For the buyer: all of the refund goes to the buyer's balance, settled at once and final."),
]


class CancelOrderLineRequest(RequestBody):
    reason: Reason


class CancelOrderRequest(RequestBody):
    reason: Reason
    refund_to: RefundDestination = None
