"""The division of an order's money among its items (decision 52). Amounts in kobo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

SaleGroup = Literal["day", "week", "month", "product", "variant", "campus", "vendor", "category"]
# A spreadsheet opens this many groups well; more are exported in parts.
EXPORT_GROUPS_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class Sale:
    """The money of a paid order as payments reported it: `gross_minor` was paid, and `locked_minor` of it is in escrow.

    `net_minor` reached the vendor's wallet, `commission_minor` and `delivery_fee_minor` are the platform's. The rest
    returned to the buyer.
    """

    sold_at: datetime
    gross_minor: int
    locked_minor: int
    net_minor: int = 0
    commission_minor: int = 0
    delivery_fee_minor: int = 0

    @property
    def refunded_minor(self) -> int:
        released = self.net_minor + self.commission_minor + self.delivery_fee_minor
        return self.gross_minor - self.locked_minor - released


class SaleLine(NamedTuple):
    """The share of one item in the money of its order."""

    item_id: UUID
    gross_minor: int
    locked_minor: int
    refunded_minor: int
    delivery_fee_minor: int
    commission_minor: int
    net_minor: int


def divide_sale(sale: Sale, line_totals: Mapping[UUID, int]) -> list[SaleLine]:
    """Return the share of each item, in proportion to its line total.

    The shares of each amount sum to the order's amount. The net share is the rest of the item's gross share, so that
    the amounts of an item balance too.
    """
    weights = list(line_totals.values())
    amounts = (sale.gross_minor, sale.locked_minor, sale.refunded_minor, sale.delivery_fee_minor, sale.commission_minor)
    shares = (largest_remainder(amount_minor, weights) for amount_minor in amounts)
    return [
        SaleLine(item_id, gross, locked, refunded, fee, commission, gross - locked - refunded - fee - commission)
        for item_id, gross, locked, refunded, fee, commission in zip(line_totals, *shares, strict=True)
    ]


def largest_remainder(amount_minor: int, weights: Sequence[int]) -> list[int]:
    """Divide the amount in proportion to the weights: rounded down, then one more kobo for the largest remainders."""
    whole = sum(weights)
    quotients = [divmod(amount_minor * weight, whole) for weight in weights]
    shares = [share for share, _ in quotients]
    by_remainder = sorted(range(len(weights)), key=lambda index: -quotients[index][1])
    for index in by_remainder[: amount_minor - sum(shares)]:
        shares[index] += 1
    return shares
