"""Charges and their settlement against an order."""

__all__ = ["create_overpayment_refund"]

STEPS = ("settle_charge",)
