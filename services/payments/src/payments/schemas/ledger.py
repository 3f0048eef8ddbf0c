"""Transactions and accounts of the ledger."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from common.ledger.posting import Side
from common.web.schemas import ResponseShape


class LedgerEntry(ResponseShape):
    account: str
    amount_minor: int = Field(description="Kobo, debit positive.")


class LedgerTransaction(ResponseShape):
    id: UUID
    type: str
    posting_key: str
    currency: str
    created_at: datetime
    entries: list[LedgerEntry]


class LedgerAccount(ResponseShape):
    account: str
    currency: str
    balance_minor: int = Field(description="The sum of the entries in kobo, debit positive.")
    side: Side = Field(description="Where the balance normally stands.")
