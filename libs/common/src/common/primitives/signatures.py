"""Ed25519 signatures between our services: one signs with a private key that nobody else has, the others verify.

A key is written as base64url: the 32 bytes of the private key, or the 32 bytes of the public one. The id of a key is derived from its
public half, so that a signature names its key and a rotation needs no register.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterable
from typing import Final, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_KEY_BYTES: Final = 32
_KEY_ID_CHARACTERS: Final = 16


class SigningKey:
    """The private half. It stays in the one service that signs."""

    def __init__(self, text: str) -> None:
        """Raises ValueError for a text that is no base64url of 32 bytes; the text itself is never part of the message."""
        self._key = Ed25519PrivateKey.from_private_bytes(_bytes_of(text))
        self.public_text = _text_of(self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        self.id = _id_of(self.public_text)

    @classmethod
    def check(cls, text: str) -> str:
        """The text, for a setting; raises ValueError when it is no key."""
        cls(text)
        return text

    def sign(self, message: bytes) -> str:
        """The signature in base64url."""
        return _text_of(self._key.sign(message))


class VerifyKeys:
    """The public halves that are believed: the present key, and during a rotation the one before or after it."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Raises ValueError when one is no base64url of 32 bytes, or when there is none."""
        keys = [(_id_of(_text_of(raw)), raw) for raw in map(_bytes_of, texts)]
        if not keys:
            raise ValueError("at least one public key is needed")
        self._keys = {key_id: Ed25519PublicKey.from_public_bytes(raw) for key_id, raw in keys}

    @classmethod
    def check(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        """The texts, for a setting; raises ValueError when one is no key, or when there is none."""
        cls(texts)
        return texts

    @classmethod
    def of(cls, key: SigningKey) -> Self:
        """Those that believe this one key."""
        return cls([key.public_text])

    def verify(self, key_id: str, message: bytes, signature: str) -> bool:
        """Whether a key that is believed made this signature over these bytes. A malformed signature is a wrong one."""
        key = self._keys.get(key_id)
        if key is None:
            return False
        try:
            key.verify(base64.urlsafe_b64decode(signature.encode()), message)
        except (InvalidSignature, ValueError):
            return False
        return True


def _bytes_of(text: str) -> bytes:
    try:
        raw = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raw = b""
    if len(raw) != _KEY_BYTES:
        raise ValueError("a key is 32 bytes in base64url")
    return raw


def _text_of(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode()


def _id_of(public_text: str) -> str:
    return hashlib.sha256(public_text.encode()).hexdigest()[:_KEY_ID_CHARACTERS]
