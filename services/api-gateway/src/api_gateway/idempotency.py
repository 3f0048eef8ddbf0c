"""The rules of an Idempotency-Key (contract section 3), without the store."""

import hashlib
import re
from typing import Final

import msgspec

from common.primitives.problems import Conflict, ValidationFailed
from common.web.endpoint_table import Idempotency

HEADER: Final = "Idempotency-Key"

_UUID_V4: Final = re.compile(rb"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}")
_STORED_ERRORS: Final = frozenset({400, 422, 423})


class OperationInProgress(Conflict):
    """409 with `Retry-After`: the first request with this key is still running."""

    detail = "The operation with this Idempotency-Key is already in progress."

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(retry_after_seconds)})


class ResponseNotStored(Conflict):
    """409: the operation is done, but its response was too long to be stored and cannot be replayed."""

    detail = (
        "The operation with this Idempotency-Key is done. Its response was too long to be stored. Read the "
        "resource instead."
    )


class Leased(msgspec.Struct, frozen=True):
    """This request holds the key until the lease ends."""


class Stored(msgspec.Struct, frozen=True):
    """The stored response of the first request with this key. An empty content type marks one that was too long."""

    status: int
    content_type: str
    body: bytes

    @classmethod
    def too_long(cls, status: int) -> "Stored":
        """Return the marker of a response that is too long: the key stays bound to the operation."""
        return cls(status, "", b"")

    @property
    def is_stored(self) -> bool:
        return self.content_type != ""


class InProgress(msgspec.Struct, frozen=True):
    """Another request holds the lease."""

    seconds_left: float


class OtherRequest(msgspec.Struct, frozen=True):
    """The key belongs to a request with another method, path, query or body."""


ClaimResult = Leased | Stored | InProgress | OtherRequest


def key_hash_of(header: bytes | None, rule: Idempotency) -> bytes | None:
    """Return SHA-256 of the lower-case key; None when no key applies. The key itself is never stored.

    Raises ValidationFailed (422, invalid param `Idempotency-Key`) when it is required but missing, or not a UUID v4.
    """
    if rule is Idempotency.IGNORED:
        return None
    if header is None:
        if rule is Idempotency.REQUIRED:
            raise ValidationFailed.of(HEADER, "is required here: a UUID v4, new for each operation")
        return None
    if _UUID_V4.fullmatch(header) is None:
        raise ValidationFailed.of(HEADER, "must be a UUID v4")
    return hashlib.sha256(header.lower()).digest()


def fingerprint_of(method: str, canonical_path: str, query: bytes, body: bytes) -> bytes:
    """Return the hash that identifies a request: method, path (`/api/v1` = `/api`, ids in lower case), query and
    body.
    """
    parts = (method.encode(), canonical_path.lower().encode(), query, body)
    return hashlib.sha256(b"".join([piece for part in parts for piece in (len(part).to_bytes(8), part)])).digest()


def is_stored(status: int) -> bool:
    """Return whether the response is final. A response that a retry may change is not stored."""
    return 200 <= status < 300 or status in _STORED_ERRORS
