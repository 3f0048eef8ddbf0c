"""Keyed hashes: what is compared and counted without being stored. Six digits, or an address, would be found from a plain hash."""

import hashlib
import hmac


class KeyedHashes:
    """HMAC-SHA-256 under the hash key, which is stored encrypted (`common.database.hash_keys`)."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, *parts: str) -> bytes:
        """The hash of these parts, each with its length, so that no two lists of parts are the same text."""
        text = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
        return hmac.digest(self._key, text, "sha256")


def hash_key_of_release_before(sealing_key: str) -> bytes:
    """The key that earlier releases derived from `SEALING_KEY`: their hashes stay valid."""
    return hashlib.sha256(b"keyed hash:" + sealing_key.encode()).digest()
