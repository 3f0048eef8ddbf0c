"""Files in the format of age (age-encryption.org/v1) with X25519 keys, which the program `age` opens too.

The header wraps a file key for one recipient; the content follows in chunks of 64 KiB, each authenticated.
"""

import base64
import hashlib
import hmac
import os
from itertools import pairwise
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

RECIPIENT_PREFIX: Final = "age"
IDENTITY_PREFIX: Final = "age-secret-key-"
_VERSION: Final = b"age-encryption.org/v1"
_X25519_LABEL: Final = b"age-encryption.org/v1/X25519"
_KEY_BYTES: Final = 16
_CHUNK_BYTES: Final = 64 * 1024
_TAG_BYTES: Final = 16
_BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CHECKSUM_WORDS: Final = 6


class WrongKey(Exception):
    """The file is encrypted for another key."""


def new_identity() -> tuple[str, str]:
    """Return a new private key (`AGE-SECRET-KEY-1...`) and its public key (`age1...`)."""
    private = X25519PrivateKey.generate()
    identity = _bech32(IDENTITY_PREFIX, private.private_bytes_raw()).upper()
    return identity, _bech32(RECIPIENT_PREFIX, private.public_key().public_bytes_raw())


def recipient_of(identity: str) -> str:
    """Return the public key of a private key. Raises ValueError."""
    return _bech32(RECIPIENT_PREFIX, _private_key(identity).public_key().public_bytes_raw())


def check_recipient(recipient: str) -> None:
    """Raise ValueError unless the text is a public key of age."""
    _from_bech32(RECIPIENT_PREFIX, recipient)


def encrypt(content: bytes, recipient: str) -> bytes:
    """Return the content encrypted for the owner of this public key. Raises ValueError."""
    public = _from_bech32(RECIPIENT_PREFIX, recipient)
    file_key = os.urandom(_KEY_BYTES)
    ephemeral = X25519PrivateKey.generate()
    share = ephemeral.public_key().public_bytes_raw()
    wrapping = _hkdf(ephemeral.exchange(X25519PublicKey.from_public_bytes(public)), share + public, _X25519_LABEL)
    wrapped = ChaCha20Poly1305(wrapping).encrypt(bytes(12), file_key, None)
    header = b"%s\n-> X25519 %s\n%s\n---" % (_VERSION, _base64(share), _base64(wrapped))
    nonce = os.urandom(16)
    stream = ChaCha20Poly1305(_hkdf(file_key, nonce, b"payload"))
    chunks = [content[start : start + _CHUNK_BYTES] for start in range(0, len(content), _CHUNK_BYTES)] or [b""]
    body = b"".join(
        stream.encrypt(_chunk_nonce(number, is_last=number == len(chunks) - 1), chunk, None)
        for number, chunk in enumerate(chunks)
    )
    return header + b" " + _base64(_mac(file_key, header)) + b"\n" + nonce + body


def decrypt(document: bytes, identity: str) -> bytes:
    """Return the content of a file for this private key.

    Raises WrongKey, and ValueError where the file or the key is malformed, cut or changed.
    """
    private = _private_key(identity)
    header, body = _split(document)
    file_key = _unwrapped(header, private)
    lines = header.rpartition(b"\n")
    signed, _, mac = lines[2].rpartition(b" ")
    if not hmac.compare_digest(_from_base64(mac), _mac(file_key, lines[0] + b"\n" + signed)):
        raise ValueError("the header was changed")
    stream = ChaCha20Poly1305(_hkdf(file_key, body[:16], b"payload"))
    size, rest = _CHUNK_BYTES + _TAG_BYTES, body[16:]
    chunks = [rest[start : start + size] for start in range(0, len(rest), size)]
    if not chunks:
        raise ValueError("the file is cut")
    try:
        return b"".join(
            stream.decrypt(_chunk_nonce(number, is_last=number == len(chunks) - 1), chunk, None)
            for number, chunk in enumerate(chunks)
        )
    except InvalidTag:
        raise ValueError("the content was cut or changed") from None


