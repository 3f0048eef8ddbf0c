"""Incoming messages of the messaging app, and its approved templates."""

__all__ = [
    "compare_templates",
    "process_messaging_item",
    "push_templates",
    "receive_messaging_webhook",
    "split_messaging_webhook",
]
