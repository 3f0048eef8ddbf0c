"""A vendor's month as a CSV file."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from common.web.csv_export import csv_head, csv_lines

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
    """Return the begin of the file."""
    return csv_head(_COLUMNS)


def csv_of_lines(lines: Iterable[Mapping[str, Any]]) -> str:
    """Statement lines in kobo; the last two amounts also in naira."""
    return csv_lines(
        (
            line["at"],
            line["kind"],
            line["orderId"],
            line["payoutId"],
            line["payoutStatus"],
            line["payoutFailure"],
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


def decimal_naira(amount_minor: int) -> Decimal:
    """Return kobo as naira with two decimals, `-1234.50`."""
    return Decimal(amount_minor).scaleb(-2)


def format_naira(amount_minor: int) -> str:
    """Return kobo as formatted naira: `-₦1,234.50`."""
    whole, kobo = divmod(abs(amount_minor), 100)
    return f"{'-' if amount_minor < 0 else ''}₦{whole:,}.{kobo:02d}"
