"""Incoming messages of the messaging app."""

__all__ = [
    "process_messaging_item",
    "receive_messaging_webhook",
    "split_messaging_webhook",
]
