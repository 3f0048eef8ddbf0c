"""The public keys that verify access tokens, without the response envelope (contract section 1.2), and their age."""

import hashlib
from typing import Annotated

import msgspec
from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import OPEN, one_of
from common.web.endpoint_table import Quota
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of
from common.web.pages import OffsetPage, offset_page, respond_offset_page
from common.web.responses import NOT_MODIFIED
from identity.dependencies import Dependencies
from identity.domain.key_rotation import KEY_SET_SECONDS
from identity.queries.keys import list_public_keys as published
from identity.queries.keys import page_of_signing_keys
from identity.responses.keys import JsonWebKeySet, SigningKey

endpoint = Endpoints("auth")


@endpoint(
    "GET",
    "/.well-known/jwks.json",
    id="auth.listSigningKeys",
    returns=JsonWebKeySet,
    responses=NOT_MODIFIED,
    allow=OPEN,
    quota=Quota.UNCOUNTED,
)
async def list_public_keys(request: Request) -> Response:
    """Return the public keys that verify access tokens (RFC 7517)."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        keys = await published(uow)
    body = msgspec.json.encode(JsonWebKeySet(keys=keys))
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"Cache-Control": f"public, max-age={KEY_SET_SECONDS}", "ETag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


@endpoint(
    "GET",
    "/api/signing-keys",
    id="signingKeys.list",
    returns=list[SigningKey],
    allow=one_of("settings:manage", "audits:read"),
)
async def list_signing_keys(
    request: Request, caller: CurrentCaller, page: Annotated[OffsetPage, Depends(offset_page("created_at"))]
) -> Response:
    """List all keys with their age, newest first. Retired ones stay listed."""
    dependencies = dependencies_of(request, Dependencies)
    # No caller's role may read the table, which holds the encrypted private halves.
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        found = await page_of_signing_keys(uow, dependencies.clock.now(), page=page)
    return respond_offset_page(request, page, found)
