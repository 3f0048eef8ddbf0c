"""Charges of a payment and their parts (contract section 7)."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from payments.domain.refunds import RefundKind
from payments.domain.transitions import ChargebackStatus, RefundStatus
from providers.gateways import GatewayName


class ChargedOrder(ResponseModel):
    """An order that the charge paid. Amounts in kobo."""

    order_id: UUID
    order_number: str | None
    charged_minor: Annotated[int, Meta(description="The part of the order's total that the charge paid.")]
    balance_minor: Annotated[int, Meta(description="The part that the buyer's balance paid.")]
    refunded_minor: Annotated[int, Meta(description="Refunded to the buyer so far, by any way.")]
    charged_back_minor: Annotated[int, Meta(description="Lost in chargebacks so far.")]


class ChargeRefund(ResponseModel):
    id: UUID
    kind: RefundKind
    order_id: UUID | None
    amount_minor: Annotated[int, Meta(description="What the gateway returns, in kobo.")]
    balance_minor: Annotated[int, Meta(description="What the buyer's balance received, in kobo.")]
    status: RefundStatus
    created_at: Timestamp


class ChargeChargeback(ResponseModel):
    id: UUID
    order_id: UUID | None
    amount_minor: Annotated[int, Meta(description="The disputed part of the order, in kobo.")]
    status: ChargebackStatus
    created_at: Timestamp


class Charge(ResponseModel):
    """Money that the gateway reported. `orders`, the surcharge and what is returned of it make up `amountMinor`."""

    id: UUID
    reference: str
    gateway: Annotated[GatewayName, Meta(description="The payment gateway that charged the payer.")]
    amount_minor: Annotated[int, Meta(description="In the smallest unit of `currency`.")]
    currency: str
    channel: str | None
    verdict: Annotated[
        Literal["covered", "second_charge", "quarantined"],
        Meta(description="`second_charge`: the orders had been paid before, and all of it is returned."),
    ]
    surcharge_minor: Annotated[int, Meta(description="The gateway's fee that the payer bore, in kobo.")]
    surplus_minor: Annotated[int, Meta(description="What was above the amount due, in kobo; it is returned.")]
    charged_at: Annotated[Timestamp, Meta(description="When the charge was recorded.")]
    orders: Annotated[list[ChargedOrder], Meta(description="The orders that it paid.")]
    refunds: Annotated[list[ChargeRefund], Meta(description="What is returned of it.")]
    chargebacks: Annotated[list[ChargeChargeback], Meta(description="Its disputes, one for each order.")]
