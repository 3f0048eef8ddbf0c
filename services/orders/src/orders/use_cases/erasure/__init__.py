"""The erasure of a user."""

__all__ = [
    "cancel_erasure",
    "erase_buyer",
    "evaluate_erasure",
]
