"""The keys that sign access tokens."""

__all__ = [
    "ensure_signing_key",
    "retire_compromised_key",
    "retire_keys",
    "rotate_keys",
]
