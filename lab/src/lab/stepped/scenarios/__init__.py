"""The scenarios: what users, staff, banks and the gateway do, and the end that each run must reach."""

from collections.abc import Mapping
from typing import Final

from lab.stepped.marketplace import USERS
from lab.stepped.scenarios import balances, keys, orders, payouts, pins, purchases, transfers, users
from lab.stepped.scenarios.steps import (
    Scenario,
    delivered_order,
    own_product,
    paid_order,
    placed_order,
    unpaid_order,
)

SCENARIOS: Final[Mapping[str, Scenario]] = {
    "purchase": Scenario(orders.purchase),
    "purchase-of-two-vendors": Scenario(purchases.purchase_of_two_vendors, purchases.products_of_each_vendor),
    "purchase-dispute-lost": Scenario(purchases.dispute_lost, purchases.half_delivered_purchase),
    "purchase-dispute-won": Scenario(purchases.dispute_won, purchases.half_delivered_purchase),
    "pins-of-one-payment": Scenario(pins.pins_of_one_payment, pins.unpaid_purchase, USERS),
    "bank-transfer": Scenario(transfers.two_into_one_account, unpaid_order),
    "bank-transfer-after-account-end": Scenario(transfers.after_account_end, transfers.order_without_others_due),
    "bank-transfer-after-order-end": Scenario(transfers.after_order_end, transfers.order_without_others_due),
    "balance-with-gateway-part": Scenario(balances.balance_with_gateway_part, balances.refund_in_balance),
    "refund-split": Scenario(balances.refund_split, balances.refund_in_balance),
    "withdrawal": Scenario(balances.withdrawal, balances.refund_in_balance),
    "withdrawal-failed": Scenario(balances.withdrawal_failed, balances.refund_in_balance),
    "expiry": Scenario(orders.expiry, own_product),
    "cancel-against-charge": Scenario(orders.cancel_against_charge),
    "cancelled-and-refunded": Scenario(orders.cancelled_and_refunded, paid_order),
    "dispute-and-split": Scenario(orders.dispute_and_split, paid_order),
    "return-after-release": Scenario(orders.return_after_release, delivered_order),
    "underpayment": Scenario(orders.underpayment, placed_order),
    "overpayment": Scenario(orders.overpayment, placed_order),
    "chargeback-lost": Scenario(orders.chargeback_lost, delivered_order),
    "chargeback-won": Scenario(orders.chargeback_won, delivered_order),
    "chargeback-before-delivery": Scenario(orders.chargeback_before_delivery, paid_order),
    "payout": Scenario(payouts.success, payouts.funds),
    "payout-failed-and-reset": Scenario(payouts.failed_and_reset, payouts.funds),
    "payout-reversed-and-reconciled": Scenario(payouts.reversed_and_reconciled, payouts.funds),
    "payout-unknown": Scenario(payouts.unknown, payouts.funds),
    "payout-late-result": Scenario(payouts.late_result, payouts.funds),
    "bank-details-quarantined": Scenario(payouts.bank_details_quarantined, payouts.funds),
    "pin-key-rotation": Scenario(keys.pin_key_rotation, keys.order_with_a_pin),
    "account-number-key-rotation": Scenario(keys.account_number_key_rotation, payouts.funds),
    "erasure": Scenario(users.erasure, users.buyer_with_an_order, USERS),
    "erasure-refused": Scenario(users.refused_erasure, users.buyer_with_an_open_order, USERS),
}

MONEY: Final = ("purchase", "payout", "cancelled-and-refunded", "chargeback-lost", "dispute-and-split")
"""Those whose two deaths are tried at every commit: each money movement, once in its usual way."""

__all__ = ["MONEY", "SCENARIOS", "Scenario"]
