"""API keys of vendors and of the platform (decision 201)."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.api_keys import KEY_TOKEN_PATH
from common.auth.guards import CREDENTIALS, one_of
from common.primitives.clock import iso
from common.web.client_address import client_address_of
from common.web.endpoint_table import Idempotency
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import RequestedPage, cursor_page, respond_page
from identity.dependencies import Dependencies
from identity.domain.api_keys import MANAGE, OWN
from identity.queries.api_keys import find_api_key, page_of_api_keys
from identity.responses.api_keys import ApiKey, ApiKeyToken, ApiKeyWithSecret
from identity.routes.service_callers import AUTHENTICATING
from identity.schemas.api_keys import CreateApiKeyRequest, ExchangeApiKeyRequest
from identity.use_cases.api_keys.create_api_key import RequestedApiKey
from identity.use_cases.api_keys.create_api_key import create_api_key as create
from identity.use_cases.api_keys.exchange_api_key import exchange_api_key as exchange
from identity.use_cases.api_keys.revoke_api_key import revoke_api_key as revoke

endpoint = Endpoints("API keys")

KEYS: Final = "/api/api-keys"


@endpoint("GET", KEYS, id="apiKeys.list", returns=list[ApiKey], allow=one_of(OWN, MANAGE))
async def list_api_keys(request: Request, caller: CurrentCaller, requested: RequestedPage) -> Response:
    """Return the keys of the own shop, newest first, without their secrets; a platform_admin sees all."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ("api-keys", caller.id)
    after = requested.time_position(scope)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        found = await page_of_api_keys(uow, after, requested.limit)
    page = cursor_page(
        requested,
        scope,
        found,
        position_of=lambda row: (row["created_at"], row["id"]),
        item_of=ApiKey.from_row,
    )
    return respond_page(request, page)


@endpoint(
    "POST",
    KEYS,
    id="apiKeys.create",
    returns=ApiKeyWithSecret,
    status=201,
    errors=(409,),
    allow=one_of(OWN, MANAGE, step_up=True),
    idempotency=Idempotency.IGNORED,
)
async def create_api_key(request: Request, caller: CurrentCaller, body: CreateApiKeyRequest) -> Response:
    """Create a key for a program. `key` is shown in this response only. An owner has at most 20 live keys, so two live
    together while a program changes from one to the next.
    """
    dependencies = dependencies_of(request, Dependencies)
    requested = RequestedApiKey(body.name, body.scopes, body.networks, body.expires_at)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        key_id, key = await create(uow, dependencies.hashes, caller, requested, now=dependencies.clock.now())
        shown = ApiKeyWithSecret.from_row(await find_api_key(uow, key_id), key=key)
    return ok(request, shown, status=201)


@endpoint("DELETE", f"{KEYS}/{{key_id}}", id="apiKeys.revoke", status=204, allow=one_of(OWN, MANAGE))
async def revoke_api_key(request: Request, caller: CurrentCaller, key_id: UUID) -> Response:
    """Revoke a key at once. It stays in the list for a year."""
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await find_api_key(uow, key_id)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        await revoke(uow, caller, key_id, now=now)
    dependencies.revocations.add(key_id, key_id, now)
    return Response(status_code=204)


@endpoint("POST", KEY_TOKEN_PATH, returns=ApiKeyToken, allow=CREDENTIALS)
async def exchange_api_key(request: Request, body: ExchangeApiKeyRequest) -> Response:
    """Return the token of a key for the gateway, which does not route this endpoint."""
    dependencies = dependencies_of(request, Dependencies)
    address = client_address_of(request)
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        exchanged = await exchange(
            uow, dependencies.hashes, dependencies.token_issuer, body.key, address, now=dependencies.clock.now()
        )
    if exchanged is None:
        return ok(request, ApiKeyToken(token=None, expires_at=None))
    return ok(request, ApiKeyToken(token=exchanged.token, expires_at=iso(exchanged.expires_at)))
