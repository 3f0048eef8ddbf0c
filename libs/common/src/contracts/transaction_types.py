"""The types of the escrow ledger's transactions (contract section 7)."""

from typing import Literal

TransactionType = Literal[
    "charge",
    "overpayment",
    "quarantine",
    "release",
    "refund",
    "quarantine_release",
    "refund_settled",
    "refund_reversed",
    "gateway_fee",
    "transfer_fee",
    "settlement",
    "referral_reward",
    "reward_moved",
    "balance_hold",
    "balance_returned",
    "balance_spent",
    "balance_refund",
    "goodwill_refund",
    "balance_withdrawal",
    "withdrawal_settled",
    "withdrawal_returned",
    "withdrawal_reversed",
    "chargeback",
    "chargeback_won",
    "refund_spared",
    "outside_refund",
    "outside_refund_returned",
    "outside_refund_corrected",
]
