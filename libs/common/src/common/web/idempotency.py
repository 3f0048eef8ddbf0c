"""The Idempotency-Key of the operations that require one (contract section 3).

The edge checks it first; the service checks it again (decision 10).
"""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Depends
from starlette.requests import Request

from common.primitives.ids import parse_uuid
from common.primitives.problems import ValidationFailed


async def idempotency_key_of(request: Request) -> UUID:
    """The caller's key. Raises ValidationFailed (422) when it is absent or not a UUID v4."""
    key = parse_uuid(request.headers.get("idempotency-key", ""))
    if key is None or key.version != 4:
        raise ValidationFailed.of("Idempotency-Key", "a UUID v4 is required")
    return key


async def optional_idempotency_key_of(request: Request) -> UUID | None:
    """The caller's key, None when there is none. Raises ValidationFailed (422) when it is not a UUID v4."""
    return await idempotency_key_of(request) if "idempotency-key" in request.headers else None


IdempotencyKey = Annotated[UUID, Depends(idempotency_key_of)]
OptionalIdempotencyKey = Annotated[UUID | None, Depends(optional_idempotency_key_of)]
# The header is read from the request, so that its absence has the contract's error; OpenAPI is completed by hand.
IDEMPOTENCY_KEY_SHOWN: Final[dict[str, Any]] = {
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": True,
            "schema": {"type": "string", "format": "uuid"},
            "description": "A UUID v4, new for each operation; a repeated request with it gets the same response.",
        }
    ]
}
