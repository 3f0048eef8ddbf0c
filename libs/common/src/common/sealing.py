"""Encryption of the few event fields that only their addressee may read, such as a one-time code."""

import base64
import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


class SealBroken(Exception):
    """The sealed text was changed, belongs to another context, or was sealed with another key."""


class Sealer:
    """AES-256-GCM under the deployment's `SEALING_KEY`; the context (such as an order's id) is bound to the text."""

    def __init__(self, key: str) -> None:
        self._cipher = AESGCM(hashlib.sha256(b"sealing:" + key.encode()).digest())

    def seal(self, plain: str, context: str) -> str:
        """The sealed text, URL-safe."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = nonce + self._cipher.encrypt(nonce, plain.encode(), context.encode())
        return base64.urlsafe_b64encode(sealed).decode()

    def unseal(self, sealed: str, context: str) -> str:
        """The plain text; raises SealBroken."""
        try:
            raw = base64.urlsafe_b64decode(sealed)
            return self._cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], context.encode()).decode()
        except (InvalidTag, ValueError) as error:
            raise SealBroken from error
