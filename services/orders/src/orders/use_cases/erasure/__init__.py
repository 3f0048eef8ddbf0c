"""A buyer's erasure, seen from their orders."""

__all__ = [
    "erase_buyer",
    "evaluate_erasure",
    "keep_buyer",
]
