"""Payments of a buyer (contract section 7)."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from common.web.schemas import RequestBody, ResponseShape
from payments.domain.transitions import PaymentStatus


class CreatePaymentIntentRequest(RequestBody):
    """`POST /api/payments/intent`. The amount is the order's."""

    order_id: UUID
    channel: Literal["card", "ussd", "bank_transfer"] | None = None
    callback_url: str | None = Field(default=None, min_length=1, max_length=2_048)


class PaymentIntent(ResponseShape):
    id: UUID
    order_id: UUID
    reference: str
    amount_minor: int
    currency: str
    status: PaymentStatus
    authorization_url: str | None
    access_code: str | None
    expires_at: datetime


class Payment(ResponseShape):
    id: UUID
    order_id: UUID
    order_number: str | None = Field(description="The order's number for people; null where it is not known.")
    reference: str
    amount_minor: int
    currency: str
    status: PaymentStatus
    channel: str | None
    created_at: datetime
    paid_at: datetime | None
    failure_reason: str | None = Field(
        description="Of a failed payment: the payment gateway's words, made safe to show. Another payment of the order can be opened."
    )


class RewardBalance(ResponseShape):
    balance_minor: int
