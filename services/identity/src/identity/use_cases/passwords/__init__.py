"""Changing and resetting passwords."""

__all__ = [
    "change_password",
    "reset_password",
]
