"""Purchases (contract section 6.3)."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from common.web.schemas import Kobo, RequestBody
from orders.schemas.orders import CheckoutLine, DeliveryNote

# As many as a cart has lines.
PURCHASE_LINES_MAX = 100


class PurchaseDelivery(RequestBody):
    """The hub and the note of one vendor's order; an absent one is that of the purchase."""

    vendor_id: UUID
    hub_id: UUID | None = None
    delivery_note: DeliveryNote | None = None


class PurchaseDeliveries(RequestBody):
    """Where the orders of a purchase go, and the total that the buyer saw."""

    deliveries: Annotated[
        list[PurchaseDelivery],
        Field(
            default_factory=list,
            max_length=PURCHASE_LINES_MAX,
            description="The hub and the note of each vendor's order that has its own",
        ),
    ]
    campus_id: UUID | None = None
    hub_id: UUID | None = None
    delivery_note: DeliveryNote | None = None
    expected_total_minor: Kobo | None = None


class PurchaseRequest(PurchaseDeliveries):
    """Either items, or all lines of the caller's cart."""

    items: Annotated[list[CheckoutLine] | None, Field(min_length=1, max_length=PURCHASE_LINES_MAX)] = None
    cart_id: UUID | None = None


class CheckOutDraftRequest(PurchaseDeliveries):
    """The buyer's confirmation of a draft."""

    skip_unavailable: Annotated[
        bool, Field(strict=True, description="Whether items that cannot be ordered are left out, instead of 409.")
    ] = False
