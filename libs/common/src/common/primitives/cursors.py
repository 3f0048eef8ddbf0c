"""Signed cursors: opaque positions in a list, bound to the list, its filters and its caller (contract section 1)."""

import base64
import hashlib
import hmac
from collections.abc import Sequence

import msgspec

from common.primitives.problems import ValidationFailed

# 128 bits: beyond forging, and short enough for a URL.
_SIGNATURE_BYTES = 16
# No list position is longer; a longer cursor is rejected before it is decoded.
_CURSOR_CHARACTERS_MAX = 512


class CursorSigner:
    """Signs and opens cursors with the key of the deployment (`CURSOR_KEY`)."""

    def __init__(self, key: str) -> None:
        self._key = hashlib.sha256(b"cursor:" + key.encode()).digest()

    def sign(self, scope: Sequence[object], position: Sequence[object]) -> str:
        """Return the cursor of `position` (strings and integers) in the list that `scope` names."""
        body = msgspec.json.encode(list(position))
        return base64.urlsafe_b64encode(self._signature(scope, body) + body).decode().rstrip("=")

    def open(self, scope: Sequence[object], cursor: str) -> list[object]:
        """Return the position that was signed. Raises ValidationFailed (422) for a changed cursor or one of another
        list.
        """
        if len(cursor) > _CURSOR_CHARACTERS_MAX or not cursor.isascii():
            raise self._invalid_cursor()
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except ValueError:
            raise self._invalid_cursor() from None
        signature, body = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._signature(scope, body)):
            raise self._invalid_cursor()
        position: list[object] = msgspec.json.decode(body)
        return position

    def _signature(self, scope: Sequence[object], body: bytes) -> bytes:
        named = msgspec.json.encode([str(part) for part in scope])
        return hmac.digest(self._key, len(named).to_bytes(4, "big") + named + body, "sha256")[:_SIGNATURE_BYTES]

    @staticmethod
    def _invalid_cursor() -> ValidationFailed:
        return ValidationFailed.of("cursor", "not a cursor of this list; start again without it")
