"""Postings to vendors' wallets."""

__all__ = [
    "credit_release",
    "debit_refund",
    "record_chargeback",
    "record_escrow_share",
    "waive_remainder",
]

STEPS = ("adjust_holds", "build_order_line", "credit_wallet", "debit_wallet", "post_credit")
