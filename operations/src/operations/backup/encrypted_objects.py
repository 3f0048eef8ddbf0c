"""Objects of the repository, encrypted with its passphrase: images of the store, and their lists."""

import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from operations.backup.errors import BackupFailed

_NONCE_BYTES: Final = 12


class ObjectCipher:
    """AES-256-GCM with a key of its own; the object's name is authenticated with its content."""

    def __init__(self, passphrase: str) -> None:
        key = HKDF(SHA256(), 32, None, b"campus backup: images").derive(passphrase.encode())
        self._cipher = AESGCM(key)

    def encrypt(self, name: str, content: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, name.encode())

    def decrypt(self, name: str, document: bytes) -> bytes:
        """Return the content. Raises BackupFailed where it was changed, or has another passphrase."""
        try:
            return self._cipher.decrypt(document[:_NONCE_BYTES], document[_NONCE_BYTES:], name.encode())
        except (InvalidTag, ValueError):
            raise BackupFailed(
                f"{name} of the repository was changed, or was encrypted with another passphrase.",
                "Restore from another copy of the repository.",
            ) from None
