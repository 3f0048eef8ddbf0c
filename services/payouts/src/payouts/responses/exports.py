"""A vendor's month as a CSV file."""

from collections.abc import Iterable
from typing import Final

from common.web.csv_export import csv_head, csv_lines
from payouts.domain.naira import decimal_naira
from payouts.responses.wallets import StatementLine

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


def csv_of_lines(lines: Iterable[StatementLine]) -> str:
    """Statement lines in kobo; the last two amounts also in naira."""
    return csv_lines(
        (
            line.at,
            line.kind,
            line.order_id,
            line.payout_id,
            line.payout_status,
            line.payout_failure,
            line.gross_minor,
            line.commission_minor,
            line.delivery_fee_minor,
            line.net_minor,
            line.balance_minor,
            decimal_naira(line.net_minor),
            decimal_naira(line.balance_minor),
        )
        for line in lines
    )
