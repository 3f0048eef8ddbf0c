"""Transactions and accounts of the ledger."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from common.ledger.posting import Side
from common.web.schemas import ResponseShape
from payments.domain.accounts import AccountKind
from payments.domain.transaction_types import TransactionType


class LedgerEntry(ResponseShape):
    account: str
    amount_minor: int = Field(description="Kobo, debit positive.")


class LedgerTransaction(ResponseShape):
    id: UUID
    type: TransactionType
    posting_key: str
    currency: str
    created_at: datetime
    entries: list[LedgerEntry]


class TrialBalanceLine(ResponseShape):
    """All accounts of one kind and currency: `escrow` sums every `escrow:<order>`."""

    kind: AccountKind = Field(description="The name of the accounts up to its colon.")
    currency: str
    accounts: int = Field(description="Number of accounts.")
    debit_minor: int = Field(description="Sum of the debits in kobo.")
    credit_minor: int = Field(description="Sum of the credits in kobo.")
    balance_minor: int = Field(description="Debits less credits. All lines of a currency sum to zero.")
    side: Side = Field(description="Where the balance normally stands.")


class PlannedEntry(ResponseShape):
    account: str
    amount_minor: int = Field(description="Kobo, debit positive.")
    balance_minor: int = Field(description="The account's balance before it, in kobo, debit positive.")


class LedgerAccount(ResponseShape):
    account: str
    currency: str
    balance_minor: int = Field(description="The sum of the entries in kobo, debit positive.")
    side: Side = Field(description="Where the balance normally stands.")
