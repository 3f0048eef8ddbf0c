"""Compression: gzip for clients that accept it, on routes whose responses hold no secret.

**Public catalog responses are compressed** (`is_compressed`) from 1 KiB on, with gzip. No other response is: its
length would reveal a secret next to text chosen by an attacker (BREACH). The table refuses the flag on a route that
needs a token. Both forms share a weak `ETag` and send `Vary: Accept-Encoding`.
"""

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from api_gateway.headers import Headers

# Below this size compression saves no packet.
COMPRESSED_FROM_BYTES: Final = 1024
# A page of twenty products (12 KB) takes 70 us at level 1 and 170 us at level 6, which saves 6 % more bytes: worth it
# for shared pages.
_LEVEL: Final = 1
_LEVEL_SHARED: Final = 6
# Without modification time, name and operating system the output is deterministic.
_GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_STORED_BYTES_MAX: Final = 65_535
_GZIP_NAMES: Final = frozenset({b"gzip", b"x-gzip"})

ENCODED: Final = (b"content-encoding", b"gzip")
VARIES: Final = (b"vary", b"Accept-Encoding")


@dataclass(frozen=True, slots=True)
class Accepted:
    """The content codings that a client accepts: gzip at least as preferred as the plain body, and whether plain is
    excluded.
    """

    gzip: bool
    refuses_plain: bool

    def compresses(self, size: int) -> bool:
        """Return whether a body of this size is sent compressed."""
        return self.gzip and (size >= COMPRESSED_FROM_BYTES or self.refuses_plain)


@lru_cache(maxsize=256)
def accepted_codings(accept_encoding: bytes | None) -> Accepted:
    """Parse `Accept-Encoding`. An invalid weight counts as 0: every client can read the plain body."""
    weights: dict[bytes, float] = {}
    for offer in (accept_encoding or b"").lower().split(b","):
        name, _, parameters = offer.partition(b";")
        if name.strip():
            weights[name.strip()] = _weight(parameters.strip())
    wildcard_weight = weights.get(b"*")
    named = [weights[name] for name in _GZIP_NAMES if name in weights]
    gzip_weight = max(named) if named else wildcard_weight or 0.0
    refuses_plain = weights.get(b"identity", wildcard_weight) == 0
    return Accepted(gzip_weight > 0 and gzip_weight >= weights.get(b"identity", 0.0), refuses_plain)


def _weight(parameters: bytes) -> float:
    if not parameters:
        return 1.0
    name, _, value = parameters.partition(b"=")
    try:
        weight = float(value) if name.strip() == b"q" else 0.0
    except ValueError:
        return 0.0
    return weight if 0.0 <= weight <= 1.0 else 0.0


class CompressedPrefix:
    """The common start of many responses, compressed once. Each response's own end follows uncompressed in the same
    gzip member.
    """

    __slots__ = ("_checksum", "_deflated", "_length")

    def __init__(self, prefix: bytes) -> None:
        deflate = zlib.compressobj(_LEVEL_SHARED, wbits=-zlib.MAX_WBITS)
        # Flushed to a byte boundary, so that a stored block may follow.
        self._deflated = deflate.compress(prefix) + deflate.flush(zlib.Z_SYNC_FLUSH)
        self._checksum, self._length = zlib.crc32(prefix), len(prefix)

    @property
    def size(self) -> int:
        return len(self._deflated)

    def with_suffix(self, end: bytes) -> bytes:
        """Return the whole response as gzip."""
        parts = [_GZIP_HEAD, self._deflated]
        last = max(0, (len(end) - 1) // _STORED_BYTES_MAX)
        for number in range(last + 1):
            block = end[number * _STORED_BYTES_MAX : (number + 1) * _STORED_BYTES_MAX]
            # A stored block: last-block flag, length, and the length's complement (RFC 1951, 3.2.4).
            parts.append(b"\x01" if number == last else b"\x00")
            parts.append(len(block).to_bytes(2, "little") + (len(block) ^ 0xFFFF).to_bytes(2, "little") + block)
        parts.append(zlib.crc32(end, self._checksum).to_bytes(4, "little"))
        parts.append(((self._length + len(end)) & 0xFFFFFFFF).to_bytes(4, "little"))
        return b"".join(parts)


def compressed(body: bytes, *, is_shared: bool = False) -> bytes:
    """Compress a whole body. With `is_shared` many readers get these bytes, so a higher level pays off."""
    deflate = zlib.compressobj(_LEVEL_SHARED if is_shared else _LEVEL, wbits=zlib.MAX_WBITS | 16)
    return deflate.compress(body) + deflate.flush()


def with_weak_etag(headers: Headers) -> Headers:
    """Weaken the ETag: the plain and the compressed body share it but differ in bytes."""
    return [
        (name, b"W/" + value) if name == b"etag" and not value.startswith(b"W/") else (name, value)
        for name, value in headers
    ]
