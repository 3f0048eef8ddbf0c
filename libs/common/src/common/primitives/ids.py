"""The only caller of randomness in the project: identifiers and secrets."""

import os
import re
import secrets
import time
from typing import ClassVar
from uuid import UUID

_REQUEST_ID = re.compile(r"req_[A-Za-z0-9]{16,64}", re.ASCII)
_UUID_TEXT = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}", re.ASCII)


class _Clock:
    """Time in 1/4096 ms. `last` is that of this process's last identifier."""

    last: ClassVar[int] = 0

    @classmethod
    def next(cls) -> int:
        cls.last = max(cls.last + 1, (time.time_ns() << 12) // 1_000_000)
        return cls.last


def new_id() -> UUID:
    """Return a UUIDv7 that sorts after each earlier one of this process, so that indexes grow at their end.

    The 12 bits after the milliseconds are their fraction (RFC 9562, section 6.2, method 3). The last 62 bits are
    random.
    """
    milliseconds, fraction = divmod(_Clock.next(), 4096)
    value = (milliseconds & ((1 << 48) - 1)) << 80
    value |= 0x7 << 76
    value |= fraction << 64
    value |= 0b10 << 62
    value |= int.from_bytes(os.urandom(8), "big") >> 2
    return UUID(int=value)


def new_request_id() -> str:
    """`req_` and 32 hex digits: the correlation id of one request (contract section 4)."""
    return "req_" + secrets.token_hex(16)


def is_request_id(text: str) -> bool:
    """Return whether a client's value is a valid request id."""
    return _REQUEST_ID.fullmatch(text) is not None


def parse_uuid(text: str) -> UUID | None:
    """Return the UUID of a text in the canonical form, in either case; None for any other text."""
    return UUID(text) if _UUID_TEXT.fullmatch(text) else None


def new_secret(bytes_count: int = 32) -> str:
    """Return an unguessable URL-safe text."""
    return secrets.token_urlsafe(bytes_count)


def new_symbols(length: int, alphabet: str) -> str:
    """`length` random characters of `alphabet`, each uniformly drawn."""
    return "".join(secrets.choice(alphabet) for _ in range(length))


def new_digits(length: int) -> str:
    """`length` random decimal digits, each uniformly drawn."""
    return "".join(str(secrets.randbelow(10)) for _ in range(length))
