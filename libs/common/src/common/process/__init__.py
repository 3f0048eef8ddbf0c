"""The processes of a service and their settings."""

__all__ = [
    "service",
    "settings",
]
