"""The Idempotency-Key of the operations that require one (contract section 3).

The edge checks it first; the service checks it again (decision 10).
"""

from hashlib import sha256
from typing import Annotated
from uuid import UUID

from fastapi import Depends
from starlette.requests import Request

from common.auth.caller import Caller
from common.database.idempotent_commands import IdempotentCommand
from common.primitives.ids import parse_uuid
from common.primitives.problems import ValidationFailed
from common.web.http import CurrentCaller


async def idempotency_key_of(request: Request) -> UUID:
    """Return the caller's key. Raises ValidationFailed (422) when it is absent or not a UUID v4."""
    key = parse_uuid(request.headers.get("idempotency-key", ""))
    if key is None or key.version != 4:
        raise ValidationFailed.of("Idempotency-Key", "a UUID v4 is required")
    return key


async def optional_idempotency_key_of(request: Request) -> UUID | None:
    """Return the caller's key, None when there is none. Raises ValidationFailed (422) when it is not a UUID v4."""
    return await idempotency_key_of(request) if "idempotency-key" in request.headers else None


async def idempotent_command_of(request: Request, caller: CurrentCaller) -> IdempotentCommand | None:
    """Return the caller's request as a command, None without a key. Raises ValidationFailed (422) for a malformed
    key.
    """
    key = await optional_idempotency_key_of(request)
    return None if key is None else await _command_of(request, caller, key)


async def required_idempotent_command_of(request: Request, caller: CurrentCaller) -> IdempotentCommand:
    """Return the caller's request as a command. Raises ValidationFailed (422) without a well-formed key."""
    return await _command_of(request, caller, await idempotency_key_of(request))


async def _command_of(request: Request, caller: Caller, key: UUID) -> IdempotentCommand:
    content = sha256(f"{request.method} {request.url.path}\n".encode() + await request.body())
    return IdempotentCommand(caller.id, key, content.digest())


IdempotencyKey = Annotated[UUID, Depends(idempotency_key_of)]
OptionalIdempotencyKey = Annotated[UUID | None, Depends(optional_idempotency_key_of)]
RequiredIdempotentCommand = Annotated[IdempotentCommand, Depends(required_idempotent_command_of)]
OptionalIdempotentCommand = Annotated[IdempotentCommand | None, Depends(idempotent_command_of)]
