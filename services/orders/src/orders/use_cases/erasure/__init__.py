"""A buyer's erasure, seen from their orders."""

__all__ = [
    "cancel_erasure",
    "erase_buyer",
    "evaluate_erasure",
]
