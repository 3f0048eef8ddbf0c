"""Figures of sales, the same for vendors, campus admins and finance: their sums prove the equation of the page."""

from collections.abc import Sequence
from typing import Final

from console.api import Json
from console.lists import Column

FIGURES: Final = (
    ("Orders", "orders"),
    ("Units", "units"),
    ("Paid by buyers", "grossMinor"),
    ("Commission", "commissionMinor"),
    ("Delivery fees", "deliveryFeeMinor"),
    ("Refunded", "refundedMinor"),
    ("To the wallet", "netMinor"),
    ("In escrow", "lockedMinor"),
)
"""Label and field. Paid by buyers = commission + delivery fees + refunded + to the wallet + in escrow."""
FIGURE_COLUMNS: Final = tuple(
    Column(label, name, "naira" if name.endswith("Minor") else "number") for label, name in FIGURES
)


def sums(rows: Sequence[Json]) -> list[tuple[str, str, int]]:
    """Return label, field and sum of each figure of the rows."""
    return [(label, name, sum(row[name] for row in rows)) for label, name in FIGURES]
