"""The book as a CSV file."""

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

# A month, whichever; who needs more asks for one after the other.
PERIOD_MAX: Final = timedelta(days=31)
# Some milliseconds of work: others are served between two pieces.
PIECE_TRANSACTIONS: Final = 500
COLUMNS: Final = ("transactionId", "type", "postingKey", "currency", "createdAt", "account", "amountMinor")
# What a spreadsheet takes for the beginning of a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_heading() -> str:
    """The line of names (RFC 4180)."""
    return _lines([COLUMNS])


def csv_of_transactions(transactions: Iterable[Mapping[str, Any]]) -> str:
    """One line for each entry, in kobo, debit positive. A text that a spreadsheet would run is shown as text."""
    return _lines(
        (
            transaction["id"],
            as_text(transaction["type"]),
            as_text(transaction["postingKey"]),
            transaction["currency"],
            transaction["createdAt"],
            as_text(entry["account"]),
            entry["amountMinor"],
        )
        for transaction in transactions
        for entry in transaction["entries"]
    )


def as_text(text: str) -> str:
    """The text, behind an apostrophe when a spreadsheet would read it as a formula; leading blanks do not stop it."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()
