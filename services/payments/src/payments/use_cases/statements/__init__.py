"""Signed statements of vendors' money for payouts."""

__all__ = ["issue_statement"]
