"""Keyed hashes of buyers' mail addresses and phone numbers: orders are searched by them, and neither is stored
(decision 37).
"""

import hmac
from typing import Final

from common.primitives.phone_numbers import phone_number_or_none

_LOWERED: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class AddressHashes:
    """HMAC-SHA-256 of normal forms, under the service's hash key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of_email(self, address: str | None) -> bytes | None:
        """Return the hash of an address in any case; None for a text without `@`."""
        return self._of("email", address.strip().translate(_LOWERED)) if address and "@" in address else None

    def of_phone(self, number: str | None) -> bytes | None:
        """Return the hash of a number in any form that a profile accepts; None for any other text."""
        normal = phone_number_or_none(number or "")
        return self._of("phone", normal) if normal else None

    def _of(self, kind: str, normal: str) -> bytes:
        return hmac.digest(self._key, f"{kind}:{normal}".encode(), "sha256")
