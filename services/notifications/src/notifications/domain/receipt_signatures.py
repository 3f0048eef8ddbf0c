"""Verification of SMS delivery receipts. Without a configured key every receipt is rejected."""

import hashlib
import hmac


def is_signed(raw: bytes, signature: str | None, key: str) -> bool:
    """Return whether the signature is the hex HMAC SHA-512 of the bytes."""
    expected = hmac.new(key.encode(), raw, hashlib.sha512).hexdigest()
    given = (signature or "").strip().lower()
    return bool(key) and hmac.compare_digest(given.encode(), expected.encode())


def is_key_valid(given: str | None, key: str) -> bool:
    """Return whether the given key equals the configured one."""
    return bool(key) and hmac.compare_digest((given or "").encode(), key.encode())
