"""Sign-in by an institution's identity provider (contract section 10.6)."""

from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import CREDENTIALS, PUBLIC, SIGNATURE
from common.primitives.problems import Unauthorized
from common.primitives.web_origins import is_on_allowed_origin
from common.web.endpoint_table import KIB
from common.web.endpoints import Endpoints
from common.web.http import QueryText, dependencies_of, ok
from common.web.raw_bodies import read_raw_body
from common.web.responses import WebhookReceipt
from identity.clients.oidc_provider import OidcProvider
from identity.dependencies import Dependencies
from identity.domain.errors import InvalidLogoutToken, ReturnNotAllowed, UnknownProvider, WrongOneTimeCode
from identity.domain.oidc import ReturnAddress
from identity.responses.sessions import SignInProvider, Tokens
from identity.routes.service_callers import AUTHENTICATING
from identity.routes.sign_in_log import record_sign_in, recorded_sign_in
from identity.schemas.sessions import ExchangeCodeRequest
from identity.use_cases.oidc.exchange_code import exchange_code as exchange
from identity.use_cases.oidc.finish_sign_in import Callback
from identity.use_cases.oidc.finish_sign_in import finish_sign_in as finish
from identity.use_cases.oidc.receive_logout import receive_logout
from identity.use_cases.oidc.start_sign_in import start_sign_in as start

endpoint = Endpoints("auth")

LOGOUT_BYTES_MAX: Final = 16 * KIB
# A program listens on a port that it got. Its code is of use to the holder of the verifier only.
LOOPBACK: Final = ("http://127.0.0.1:*", "http://[::1]:*")
_NO_STORE: Final = {"Cache-Control": "no-store"}
_LOGOUT_FORM: Final[dict[str, object]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": {
                    "type": "object",
                    "required": ["logout_token"],
                    "properties": {"logout_token": {"type": "string", "description": "A JWT of the provider."}},
                }
            }
        },
    }
}

# Longer values come from no provider; a longer address of a page does not fit into a redirect.
_CHARACTERS_MAX: Final = 4_096
Name = Annotated[QueryText, Path(description="The provider's name in `OIDC_PROVIDERS`.")]
ReturnTo = Annotated[
    QueryText,
    Query(
        alias="returnTo",
        min_length=1,
        max_length=2_048,
        description="A page on an origin of `ALLOWED_ORIGINS`; with `codeChallenge` also `http://127.0.0.1:PORT`.",
    ),
]
CodeChallenge = Annotated[
    str | None,
    Query(
        alias="codeChallenge",
        pattern="^[A-Za-z0-9_-]{43}$",
        description="The challenge (S256, RFC 7636) whose verifier the exchange of the code then needs.",
    ),
]
State = Annotated[QueryText, Query(max_length=_CHARACTERS_MAX, description="The `state` of the redirect.")]
Code = Annotated[QueryText | None, Query(max_length=_CHARACTERS_MAX, description="The provider's code.")]
Error = Annotated[QueryText | None, Query(max_length=_CHARACTERS_MAX, description="The provider's error.")]
Issuer = Annotated[QueryText | None, Query(max_length=_CHARACTERS_MAX, description="The provider's issuer (RFC 9207).")]


@endpoint("GET", "/api/auth/oidc", id="auth.listProviders", returns=list[SignInProvider], allow=PUBLIC)
async def list_providers(request: Request) -> Response:
    """Return the identity providers by which a user can sign in, for the page of the sign-in."""
    return ok(request, [SignInProvider(name=name) for name in dependencies_of(request, Dependencies).oidc_providers])


@endpoint(
    "GET",
    "/api/auth/oidc/{name}/start",
    id="auth.startProviderSignIn",
    status=303,
    errors=(404, 503),
    allow=CREDENTIALS,
    for_clients=False,
    response_class=Response,
)
async def start_sign_in(
    request: Request, name: Name, return_to: ReturnTo, code_challenge: CodeChallenge = None
) -> Response:
    """Redirect the browser to the identity provider, which sends it back to the callback.

    `returnTo` is the page that then gets `code` or `error`. Put a random value into it and compare it there. A program
    of the user's own machine returns to a port of `127.0.0.1` (RFC 8252) and sends `codeChallenge`.
    """
    dependencies = dependencies_of(request, Dependencies)
    provider = _provider_of(dependencies, name)
    origins = dependencies.allowed_origins if code_challenge is None else (*dependencies.allowed_origins, *LOOPBACK)
    if not is_on_allowed_origin(return_to, origins):
        raise ReturnNotAllowed
    address = await start(
        dependencies.database,
        dependencies.hashes,
        provider,
        ReturnAddress(return_to, code_challenge),
        _redirect_uri_of(dependencies, name),
        now=dependencies.clock.now(),
    )
    return _redirect(address)


