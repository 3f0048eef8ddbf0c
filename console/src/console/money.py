"""Amounts of accounts: other currencies than naira, debit and credit, balances before and after a posting."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from markupsafe import Markup

from console.api import Json
from console.formats import FinerState, day, element, naira, spoken, text


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


def account_words(account: str, name: str | None = None) -> str:
    """Return an account of the ledger in words: its kind, and the order or vendor that it belongs to."""
    return " ".join(filter(None, (spoken(account.partition(":")[0]), name)))


def accounts(named: Mapping[str, str | None]) -> Markup:
    """Return accounts in words, by account with the name of its order or vendor; the ledger's names are the titles."""
    shown = (
        element("span", Markup(" ").join((account_words(account), *map(text, filter(None, [name])))), title=account)
        for account, name in named.items()
    )
    return element("span", Markup(", ").join(shown))


def posting_rows(
    entries: Iterable[Json], currency: str = "NGN", names: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Entries as the rows of `parts of postings`: debit or credit, and with `balanceMinor` the balance before and
    after. `names` has the order or vendor of an account.
    """
    rows = []
    for entry in entries:
        amount, before = entry["amountMinor"], entry.get("balanceMinor")
        rows.append(
            {
                "account": entry["account"],
                "words": account_words(entry["account"], (names or {}).get(entry["account"])),
                "debit": money(amount, currency) if amount > 0 else "",
                "credit": money(-amount, currency) if amount < 0 else "",
                "before": None if before is None else sided(before, currency),
                "after": None if before is None else sided(before + amount, currency),
            }
        )
    return rows


def payout_state(payout: Json) -> str:
    """Return the payout's state, and where the API's word says less than is known: `reversed` for money that the bank
    sent back, `cancelled` by the vendor before any transfer, `held` by finance.
    """
    if payout["reversal"]:
        return "reversed"
    if payout["status"] == "failed" and payout["transfer"] is None:
        return FinerState("cancelled", payout["status"])
    return FinerState("held", "pending") if payout["status"] == "pending" and payout["hold"] else str(payout["status"])


def transfer_state(payout: Json) -> str:
    """Return the state of the latest transfer; `reversed` where the bank sent its money back: the transfer's own status
    follows with the next query of the gateway.
    """
    if payout["transfer"] is None:
        return "not sent"
    return "reversed" if payout["reversal"] else str(payout["transfer"]["status"])


OBSTACLES: Final = {
    "open_exception": "the bank or the payment company reported a problem, which staff look into",
    "overdue": "it is later than usual",
    "not_pending": "it has ended",
    "credit_not_released": "finance checks the credits of the wallet",
    "release_statement_awaited": "finance checks the credits of the wallet",
    "dispatch_stopped": "all payouts are stopped for a while",
    "held": "finance holds it",
    "vendor_suspended": "the shop is suspended",
    "transfer_contradicted": "the bank reports an earlier payout as paid twice, and finance checks it",
    "disputed": "a buyer's bank disputes money that it contains",
    "debt_outstanding": "a debt is open",
    "bank_details_changed": "the bank details changed or are not verified",
    "bank_details_cooling": "the bank details changed a short time ago",
    "bank_details_quarantined": "the bank details are under review",
    "bank_details_unverified": "the bank details are not verified",
    "below_minimum": "less than the minimum is available",
}
"""Why a payout is not requested, or has no day on which it reaches the bank, for its vendor."""


def arrival_words(arrival: Json | None) -> str:
    """Return when money reaches the bank at the latest, or why no day is named; empty where nothing is to come."""
    if arrival is None:
        return ""
    if arrival["day"] is not None:
        return f"by {day(arrival['day'])}"
    return f"no day yet: {OBSTACLES.get(arrival['obstacle'], spoken(arrival['obstacle']))}"
