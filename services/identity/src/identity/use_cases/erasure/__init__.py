"""Erasure of a user on request."""

__all__ = [
    "record_evaluation",
    "request_erasure",
]
