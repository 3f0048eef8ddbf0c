"""Faults of our account at the gateway, which an operator must correct."""

from typing import Final

RUNBOOK: Final = "gateway-key-rejected"


def key_alert(gateway: str) -> str:
    """Return the deduplication key of the alert for a rejected key. While it is open, payouts through that gateway
    pause.
    """
    return f"payouts:gateway-key:{gateway}"
