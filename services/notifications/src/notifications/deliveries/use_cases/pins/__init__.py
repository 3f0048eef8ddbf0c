"""Delivery PIN messages and their watches."""

__all__ = [
    "advance_pin",
    "close_pin_watches",
    "watch_pin",
]

STEPS = ("close_watches",)
