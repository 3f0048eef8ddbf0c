"""Keyed hashes: what is compared and counted without being stored. Six digits, or an address, would be found from a plain hash."""

import hashlib
import hmac


class KeyedHashes:
    """HMAC-SHA-256 under a key of its own, derived from the deployment's `SEALING_KEY`."""

    def __init__(self, key: str) -> None:
        self._key = hashlib.sha256(b"keyed hash:" + key.encode()).digest()

    def of(self, *parts: str) -> bytes:
        """The hash of these parts, each with its length, so that no two lists of parts are the same text."""
        text = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
        return hmac.digest(self._key, text, "sha256")
