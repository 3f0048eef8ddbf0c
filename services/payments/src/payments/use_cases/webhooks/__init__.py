"""Webhooks of the payment gateway."""

__all__ = [
    "close_dead_webhook",
    "confirm_webhook",
    "dead_letter_webhook",
    "process_webhook",
    "query_revised_webhook",
    "receive_webhook",
    "replay_webhook",
]
