"""Push devices."""

__all__ = [
    "register_device",
    "remove_device",
]
