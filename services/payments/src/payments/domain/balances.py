"""A buyer's balance: rewards, and refunds that the buyer chose to leave here. Amounts in kobo
(contract section 7.9).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple
from uuid import UUID

from common.primitives.money import apportion

LineKind = Literal["reward", "refund", "spent", "returned", "withdrawn"]


class Parts(NamedTuple):
    """An amount of a balance by its origin. Rewards pay for orders only; refunds can be withdrawn, too."""

    rewards_minor: int = 0
    refunds_minor: int = 0

    @property
    def total_minor(self) -> int:
        return self.rewards_minor + self.refunds_minor

    def split_off(self, amount_minor: int) -> "Parts":
        """Return `amount_minor` of it, rewards first. The amount must not exceed the total."""
        rewards_minor = min(amount_minor, self.rewards_minor)
        return Parts(rewards_minor, amount_minor - rewards_minor)

    def minus(self, other: "Parts") -> "Parts":
        return Parts(self.rewards_minor - other.rewards_minor, self.refunds_minor - other.refunds_minor)


NO_PARTS = Parts()


class PaidBy(NamedTuple):
    """The part of an order that the buyer's balance paid, and what refunds of the order have credited to it."""

    from_balance: Parts = NO_PARTS
    to_balance: Parts = NO_PARTS


@dataclass(frozen=True, slots=True)
class RefundSplit:
    """The destinations of a refund: the charge, and the balance by origin."""

    to_charge_minor: int
    to_balance: Parts = NO_PARTS


def share_hold(spent: Parts, totals_minor: Mapping[UUID, int]) -> dict[UUID, Parts]:
    """Return the part of each order that the balance pays, in proportion to the totals, the remainder on the last."""
    amounts = apportion(spent.total_minor, list(totals_minor.values()))
    rewards = apportion(spent.rewards_minor, amounts)
    return {
        order_id: Parts(reward, amount - reward)
        for order_id, amount, reward in zip(totals_minor, amounts, rewards, strict=True)
    }


def split_refund(
    amount_minor: int, held_minor: int, returned_minor: int, paid: PaidBy, *, is_all_to_balance: bool
) -> RefundSplit:
    """Split a refund by the origin of the order's money: the charge first, then refunds, and rewards last.

    `returned_minor` is what the order has returned before, by refunds and chargebacks. A reward returns as a reward, so
    that a refund makes no money of it.
    """
    charge_left = held_minor - paid.from_balance.total_minor - (returned_minor - paid.to_balance.total_minor)
    to_charge_minor = 0 if is_all_to_balance else min(amount_minor, max(charge_left, 0))
    money_left = held_minor - paid.from_balance.rewards_minor - (returned_minor - paid.to_balance.rewards_minor)
    rest = amount_minor - to_charge_minor
    refunds_minor = min(rest, max(money_left - to_charge_minor, 0))
    return RefundSplit(to_charge_minor, Parts(rest - refunds_minor, refunds_minor))
