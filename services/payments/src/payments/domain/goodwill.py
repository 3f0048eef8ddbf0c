"""Goodwill refunds: an amount that the platform gives the buyer of an order (decision 205). Amounts in kobo."""

from dataclasses import dataclass
from uuid import UUID

from common.primitives.decisions import DecisionContent
from common.primitives.money import format_naira
from common.primitives.problems import Conflict, Forbidden, InvalidParam


class GoodwillTooLarge(Conflict):
    """The order's charge has less left, or the limit of one order is reached."""

    def __init__(self, left_minor: int) -> None:
        super().__init__(
            f"At most {format_naira(left_minor)} can be given for this order: what is left of its payment, within the "
            "limit of an order. Nothing was changed.",
            invalid_params=[InvalidParam("amountMinor", f"must not exceed {left_minor}")],
        )


class GoodwillPending(Conflict):
    detail = "Another goodwill refund of this order is prepared. Approve or reject it first."


class GoodwillDisputed(Conflict):
    detail = "The payer's bank disputes the payment and may return all of it. Wait for its decision."


class BuyerErased(Conflict):
    detail = "The buyer's account is erased: no balance can receive money."


class OwnGoodwill(Forbidden):
    detail = "Neither the buyer nor the vendor of an order decides on its goodwill refund."


@dataclass(frozen=True, slots=True)
class Goodwill(DecisionContent):
    """A prepared goodwill refund, which the buyer's balance receives."""

    order_id: UUID
    buyer_id: UUID
    amount_minor: int
    reason: str


def check_goodwill(
    amount_minor: int, *, held_minor: int, returned_minor: int, given_minor: int, order_max_minor: int
) -> None:
    """Raise GoodwillTooLarge (409) above what is left of the order's payment, or above the limit of one order.

    `returned_minor` is what refunds and chargebacks returned, `given_minor` earlier goodwill.
    """
    left_minor = min(held_minor - returned_minor, order_max_minor) - given_minor
    if amount_minor > left_minor:
        raise GoodwillTooLarge(max(0, left_minor))
