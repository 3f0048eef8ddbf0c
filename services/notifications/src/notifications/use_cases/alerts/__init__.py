"""Alerts for the people on call."""

__all__ = [
    "close_alert",
    "page_on_call",
    "record_alert",
]
