"""Transactions and accounts of the ledger."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.ledger.posting import Side
from common.web.response_models import ResponseModel, Timestamp
from contracts.transaction_types import TransactionType
from payments.domain.accounts import AccountKind


class LedgerEntry(ResponseModel):
    account: str
    amount_minor: Annotated[int, Meta(description="Kobo, debit positive.")]


class LedgerTransaction(ResponseModel):
    id: UUID
    type: TransactionType
    posting_key: str
    currency: str
    created_at: Timestamp
    entries: list[LedgerEntry]
    order_numbers: Annotated[
        dict[str, str], Meta(description="By account, the number of the order whose escrow or refund it is.")
    ]


class TrialBalanceLine(ResponseModel):
    """All accounts of one kind and currency: `escrow` sums every `escrow:<order>`."""

    kind: Annotated[AccountKind, Meta(description="The name of the accounts up to its colon.")]
    currency: str
    accounts: Annotated[int, Meta(description="Number of accounts.")]
    debit_minor: Annotated[int, Meta(description="Sum of the debits in kobo.")]
    credit_minor: Annotated[int, Meta(description="Sum of the credits in kobo.")]
    balance_minor: Annotated[int, Meta(description="Debits less credits. All lines of a currency sum to zero.")]
    side: Annotated[Side, Meta(description="Where the balance normally stands.")]


class MoneyHeld(ResponseModel):
    """Where the marketplace's naira are now, in kobo."""

    escrow_minor: Annotated[int, Meta(description="Paid by buyers and held until the delivery.")]
    buyer_balances_minor: Annotated[
        int, Meta(description="Owed to buyers: their balances, and what unfinished payments hold of them.")
    ]
    refunds_minor: Annotated[int, Meta(description="Owed to buyers: refunds and withdrawals under way.")]
    vendor_payable_minor: Annotated[int, Meta(description="Released to vendors.")]
    gateway_minor: Annotated[int, Meta(description="The platform's money at the payment gateways.")]
    currency: str


class PlannedEntry(ResponseModel):
    account: str
    amount_minor: Annotated[int, Meta(description="Kobo, debit positive.")]
    balance_minor: Annotated[int, Meta(description="The account's balance before it, in kobo, debit positive.")]


class LedgerAccount(ResponseModel):
    account: str
    order_number: Annotated[
        str | None, Meta(description="The number of the order whose escrow or refund it is; null for others.")
    ]
    currency: str
    balance_minor: Annotated[int, Meta(description="The sum of the entries in kobo, debit positive.")]
    side: Annotated[Side, Meta(description="Where the balance normally stands.")]