def _split(document: bytes) -> tuple[bytes, bytes]:
    """Return the header up to its authentication code, and the content."""
    if not document.startswith(_VERSION + b"\n"):
        raise ValueError("no file of age")
    mark = document.find(b"\n--- ")
    end = document.find(b"\n", mark + 1)
    if mark < 0 or end < 0:
        raise ValueError("the header is cut")
    return document[:end], document[end + 1 :]


def _unwrapped(header: bytes, private: X25519PrivateKey) -> bytes:
    public = private.public_key().public_bytes_raw()
    lines = header.split(b"\n")
    for stanza, wrapped in pairwise(lines):
        words = stanza.split(b" ")
        if words[:2] != [b"->", b"X25519"] or len(words) != 3:
            continue
        share = _from_base64(words[2])
        wrapping = _hkdf(private.exchange(X25519PublicKey.from_public_bytes(share)), share + public, _X25519_LABEL)
        try:
            return ChaCha20Poly1305(wrapping).decrypt(bytes(12), _from_base64(wrapped), None)
        except InvalidTag:
            continue
    raise WrongKey


def _private_key(identity: str) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(_from_bech32(IDENTITY_PREFIX, identity.strip().lower()))


def _hkdf(secret: bytes, salt: bytes, label: bytes) -> bytes:
    return HKDF(SHA256(), 32, salt, label).derive(secret)


def _mac(file_key: bytes, header: bytes) -> bytes:
    return hmac.new(_hkdf(file_key, b"", b"header"), header, hashlib.sha256).digest()


def _chunk_nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])


def _base64(content: bytes) -> bytes:
    return base64.b64encode(content).rstrip(b"=")


def _from_base64(text: bytes) -> bytes:
    return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)


def _bech32(prefix: str, content: bytes) -> str:
    words = _regrouped(content, 8, 5, pad=True)
    mixed = _checksum_input(prefix) + words + [0] * _CHECKSUM_WORDS
    checksum = _polymod(mixed) ^ 1
    words += [(checksum >> 5 * (5 - index)) & 31 for index in range(_CHECKSUM_WORDS)]
    return f"{prefix}1" + "".join(_BECH32[word] for word in words)


def _from_bech32(prefix: str, text: str) -> bytes:
    found, separator, rest = text.strip().rpartition("1")
    if not separator or found != prefix or len(rest) <= _CHECKSUM_WORDS or set(rest) - set(_BECH32):
        raise ValueError(f"the key does not start with {prefix}1, or has other characters than a key of age")
    words = [_BECH32.index(character) for character in rest]
    if _polymod(_checksum_input(prefix) + words) != 1:
        raise ValueError("the key is mistyped: its checksum differs")
    content = bytes(_regrouped(words[:-_CHECKSUM_WORDS], 5, 8, pad=False))
    if len(content) != 32:
        raise ValueError("the key has another length than an X25519 key")
    return content


def _checksum_input(prefix: str) -> list[int]:
    codes = prefix.encode()
    return [code >> 5 for code in codes] + [0] + [code & 31 for code in codes]


def _polymod(words: list[int]) -> int:
    checksum = 1
    for word in words:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ word
        for index, term in enumerate(_GENERATOR):
            checksum ^= term if top >> index & 1 else 0
    return checksum


def _regrouped(groups: bytes | list[int], size: int, new_size: int, *, pad: bool) -> list[int]:
    """Return the bits of the groups in groups of another size."""
    pending, bits, result = 0, 0, []
    for group in groups:
        pending, bits = pending << size | group, bits + size
        while bits >= new_size:
            bits -= new_size
            result.append(pending >> bits & (1 << new_size) - 1)
    if pad and bits:
        result.append(pending << new_size - bits & (1 << new_size) - 1)
    return result
