"""Faults of our accounts at the gateways."""

__all__ = ["alert_rejected_key", "recheck_rejected_keys"]
