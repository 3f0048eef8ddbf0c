"""Responses of purchases."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from orders.domain.purchases import PurchaseStatus
from orders.responses.orders import Order


class Purchase(ResponseModel):
    id: UUID
    number: Annotated[str, Meta(description="For people: unique, in Crockford's base 32.", examples=["CP-5W1C-8TKA"])]
    status: Annotated[
        PurchaseStatus,
        Meta(
            description=(
                "`unpaid` while an order waits for its payment; else `paid` when one was paid, and `closed` "
                "when none was."
            )
        ),
    ]
    orders: Annotated[list[Order], Meta(description="One for each vendor, in the sequence of the checkout.")]
    total_minor: Annotated[
        int, Meta(description="The sum of all orders, also of those that were cancelled or expired.")
    ]
    currency: str
    payment_due_at: Timestamp
    created_at: Timestamp
