"""Authentication: tokens, issuers, keys, the caller and their permissions."""

__all__ = [
    "caller",
    "guards",
    "issuers",
    "service_keys",
    "tokens",
    "user_lookup",
    "verification_keys",
]
