"""Payments of a buyer (contract section 7)."""

from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from common.web.response_models import ResponseModel, Timestamp
from payments.domain.transitions import PaymentStatus

_PaidOrders = Annotated[
    list[UUID] | UnsetType,
    Meta(description="Of a purchase: the orders that the payment is for; the first is `orderId`."),
]

_FromBalance = Annotated[int, Meta(description="The part that the buyer's balance pays, in kobo.")]
_AtGateway = Annotated[int, Meta(description="The part that the payment gateway is asked for, in kobo.")]


class BankTransfer(ResponseModel):
    """The account of one payment: the buyer transfers exactly the amount to it, before its end."""

    bank_name: str
    account_number: str
    account_name: Annotated[str | None, Meta(description="The name that the buyer's bank shows; null when not known.")]
    amount_minor: int
    expires_at: Timestamp


class PaymentIntent(ResponseModel):
    id: UUID
    order_id: UUID
    reference: str
    amount_minor: Annotated[int, Meta(description="All that is due, in kobo.")]
    balance_minor: _FromBalance
    gateway_minor: _AtGateway
    currency: str
    status: PaymentStatus
    authorization_url: Annotated[
        str | None,
        Meta(description="The payment page to which the buyer is redirected; null when the balance paid all."),
    ]
    access_code: Annotated[
        str | None, Meta(description="The code that opens the payment in the payment gateway's own widget.")
    ]
    expires_at: Timestamp
    bank_transfer: Annotated[
        BankTransfer | None,
        Meta(
            description=(
                "With the channel `bank_transfer`: the account to transfer to, where the payment gateway gave one."
            )
        ),
    ] = None
    purchase_id: Annotated[UUID | UnsetType, Meta(description="The purchase that is paid; absent without one.")] = UNSET
    order_ids: _PaidOrders = UNSET


class Payment(ResponseModel):
    id: UUID
    order_id: UUID
    order_number: Annotated[str | None, Meta(description="The order's number for people; null where it is not known.")]
    reference: str
    amount_minor: int
    balance_minor: _FromBalance
    gateway_minor: _AtGateway
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
    received_minor: Annotated[
        int | None,
        Meta(
            description="Of a quarantined payment: the naira that arrived, in kobo. Less than `amountMinor` pays "
            "nothing, and "
            "is returned; null in every other state."
        ),
    ]
    purchase_id: Annotated[UUID | UnsetType, Meta(description="The purchase that is paid; absent without one.")] = UNSET
    order_ids: _PaidOrders = UNSET
