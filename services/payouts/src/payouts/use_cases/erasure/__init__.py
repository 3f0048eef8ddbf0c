"""Open matters that block a user's erasure."""

__all__ = ["evaluate_erasure"]
