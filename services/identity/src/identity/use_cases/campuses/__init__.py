"""Campuses and their hubs."""

__all__ = [
    "change_campus",
    "change_hub",
    "open_campus",
    "open_hub",
]
