"""The ledger as a CSV file."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from common.web.csv_export import csv_head, csv_lines
from payments.responses.ledger import LedgerTransaction

# The bounds of a period that names none.
BEFORE_EVERYTHING: Final = datetime(1, 1, 1, tzinfo=UTC)
AFTER_EVERYTHING: Final = datetime(9999, 12, 31, tzinfo=UTC)
# Milliseconds of work: other requests run between two batches.
EXPORT_BATCH_TRANSACTIONS: Final = 500
COLUMNS: Final = ("transactionId", "type", "postingKey", "currency", "createdAt", "account", "amountMinor")


def csv_heading() -> str:
    """Return the begin of the file."""
    return csv_head(COLUMNS)


def csv_of_transactions(transactions: Iterable[LedgerTransaction]) -> str:
    """One line for each entry, in kobo, debit positive."""
    return csv_lines(
        (
            transaction.id,
            transaction.type,
            transaction.posting_key,
            transaction.currency,
            transaction.created_at,
            entry.account,
            entry.amount_minor,
        )
        for transaction in transactions
        for entry in transaction.entries
    )
