"""Payments of a buyer (contract section 7)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from payments.domain.transitions import PaymentStatus


class PaymentIntent(ResponseModel):
    id: UUID
    order_id: UUID
    reference: str
    amount_minor: int
    currency: str
    status: PaymentStatus
    authorization_url: Annotated[str | None, Meta(description="The payment page to which the buyer is redirected.")]
    access_code: Annotated[
        str | None, Meta(description="The code that opens the payment in the payment gateway's own widget.")
    ]
    expires_at: Timestamp


class Payment(ResponseModel):
    id: UUID
    order_id: UUID
    order_number: Annotated[str | None, Meta(description="The order's number for people; null where it is not known.")]
    reference: str
    amount_minor: int
    currency: str
    status: PaymentStatus
    channel: str | None
    created_at: Timestamp
    paid_at: Annotated[Timestamp | None, Meta(description="The time of the payment; null before.")]
    failure_reason: Annotated[
        str | None,
        Meta(
            description="Of a failed payment: the payment gateway's words, made safe to show. Another payment of the "
            "order can be opened."
        ),
    ]


class RewardBalance(ResponseModel):
    balance_minor: int
