"""Return requests."""

__all__ = [
    "approve_return",
    "find_returned_order",
    "reject_return",
    "request_return",
]
