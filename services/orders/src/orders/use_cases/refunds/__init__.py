"""Refunds of orders, as payments reports them."""

__all__ = [
    "record_refund_failed",
    "record_refund_posted",
    "record_refund_settled",
]
