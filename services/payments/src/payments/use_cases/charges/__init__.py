"""Charges and their settlement against an order."""

STEPS = (
    "create_overpayment_refund",
    "settle_charge",
)
