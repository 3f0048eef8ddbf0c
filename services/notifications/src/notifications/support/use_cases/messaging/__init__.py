"""Incoming messages of the messaging app."""

__all__ = [
    "close_dead_webhook",
    "dead_letter_webhook",
    "erase_dead_webhooks",
    "process_messaging_item",
    "receive_messaging_webhook",
    "replay_webhook",
    "split_messaging_webhook",
]
