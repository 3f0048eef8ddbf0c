"""Releases of quarantined accounts by two people."""

__all__ = ["approve_release", "prepare_release", "reject_release"]
