"""Responses of wallets and statements."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from common.web.schemas import PositiveKobo, RequestBody, ResponseShape
from payouts.domain.accounts import TransactionType
from payouts.domain.wallet import LineKind


class Wallet(ResponseShape):
    available_minor: int
    locked_minor: int
    in_transit_minor: int
    debt_minor: int
    held_minor: int
    transfer_minimum_minor: Annotated[
        int, Field(description="The smallest transfer in kobo; a smaller remainder may be waived.")
    ]
    currency: str


class WaiveRemainderRequest(RequestBody):
    amount_minor: Annotated[PositiveKobo, Field(description="The whole remainder, as the wallet shows it.")]


class WalletEntry(ResponseShape):
    account: str
    amount_minor: Annotated[int, Field(description="Kobo, debit positive.")]


class WalletTransaction(ResponseShape):
    """A transaction of the wallets' ledger; its entries sum to zero."""

    id: UUID
    type: TransactionType
    posting_key: str
    currency: str
    created_at: datetime
    entries: list[WalletEntry]


class StatementLine(ResponseShape):
    id: UUID
    kind: LineKind
    order_id: UUID | None
    payout_id: UUID | None
    payout_status: Literal["pending", "processed", "failed"] | None
    payout_failure: str | None
    gross_minor: int | None
    commission_minor: int | None
    delivery_fee_minor: int | None
    net_minor: int
    balance_minor: int
    at: datetime


class StatementMonthKind(ResponseShape):
    kind: LineKind
    lines: int
    gross_minor: int
    commission_minor: int
    delivery_fee_minor: int
    net_minor: int


class StatementMonth(ResponseShape):
    vendor_id: UUID
    month: str
    time_zone: str
    begin: Annotated[datetime, Field(alias="from")]
    end: Annotated[datetime, Field(alias="to")]
    is_over: bool
    currency: str
    opening_balance_minor: int
    closing_balance_minor: int
    net_minor: int
    lines: int
    kinds: list[StatementMonthKind]
