"""Payments of a buyer (contract section 7)."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from common.web.schemas import RequestBody


class CreatePaymentIntentRequest(RequestBody):
    """`POST /api/payments/intent`. The amount is the order's."""

    order_id: UUID
    channel: Literal["card", "ussd", "bank_transfer"] | None = None
    callback_url: str | None = Field(default=None, min_length=1, max_length=2_048)
