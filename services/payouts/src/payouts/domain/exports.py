"""A vendor's month as a CSV file."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from common.web.csv_export import as_text, csv_lines

# Some milliseconds of work: others are served between two pieces.
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
    """The line of names."""
    return csv_lines([_COLUMNS])


def csv_of_lines(lines: Iterable[Mapping[str, Any]]) -> str:
    """Statement lines in kobo, the last two amounts in naira as well. What the gateway wrote is shown as text, never run."""
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
    """Kobo as naira with two decimals, `-1234.50`: exact, for no float is on the way."""
    whole, kobo = divmod(abs(amount_minor), 100)
    return f"{'-' if amount_minor < 0 else ''}{whole}.{kobo:02d}"


def format_naira(amount_minor: int) -> str:
    """Kobo as people read money: `-₦1,234.50`."""
    whole, kobo = divmod(abs(amount_minor), 100)
    return f"{'-' if amount_minor < 0 else ''}₦{whole:,}.{kobo:02d}"
