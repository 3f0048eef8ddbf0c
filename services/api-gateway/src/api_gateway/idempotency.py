"""What an Idempotency-Key means for a request (contract section 3): pure rules, without the store."""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from api_gateway.routing import Idempotency
from common.primitives.problems import Conflict, ValidationFailed

HEADER: Final = "Idempotency-Key"

_UUID_V4: Final = re.compile(rb"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}")
_STORED_ERRORS: Final = frozenset({400, 422, 423})


class OperationInProgress(Conflict):
    """409 with `Retry-After`: the first request under this key still runs."""

    detail = "The operation under this Idempotency-Key is already in progress."

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(retry_after_seconds)})


class ResponseNotStored(Conflict):
    """409: the operation was done, but its answer was longer than what is kept, so it cannot be given again."""

    detail = "The operation under this Idempotency-Key was done; its answer was too long to be kept. Read what it made."


@dataclass(frozen=True, slots=True)
class Leased:
    """The key is ours until the lease ends."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The answer that the first request under this key was given; without a content type when it was too long to be kept."""

    status: int
    content_type: str
    body: bytes

    @classmethod
    def too_long(cls, status: int) -> "Stored":
        """What stands in the place of an answer that is not kept: the key stays bound to what was done."""
        return cls(status, "", b"")

    @property
    def is_stored(self) -> bool:
        return self.content_type != ""


@dataclass(frozen=True, slots=True)
class InProgress:
    """Somebody holds the lease."""

    seconds_left: float


@dataclass(frozen=True, slots=True)
class OtherRequest:
    """The key belongs to a request with another method, path, query or body."""


Begun = Leased | Stored | InProgress | OtherRequest


def key_hash_of(header: bytes | None, rule: Idempotency) -> bytes | None:
    """SHA-256 of the key without case, or None when no key counts here. The key itself is kept nowhere.

    Raises ValidationFailed (422, invalid param `Idempotency-Key`) when it is missing where required, or no UUID v4.
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
    """What makes two requests the same: method, path (`/api/v1` = `/api`, ids without case), query and body."""
    parts = (method.encode(), canonical_path.lower().encode(), query, body)
    return hashlib.sha256(b"".join([piece for part in parts for piece in (len(part).to_bytes(8), part)])).digest()


def is_stored(status: int) -> bool:
    """Whether the answer is final: what a later try may answer otherwise is not kept."""
    return 200 <= status < 300 or status in _STORED_ERRORS
