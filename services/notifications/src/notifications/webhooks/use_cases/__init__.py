"""Outgoing webhooks (Standard Webhooks)."""

__all__ = [
    "change_endpoint",
    "claim_webhooks",
    "create_endpoint",
    "record_event",
    "remove_endpoint",
    "replay_events",
    "rotate_secret",
    "send_test_event",
    "send_webhook",
]

STEPS = ("alerts", "disable_endpoint", "record_attempt")
