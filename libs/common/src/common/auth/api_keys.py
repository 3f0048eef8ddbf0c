"""The form of API keys: `cm_live_`, 32 random symbols, and a checksum, so that scanners of leaked secrets find them.

The gateway exchanges a key at identity for a short token of the key, which services verify (decision 201). A key itself
reaches no other service.
"""

import re
import zlib
from datetime import timedelta
from typing import Final

from common.primitives.ids import new_symbols

PREFIX: Final = "cm_live_"
_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# 190 bits.
_SYMBOLS: Final = 32
# A CRC-32 in base 62.
_CHECKSUM_SYMBOLS: Final = 6
_FORM: Final = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{_SYMBOLS + _CHECKSUM_SYMBOLS}}}", re.ASCII)

KEY_AUDIENCE: Final = "campus-marketplace-keys"
"""The audience of a key's tokens. The release before, which reads no scopes, rejects it."""
KEY_TOKEN_LIFE: Final = timedelta(seconds=60)
KEY_CACHE_SECONDS: Final = 10
"""The gateway uses a token for so long: a suspended vendor's key ends within it, a revoked one at once."""
KEY_TOKEN_PATH: Final = "/internal/api-key-tokens"  # noqa: S105 - an address


def new_api_key() -> str:
    """Return a new key."""
    body = new_symbols(_SYMBOLS, _ALPHABET)
    return PREFIX + body + _checksum(body)


def is_api_key(text: str) -> bool:
    """Return whether a text has the form of a key with its right checksum."""
    body = text.removeprefix(PREFIX)
    return _FORM.fullmatch(text) is not None and _checksum(body[:_SYMBOLS]) == body[_SYMBOLS:]


def _checksum(body: str) -> str:
    number, symbols = zlib.crc32(body.encode()), ""
    for _ in range(_CHECKSUM_SYMBOLS):
        number, digit = divmod(number, len(_ALPHABET))
        symbols = _ALPHABET[digit] + symbols
    return symbols
