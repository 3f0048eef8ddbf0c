"""Ed25519 signatures between our services: one service holds the private key and signs, the others verify.

A key is written in base64url: the 32 bytes of the private or of the public key. The id of a key is derived from its
public half, so that a signature names its key and a rotation needs no registry.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from common.primitives.encryption import Encryptor

_KEY_BYTES: Final = 32
_KEY_ID_CHARACTERS: Final = 16


class SigningKey:
    """The private key. Only the service that signs holds it."""

    def __init__(self, text: str) -> None:
        """Raise ValueError unless the text is base64url of 32 bytes; the message never contains the text."""
        self._key = Ed25519PrivateKey.from_private_bytes(_bytes_of(text))
        self.public_text = _text_of(self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        self.id = _id_of(self.public_text)

    @classmethod
    def check(cls, text: str) -> str:
        """Return the text of a setting. Raises ValueError when it is not a key."""
        cls(text)
        return text

    def sign(self, message: bytes) -> str:
        """Return the signature in base64url."""
        return _text_of(self._key.sign(message))


class VerifyKeys:
    """The accepted public keys: the current key, and during a rotation the previous or the next one."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Raise ValueError when a text is not base64url of 32 bytes, or when there is none."""
        keys = [(_id_of(_text_of(raw)), raw) for raw in map(_bytes_of, texts)]
        if not keys:
            raise ValueError("at least one public key is needed")
        self._keys = {key_id: Ed25519PublicKey.from_public_bytes(raw) for key_id, raw in keys}

    @classmethod
    def check(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Return the texts of a setting. Raises ValueError when one is not a key, or when there is none."""
        cls(texts)
        return texts

    @classmethod
    def of(cls, key: SigningKey) -> Self:
        """Return the verification keys that accept this one key."""
        return cls([key.public_text])

    def verify(self, key_id: str, message: bytes, signature: str) -> bool:
        """Return whether an accepted key made this signature over these bytes. A malformed signature is invalid."""
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


@dataclass(frozen=True, slots=True)
class Signatures:
    """The keys with which a service signs and verifies. Its composition root sets them.

    `checkpoints` authenticates sums that the service stores for itself.
    """

    signing_key: SigningKey | None = None
    verify_keys: VerifyKeys | None = None
    checkpoints: Encryptor | None = None
