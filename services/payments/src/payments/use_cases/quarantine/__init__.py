"""Charges that match no order: four-eyes decisions."""

__all__ = [
    "approve_quarantine",
    "prepare_quarantine",
    "reject_quarantine",
]
