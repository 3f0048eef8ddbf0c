"""Shapes of wallets and statements."""

from uuid import UUID

from common.schemas import ResponseShape
from payouts.domain.wallet import Kind


class Wallet(ResponseShape):
    available_minor: int
    locked_minor: int
    in_transit_minor: int
    debt_minor: int
    held_minor: int
    currency: str


class StatementLine(ResponseShape):
    id: UUID
    kind: Kind
    order_id: UUID | None
    payout_id: UUID | None
    gross_minor: int | None
    commission_minor: int | None
    delivery_fee_minor: int | None
    net_minor: int
    balance_minor: int
    at: str
