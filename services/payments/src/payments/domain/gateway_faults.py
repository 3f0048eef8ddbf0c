"""Faults of our account at a gateway, which an operator must correct."""

from typing import Final

RUNBOOK: Final = "gateway-key-rejected"


def key_alert(gateway: str) -> str:
    """Return the deduplication key of the alert for a rejected key."""
    return f"payments:gateway-key:{gateway}"
