"""Verification of SMS delivery receipts. Without a configured key every receipt is rejected."""

import base64
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReceiptKeys:
    """The key of Termii and Africa's Talking; the address of Twilio's receipts, and the tokens that may sign them."""

    shared: str
    twilio_url: str
    twilio_tokens: tuple[str, ...]


def is_signed(raw: bytes, signature: str | None, key: str) -> bool:
    """Return whether the signature is the hex HMAC SHA-512 of the bytes."""
    expected = hmac.new(key.encode(), raw, hashlib.sha512).hexdigest()
    given = (signature or "").strip().lower()
    return bool(key) and hmac.compare_digest(given.encode(), expected.encode())


def is_key_valid(given: str | None, key: str) -> bool:
    """Return whether the given key equals the configured one."""
    return bool(key) and hmac.compare_digest((given or "").encode(), key.encode())


def is_signed_by_twilio(form: Iterable[tuple[str, str]], signature: str | None, keys: ReceiptKeys) -> bool:
    """Return whether the signature is the base64 HMAC SHA-1 of our address and the sorted fields under a token."""
    signed = keys.twilio_url + "".join(f"{name}{value}" for name, value in sorted(form))
    given = (signature or "").strip().encode()
    digests = [
        base64.b64encode(hmac.new(token.encode(), signed.encode(errors="replace"), hashlib.sha1).digest())
        for token in keys.twilio_tokens
    ]
    return any(hmac.compare_digest(given, digest) for digest in digests)
