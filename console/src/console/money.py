"""Amounts of accounts: other currencies than naira, debit and credit, balances before and after a posting."""

from collections.abc import Iterable
from typing import Any

from console.api import Json
from console.formats import naira


def money(minor: int | None, currency: str = "NGN") -> str:
    """Return an amount in the minor unit of its currency: ₦1,234.50, GHS 50.00."""
    if minor is None or currency == "NGN":
        return naira(minor)
    sign = "-" if minor < 0 else ""
    whole, part = divmod(abs(minor), 100)
    return f"{sign}{currency} {whole:,}.{part:02d}"


def sided(minor: int, currency: str = "NGN") -> str:
    """Return a balance with its side: debit is positive in the API."""
    side = " Dr" if minor > 0 else " Cr" if minor < 0 else ""
    return money(abs(minor), currency) + side


def posting_rows(entries: Iterable[Json], currency: str = "NGN") -> list[dict[str, Any]]:
    """Entries as the rows of `parts of postings`: debit or credit, and with `balanceMinor` the balance before and
    after.
    """
    rows = []
    for entry in entries:
        amount, before = entry["amountMinor"], entry.get("balanceMinor")
        rows.append(
            {
                "account": entry["account"],
                "debit": money(amount, currency) if amount > 0 else "",
                "credit": money(-amount, currency) if amount < 0 else "",
                "before": None if before is None else sided(before, currency),
                "after": None if before is None else sided(before + amount, currency),
            }
        )
    return rows


def payout_state(payout: Json) -> str:
    """Return the payout's state; `reversed` where the bank sent paid money back."""
    return "reversed" if payout["reversal"] else str(payout["status"])
