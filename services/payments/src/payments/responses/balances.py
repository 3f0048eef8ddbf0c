"""A buyer's balance and its statement (contract section 7.9)."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from payments.domain.balances import LineKind


class Balance(ResponseModel):
    available_minor: Annotated[int, Meta(description="Rewards and refunds that can pay for orders now, in kobo.")]
    held_minor: Annotated[int, Meta(description="Kobo held for payments that are not finished.")]
    currency: str


class BalanceLine(ResponseModel):
    """A change of the available balance."""

    id: UUID
    kind: LineKind
    order_id: UUID | None
    amount_minor: Annotated[int, Meta(description="Kobo; below zero for `spent` and `withdrawn`.")]
    balance_minor: Annotated[int, Meta(description="The available balance after it, in kobo.")]
    at: Timestamp


class RewardBalance(ResponseModel):
    balance_minor: Annotated[int, Meta(description="The rewards that are left of the available balance, in kobo.")]
