"""Keyed hashes of buyers' mail addresses and phone numbers: orders are searched by them, and neither is stored (decision 37)."""

import hmac
import re
from typing import Final

_LOWERED: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_PHONE_PUNCTUATION: Final = re.compile(r"[\s().-]")
_PHONE: Final = re.compile(r"\+[1-9][0-9]{7,14}")


class AddressHashes:
    """HMAC-SHA-256 of normal forms, under the service's hash key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of_email(self, address: str | None) -> bytes | None:
        """The hash of an address in any case; None for a text without `@`."""
        return self._of("email", address.strip().translate(_LOWERED)) if address and "@" in address else None

    def of_phone(self, number: str | None) -> bytes | None:
        """The hash of a number in international form, or in the form that is dialled in Nigeria; None for any other text."""
        normal = _PHONE_PUNCTUATION.sub("", number or "")
        if normal.startswith("00"):
            normal = f"+{normal[2:]}"
        elif normal.startswith("0"):
            normal = f"+234{normal[1:]}"
        return self._of("phone", normal) if _PHONE.fullmatch(normal) else None

    def _of(self, kind: str, normal: str) -> bytes:
        return hmac.digest(self._key, f"{kind}:{normal}".encode(), "sha256")
