"""Responses of wallets and statements."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta, field

from common.web.response_models import ResponseModel, Timestamp
from payouts.domain.accounts import TransactionType
from payouts.domain.payout_transitions import PayoutStatus
from payouts.domain.wallet import LineKind
from payouts.responses.payouts import BankArrival


class Wallet(ResponseModel):
    available_minor: int
    locked_minor: int
    in_transit_minor: Annotated[int, Meta(description="Kobo of payouts that are under way.")]
    debt_minor: Annotated[int, Meta(description="Kobo that the vendor owes, deducted from the next earnings.")]
    held_minor: Annotated[int, Meta(description="Kobo withheld for open chargebacks.")]
    transfer_minimum_minor: Annotated[
        int, Meta(description="The smallest transfer in kobo; a smaller remainder may be waived.")
    ]
    currency: str
    arrival: Annotated[
        BankArrival | None,
        Meta(
            description="When the available money reaches the bank, requested by the schedule, or now without one; "
            "null while nothing is available."
        ),
    ]


class WalletEntry(ResponseModel):
    account: str
    amount_minor: Annotated[int, Meta(description="Kobo, debit positive.")]


class WalletTransaction(ResponseModel):
    """A transaction of the wallets' ledger; its entries sum to zero."""

    id: UUID
    type: TransactionType
    posting_key: str
    currency: str
    created_at: Timestamp
    entries: list[WalletEntry]


class StatementLine(ResponseModel):
    id: UUID
    kind: LineKind
    order_id: UUID | None
    payout_id: UUID | None
    payout_status: Annotated[PayoutStatus | None, Meta(description="The status of the payout.")]
    payout_failure: Annotated[str | None, Meta(description="Why the payout failed; null otherwise.")]
    gross_minor: int | None
    commission_minor: int | None
    delivery_fee_minor: int | None
    net_minor: int
    balance_minor: int
    at: Timestamp


class StatementMonthKind(ResponseModel):
    kind: LineKind
    lines: int
    gross_minor: int
    commission_minor: int
    delivery_fee_minor: int
    net_minor: int


class StatementMonth(ResponseModel):
    vendor_id: UUID
    month: Annotated[str, Meta(description="The month, such as `2026-01`.")]
    time_zone: Annotated[str, Meta(description="The time zone of the month, a name of the tz database.")]
    begin: Timestamp = field(name="from")
    end: Timestamp = field(name="to")
    is_over: Annotated[bool, Meta(description="Whether the month is over, so that the statement is final.")]
    currency: str
    opening_balance_minor: Annotated[int, Meta(description="The balance at the beginning, in kobo.")]
    closing_balance_minor: Annotated[int, Meta(description="The balance at the end, in kobo.")]
    net_minor: int
    lines: int
    kinds: Annotated[list[StatementMonthKind], Meta(description="The sums by kind of line.")]
