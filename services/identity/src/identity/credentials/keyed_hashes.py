"""Keyed hashes (HMAC) of short secrets and addresses. A plain hash of six digits or an address is reversible by
guessing.
"""

import hashlib
import hmac


class KeyedHashes:
    """HMAC-SHA-256 under the hash key, which is stored encrypted (`common.database.hash_keys`)."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, *parts: str) -> bytes:
        """Hash the parts, each prefixed with its length, so that different lists of parts never collide."""
        text = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
        return hmac.digest(self._key, text, "sha256")


def hash_key_of_release_before(sealing_key: str) -> bytes:
    """Return the key that earlier releases derived from `SEALING_KEY`; their hashes stay valid."""
    return hashlib.sha256(b"keyed hash:" + sealing_key.encode()).digest()
