"""Limits of a buyer's unpaid orders, which reserve stock without money (contract section 6.3)."""

from dataclasses import dataclass
from typing import Final

from orders.domain.errors import TooManyUnpaidOrders

# Half of fewer pieces would refuse a pair to the only buyer who wants them.
UNCAPPED_STOCK_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class UnpaidLimits:
    """The most unpaid orders of one buyer, and the most of a product's stock that they may reserve, in percent."""

    orders_max: int
    share_max_percent: int

    def check_orders(self, unpaid_orders: int, new_orders: int) -> None:
        """Raise TooManyUnpaidOrders (409) for a buyer with `unpaid_orders` who places `new_orders` more."""
        if unpaid_orders + new_orders > self.orders_max:
            raise TooManyUnpaidOrders(self.orders_max)

    def pieces_max(self, free: int, held: int) -> int:
        """Return the pieces of one product that the buyer may hold unpaid: `free` are in stock, `held` are the buyer's
        own.
        """
        pieces = free + held
        return pieces if pieces <= UNCAPPED_STOCK_MAX else pieces * self.share_max_percent // 100