@endpoint(
    "GET",
    "/api/auth/oidc/{name}/callback",
    id="auth.finishProviderSignIn",
    status=303,
    errors=(404,),
    allow=CREDENTIALS,
    for_clients=False,
    any_query=True,
    response_class=Response,
)
async def finish_sign_in(
    request: Request,
    name: Name,
    state: State = "",
    code: Code = None,
    error: Error = None,
    iss: Issuer = None,
) -> Response:
    """Receive the browser from the identity provider, and redirect it to `returnTo` with `code` or `error`.

    422 for a sign-in that is unknown, finished or older than 10 minutes.
    """
    dependencies = dependencies_of(request, Dependencies)
    provider = _provider_of(dependencies, name)
    finished = await finish(
        dependencies.database,
        dependencies.hashes,
        provider,
        Callback(state, code, error, iss),
        _redirect_uri_of(dependencies, name),
        now=dependencies.clock.now(),
    )
    if finished.error:
        record_sign_in(request, "provider", None, refused=finished.error)
    result = {"code": finished.code} if finished.code else {"error": finished.error}
    return _redirect(_with_parameters(finished.return_to, result))


@endpoint(
    "POST", "/api/auth/oidc/exchange", id="auth.exchangeProviderCode", returns=Tokens, errors=(401,), allow=CREDENTIALS
)
async def exchange_code(request: Request, body: ExchangeCodeRequest) -> Response:
    """Exchange the code of a finished sign-in for tokens, once within 60 seconds."""
    dependencies = dependencies_of(request, Dependencies)
    with recorded_sign_in(request, "provider") as attempt:
        async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
            signed = await exchange(
                uow,
                dependencies.token_issuer,
                body.code,
                body.code_verifier,
                user_agent=request.headers.get("user-agent"),
                now=dependencies.clock.now(),
            )
        if signed is None:
            raise WrongOneTimeCode
        attempt.succeeded(signed)
    return ok(request, signed.response())


@endpoint(
    "POST",
    "/api/auth/oidc/{name}/backchannel-logout",
    id="webhooks.receiveProviderLogout",
    returns=WebhookReceipt,
    errors=(400, 404, 413, 503),
    allow=SIGNATURE,
    openapi_extra=_LOGOUT_FORM,
    body_bytes_max=LOGOUT_BYTES_MAX,
)
async def receive_backchannel_logout(request: Request, name: Name) -> Response:
    """End the sessions that a logout token of the identity provider names (OpenID Connect Back-Channel Logout 1.0)."""
    dependencies = dependencies_of(request, Dependencies)
    provider = _provider_of(dependencies, name)
    form = parse_qs((await read_raw_body(request, LOGOUT_BYTES_MAX)).decode("ascii", "replace"))
    tokens = form.get("logout_token", [])
    try:
        logout = await provider.logout_of(tokens[0] if len(tokens) == 1 else "")
    except Unauthorized:
        raise InvalidLogoutToken from None
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=AUTHENTICATING) as uow:
        ended = await receive_logout(uow, dependencies.hashes, logout, now=now)
    if ended is None:
        raise InvalidLogoutToken
    for session_id, user_id in ended:
        # This process applies the revocation before the broker delivers it.
        dependencies.revocations.add(user_id, session_id, now)
    return ok(request, WebhookReceipt(received=True), headers=_NO_STORE)


def _provider_of(dependencies: Dependencies, name: str) -> OidcProvider:
    provider = dependencies.oidc_providers.get(name)
    if provider is None:
        raise UnknownProvider
    return provider


def _redirect_uri_of(dependencies: Dependencies, name: str) -> str:
    return f"{dependencies.token_issuer.issuer}/api/auth/oidc/{name}/callback"


def _with_parameters(url: str, parameters: Mapping[str, str | None]) -> str:
    parts = urlsplit(url)
    query = "&".join(part for part in (parts.query, urlencode(parameters)) if part)
    return urlunsplit(parts._replace(query=query))


def _redirect(url: str) -> Response:
    return Response(status_code=303, headers={"Location": url, **_NO_STORE})
