"""Incoming messages of the messaging app, and its approved templates."""

__all__ = [
    "close_dead_webhook",
    "compare_templates",
    "dead_letter_webhook",
    "erase_dead_webhooks",
    "process_messaging_item",
    "push_templates",
    "receive_messaging_webhook",
    "replay_webhook",
    "split_messaging_webhook",
]
