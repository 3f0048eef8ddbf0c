"""The in-app feed and its preferences."""

__all__ = [
    "change_preferences",
    "read_all_notifications",
    "read_notification",
    "unsubscribe_from_mail",
]
