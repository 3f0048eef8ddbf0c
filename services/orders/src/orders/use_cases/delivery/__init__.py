"""Delivery PINs."""

__all__ = [
    "check_pin_key",
    "explain_missing_pin",
    "issue_delivery_pin",
    "reissue_delivery_pin",
    "verify_delivery",
]
