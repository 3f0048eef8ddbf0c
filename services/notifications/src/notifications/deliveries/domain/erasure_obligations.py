"""Texts for the obligations that block an erasure (decision 25)."""

from collections.abc import Iterable, Mapping
from typing import Final

from notifications.deliveries.domain.templates import TEXT_MAX

# Keys are the services' obligation codes (docs/privacy.md). Several codes share one text.
_TEXTS: Final[Mapping[str, str]] = {
    "open_orders": "an order that is not finished",
    "undecided_returns": "a return that is not decided",
    "unsettled_refunds": "a refund that has not arrived",
    "open_sales": "a sale that is not finished",
    "recent_sales": "a recent sale that can still be returned",
    "escrow_held": "money held for an order",
    "escrow_held_for_sales": "money of your sales that is not released yet",
    "unsettled_refunds_of_sales": "a refund of a sale that has not arrived",
    "quarantined_charges_of_sales": "a payment of a sale that we are checking",
    "open_chargebacks_of_sales": "a payment of a sale that a bank has asked back",
    "quarantined_charges": "a payment that we are checking",
    "open_chargebacks": "a payment that a bank has asked back",
    "refunded_balance": "refunded money in your balance",
    "open_withdrawals": "money on its way from your balance to your bank",
    "wallet_balance": "money in your wallet",
    "wallet_remainder": (
        "less in your wallet than the smallest payout: give it up there, or sell on until a payout can pay it"
    ),
    "wallet_held": "money held in your wallet",
    "wallet_debt": "money that your wallet owes",
    "wallet_locked": "money of your sales that is not released yet",
    "pending_payouts": "a payout on its way",
    "open_exceptions": "a payout that we are checking",
    "undecided_reconciliations": "a payout that we are checking",
    "staff_role": "a role among our staff",
    "vendor_suspended": "a shop that is suspended",
    "vendor_opened": "a shop that opened since you asked",
}
OTHER: Final = "something that is still under way"


def obligations_text(matters: Iterable[str]) -> str:
    """Join the distinct texts of the obligations in a stable order, within the length limit of a message parameter."""
    texts = list(dict.fromkeys(_TEXTS.get(matter, OTHER) for matter in sorted(matters))) or [OTHER]
    while len(line := "; ".join(texts)) > TEXT_MAX:
        texts[-2:] = [OTHER]
    return line
