"""Encryption of single values at rest and of the event fields that only one service may read (decision 36).

Each purpose has a key of its own, derived with HKDF from the variable of that purpose. An encrypted text names its key:
`2.<key id>.<nonce and ciphertext, base64url>`. The previous release wrote texts without a key id, under the key that
all services shared (`SEALING_KEY`). They are decrypted while that key is set.
"""

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import Field

from common.observability.telemetry import PREVIOUS_KEY_ACCEPTED

_NONCE_BYTES: Final = 12
_FORMAT: Final = "2."

PurposeKey = Annotated[str, Field(min_length=16)]
"""A setting: the key of one purpose."""
FurtherKey = Annotated[str, Field(pattern="^(.{16,})?$")]
"""A setting: a key that may be absent."""


class DecryptionFailed(Exception):
    """The encrypted text was changed, belongs to another context, or was encrypted under another key."""


class UnknownKey(DecryptionFailed):
    """The text names a key that this process does not hold: not distributed yet, or removed too early."""


class _Key:
    """One AES-256-GCM key, by its id; the id is empty for the key of the old format."""

    def __init__(self, key: bytes, *, has_id: bool) -> None:
        self._cipher = AESGCM(key)
        # Four bytes distinguish the few keys of one process and reveal nothing about the key.
        self.id = hashlib.sha256(b"key id:" + key).hexdigest()[:8] if has_id else ""

    @property
    def prefix(self) -> str:
        return f"{_FORMAT}{self.id}." if self.id else ""

    def encrypt(self, plain: str, context: str) -> str:
        nonce = os.urandom(_NONCE_BYTES)
        raw = nonce + self._cipher.encrypt(nonce, plain.encode(), context.encode())
        return self.prefix + base64.urlsafe_b64encode(raw).decode()

    def decrypt(self, body: str, context: str) -> str:
        try:
            raw = base64.urlsafe_b64decode(body)
            return self._cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], context.encode()).decode()
        except (InvalidTag, ValueError) as error:
            raise DecryptionFailed from error


class Encryptor:
    """Encrypts the values of one purpose under `current`, and decrypts those under `previous` too.

    `previous` is the other key of a rotation: first the next key, until every process can read it, then the former one.
    The context, such as an order's id, is bound to the text. `old_keys` decrypt texts of the old format. With
    `writes_old_format` the first of them encrypts, so that processes of the previous release can decrypt. `also` are
    the encryptors of other purposes whose texts are decrypted here. `counted_as` names the secret in the metric of uses
    of a previous key.
    """

    def __init__(
        self,
        purpose: str,
        current: str,
        previous: str = "",
        *,
        counted_as: str = "sealing-key",
        old_keys: Sequence[str] = (),
        writes_old_format: bool = False,
        also: Sequence["Encryptor"] = (),
    ) -> None:
        keys = [_Key(derive_key(value, purpose), has_id=True) for value in (current, previous) if value]
        old = [_Key(_old_key(value), has_id=False) for value in old_keys if value]
        self._counted_as = counted_as
        self._current = old[0] if writes_old_format and old else keys[0]
        self._old = old
        self._by_id: Mapping[str, _Key] = {key.id: key for other in also for key in other._by_id.values()} | {
            key.id: key for key in keys
        }
        # Texts under these keys need no re-encryption: the current keys of this purpose and of those in `also`.
        self._unretired: set[str] = {
            self._current.id,
            *(identifier for other in also for identifier in other._unretired),
        }

    def encrypt(self, plain: str, context: str) -> str:
        """Return the encrypted text, URL-safe."""
        return self._current.encrypt(plain, context)

    def decrypt(self, text: str, context: str) -> str:
        """Return the plain text. Raises DecryptionFailed, and UnknownKey when this process does not hold the key."""
        key_id, body = _parts(text)
        if key_id is None:
            return self._open_old(body, context)
        key = self._by_id.get(key_id)
        if key is None:
            raise UnknownKey(f"no key with the id {key_id} is held here")
        plain = key.decrypt(body, context)
        if key_id not in self._unretired:
            PREVIOUS_KEY_ACCEPTED.labels(self._counted_as).inc()
        return plain

    def _open_old(self, body: str, context: str) -> str:
        for key in self._old:
            try:
                plain = key.decrypt(body, context)
            except DecryptionFailed:
                continue
            if key is not self._current:
                PREVIOUS_KEY_ACCEPTED.labels(self._counted_as).inc()
            return plain
        raise DecryptionFailed

    @property
    def writes_old_format(self) -> bool:
        """Return whether texts are still encrypted for the previous release; re-encryption is impossible then."""
        return not self._current.id

    @property
    def unretired_patterns(self) -> list[str]:
        """SQL LIKE patterns of the texts that need no re-encryption."""
        return sorted(f"{_FORMAT}{key_id}.%" for key_id in self._unretired if key_id)


def derive_key(value: str, purpose: str) -> bytes:
    """32 bytes for one purpose from the value of a variable (HKDF-SHA-256, RFC 5869)."""
    return HKDF(SHA256(), 32, salt=None, info=b"campus:" + purpose.encode()).derive(value.encode())


def _old_key(value: str) -> bytes:
    return hashlib.sha256(b"sealing:" + value.encode()).digest()


def _parts(text: str) -> tuple[str | None, str]:
    """Return the key id and the rest; None as the key id of a text of the old format, which has no dot."""
    if not text.startswith(_FORMAT):
        return None, text
    key_id, _, body = text.removeprefix(_FORMAT).partition(".")
    return key_id, body
