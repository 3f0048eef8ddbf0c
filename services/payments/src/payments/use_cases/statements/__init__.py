"""Signed statements of vendors' money for payouts."""
