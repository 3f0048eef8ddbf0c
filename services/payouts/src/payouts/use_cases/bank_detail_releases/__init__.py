"""Releases of quarantined accounts by two people."""
