"""Signed statements received from payments."""

__all__ = ["check_released_credits", "correct_wallet", "hold_vendors", "record_statement"]

STEPS = ("verify_statement",)
