"""Whether a receipt comes from the company that was given our key. Without a key nobody is believed."""

import hashlib
import hmac


def is_signed(raw: bytes, signature: str | None, key: str) -> bool:
    """Whether the signature is the hex HMAC SHA-512 of the bytes."""
    expected = hmac.new(key.encode(), raw, hashlib.sha512).hexdigest()
    given = (signature or "").strip().lower()
    return bool(key) and hmac.compare_digest(given.encode(), expected.encode())


def is_accompanied(given: str | None, key: str) -> bool:
    """Whether the key itself came along."""
    return bool(key) and hmac.compare_digest((given or "").encode(), key.encode())
