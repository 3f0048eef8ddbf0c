"""Authentication: tokens, issuers, keys, the caller and their permissions."""

__all__ = [
    "api_keys",
    "caller",
    "guards",
    "issuers",
    "jws_parser",
    "service_keys",
    "tokens",
    "user_lookup",
    "verification_keys",
]
