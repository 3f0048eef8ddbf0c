"""Alerts for the on-call staff."""

__all__ = [
    "close_alert",
    "page_on_call",
    "record_alert",
]
