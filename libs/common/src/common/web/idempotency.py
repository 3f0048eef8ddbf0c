"""The Idempotency-Key of the operations that require one (contract section 3).

The gateway refuses first; in a service it is the second lock (decision 10).
"""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Depends
from starlette.requests import Request

from common.primitives.ids import parse_uuid
from common.primitives.problems import ValidationFailed


async def idempotency_key_of(request: Request) -> UUID:
    """The caller's key; raises ValidationFailed (422) when it is absent or not a UUID v4."""
    key = parse_uuid(request.headers.get("idempotency-key", ""))
    if key is None or key.version != 4:
        raise ValidationFailed.of("Idempotency-Key", "a UUID v4 is required")
    return key


IdempotencyKey = Annotated[UUID, Depends(idempotency_key_of)]
# Read from the request, so that its absence is refused in the contract's words; the reference is told by hand.
IDEMPOTENCY_KEY_SHOWN: Final[dict[str, Any]] = {
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": True,
            "schema": {"type": "string", "format": "uuid"},
            "description": "A UUID v4, fresh for each operation; the same one again gets the same answer.",
        }
    ]
}
