"""The delivery PIN's message and its repetition."""

__all__ = [
    "advance_pin",
    "end_pin",
    "watch_pin",
]
