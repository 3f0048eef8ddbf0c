"""Payments of a buyer (contract section 7)."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from common.primitives.money import AMOUNT_MINOR_MAX
from common.web.schemas import RequestBody


class CreatePaymentIntentRequest(RequestBody):
    """`POST /api/payments/intent`. The amount is the order's, or the sum of the purchase's unpaid orders."""

    order_id: Annotated[UUID | None, Field(description="An order that is paid alone.")] = None
    purchase_id: Annotated[
        UUID | None, Field(description="A purchase, in place of `orderId`: one payment for its unpaid orders.")
    ] = None
    balance_minor: Annotated[
        int | None,
        Field(
            strict=True,
            ge=0,
            le=AMOUNT_MINOR_MAX,
            description="The part from the buyer's balance in kobo; the gateway is asked for the rest.",
        ),
    ] = None
    channel: Literal["card", "ussd", "bank_transfer"] | None = None
    callback_url: str | None = Field(default=None, min_length=1, max_length=2_048)

    @model_validator(mode="after")
    def hold_one_subject(self) -> Self:
        if (self.order_id is None) == (self.purchase_id is None):
            raise ValueError("must hold either orderId or purchaseId")
        return self
