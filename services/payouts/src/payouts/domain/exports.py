"""A vendor's month as a CSV file."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from common.web.csv_export import as_text, csv_lines

# Lasts some milliseconds: other requests are served between two pages.
PAGE_LINES: Final = 200
_COLUMNS: Final = (
    "at",
    "kind",
    "orderId",
    "payoutId",
    "payoutStatus",
    "payoutFailure",
    "grossMinor",
    "commissionMinor",
    "deliveryFeeMinor",
    "netMinor",
    "balanceMinor",
    "netNaira",
    "balanceNaira",
)


def csv_heading() -> str:
    """The header line."""
    return csv_lines([_COLUMNS])


def csv_of_lines(lines: Iterable[Mapping[str, Any]]) -> str:
    """Statement lines in kobo; the last two amounts also in naira. Text from the gateway is never a formula."""
    return csv_lines(
        (
            line["at"],
            line["kind"],
            line["orderId"],
            line["payoutId"],
            line["payoutStatus"],
            as_text(line["payoutFailure"]),
            line["grossMinor"],
            line["commissionMinor"],
            line["deliveryFeeMinor"],
            line["netMinor"],
            line["balanceMinor"],
            decimal_naira(line["netMinor"]),
            decimal_naira(line["balanceMinor"]),
        )
        for line in lines
    )


def decimal_naira(amount_minor: int) -> str:
    """Returns kobo as naira with two decimals, `-1234.50`. Exact: no float is involved."""
    whole, kobo = divmod(abs(amount_minor), 100)
    return f"{'-' if amount_minor < 0 else ''}{whole}.{kobo:02d}"


def format_naira(amount_minor: int) -> str:
    """Returns kobo as formatted naira: `-₦1,234.50`."""
    whole, kobo = divmod(abs(amount_minor), 100)
    return f"{'-' if amount_minor < 0 else ''}₦{whole:,}.{kobo:02d}"
