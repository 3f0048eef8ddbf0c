"""Charges and their settlement against an order."""

STEPS = (
    "create_overpayment_refund",
    "record_fee",
    "settle_charge",
)
