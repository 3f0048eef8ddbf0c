"""Postings to vendors' wallets."""

__all__ = [
    "credit_release",
    "debit_refund",
    "hold_disputed",
    "record_chargeback",
    "record_escrow_share",
    "waive_remainder",
]

STEPS = ("build_order_line", "credit_wallet", "debit_wallet")
