"""Checkout and orders (contract section 6)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import Kobo, RequestBody

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
