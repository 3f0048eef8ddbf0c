"""An institution's identity provider: discovery, the token endpoint, and the keys of its tokens (OpenID Connect)."""

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypedDict, Unpack
from urllib.parse import quote_plus, urlencode

import httpx

from common.auth.issuers import is_safe_to_fetch
from common.auth.jws_parser import read_token
from common.auth.verification_keys import ASYMMETRIC, JWKS_REFETCH_SECONDS, KeySet
from common.observability.logging import get_logger
from common.observability.outages import Outage
from common.primitives.clock import Clock
from common.primitives.problems import Unauthorized, Unavailable
from identity.credentials.oidc_tokens import FlowSecrets, Logout, identity_of, logout_of
from identity.domain.oidc import AUTHENTICATION_AGE_MAX, ProviderIdentity, ProviderRules, SignInFailed

log = get_logger(__name__)

DISCOVERY_LIFE: Final = timedelta(minutes=10)
# Discovery documents and token responses have a few kilobytes.
_RESPONSE_BYTES_MAX: Final = 256 * 1024
_ID_TOKEN_TYPES: Final = frozenset({"jwt"})
_LOGOUT_TOKEN_TYPES: Final = frozenset({"jwt", "logout+jwt"})


class ProviderUnavailable(Unavailable):
    detail = "The identity provider is temporarily unavailable. Try again, or sign in with your password."


@dataclass(frozen=True, slots=True)
class Metadata:
    """The used members of a discovery document (OpenID Connect Discovery 3)."""

    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str | None
    acr_values: frozenset[str]
    scopes: frozenset[str]
    authenticates_by_basic: bool
    sends_issuer: bool


class _Request(TypedDict, total=False):
    data: Mapping[str, str]
    auth: httpx.BasicAuth | None
    headers: Mapping[str, str]


class OidcProvider:
    """One provider. Its metadata and keys are cached; the cached metadata survive an outage."""

    def __init__(
        self,
        rules: ProviderRules,
        client_secret: str,
        http: httpx.AsyncClient,
        clock: Clock,
        *,
        allow_loopback: bool,
        seconds_max: float,
    ) -> None:
        """`seconds_max` bounds each call, its response included."""
        self.rules = rules
        self._secret, self._http, self._clock = client_secret, http, clock
        self._allow_loopback, self._seconds_max = allow_loopback, seconds_max
        self._metadata: Metadata | None = None
        self._keys: tuple[str, KeySet] | None = None
        self._discovered_at: datetime | None = None
        self._discovering = asyncio.Lock()
        self._outage = Outage(
            log, "identity provider unavailable", "identity provider available again", provider=rules.name
        )

    async def authorization_url(self, redirect_uri: str, flow: FlowSecrets) -> str:
        """Return the address at the provider that the user is sent to. Raises ProviderUnavailable."""
        metadata = await self._discovered()
        endpoint = metadata.authorization_endpoint
        parameters = {
            "response_type": "code",
            "client_id": self.rules.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(["openid", "email", *({self.rules.groups_claim} & metadata.scopes)]),
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": flow.challenge,
            "code_challenge_method": "S256",
            "max_age": str(int(AUTHENTICATION_AGE_MAX.total_seconds())),
        }
        # Some providers report `acr` on request only, and some reject a value that they do not know.
        if requested := self.rules.aal2_acr & metadata.acr_values:
            parameters["acr_values"] = " ".join(sorted(requested))
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"

    async def redeem(self, code: str, redirect_uri: str, flow: FlowSecrets, issuer: str | None) -> ProviderIdentity:
        """Exchange the provider's code for the user's identity. `issuer` is the parameter `iss` of the callback (RFC
        9207).

        Raises SignInFailed and ProviderUnavailable.
        """
        metadata = await self._discovered()
        if issuer != self.rules.issuer and (issuer is not None or metadata.sends_issuer):
            # The response of another provider: the code must not reach this one.
            raise SignInFailed("invalid_response")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": flow.verifier,
        }
        auth = None
        if metadata.authenticates_by_basic:
            auth = httpx.BasicAuth(quote_plus(self.rules.client_id), quote_plus(self._secret))
        else:
            form |= {"client_id": self.rules.client_id, "client_secret": self._secret}
        response = await self._call("POST", metadata.token_endpoint, data=form, auth=auth)
        id_token, access_token = response.get("id_token"), response.get("access_token")
        if not isinstance(id_token, str):
            raise SignInFailed("invalid_response")
        try:
            claims = await self._verified(id_token, _ID_TOKEN_TYPES, refetch_seconds=0)
            # Checked before the user info is requested: nothing is fetched for a token that is not ours.
            identity = identity_of(self.rules, claims, flow.nonce, self._clock.now())
            absent = {"email", self.rules.groups_claim} - claims.keys() - {""}
            if absent and metadata.userinfo_endpoint and isinstance(access_token, str):
                if "email" in absent:
                    absent.add("email_verified")
                claims |= await self._user_info(metadata.userinfo_endpoint, access_token, identity.subject.sub, absent)
            return identity_of(self.rules, claims, flow.nonce, self._clock.now())
        except Unauthorized:
            raise SignInFailed("invalid_response") from None

    async def logout_of(self, token: str) -> Logout:
        """Verify a logout token. Raises Unauthorized and ProviderUnavailable."""
        claims = await self._verified(token, _LOGOUT_TOKEN_TYPES, refetch_seconds=JWKS_REFETCH_SECONDS)
        return logout_of(self.rules, claims, self._clock.now())

    async def _verified(self, token: str, types: frozenset[str], *, refetch_seconds: float) -> dict[str, object]:
        """Return the claims of a token that a key of this provider signed. Raises Unauthorized."""
        read = read_token(token, types)
        await self._discovered()
        if self._keys is None:
            raise ProviderUnavailable
        key = await self._keys[1].find(read.kid, read.algorithm, refetch_seconds=refetch_seconds)
        if key is None or not read.is_signed_with(key):
            raise Unauthorized
        return read.claims

    async def _user_info(self, url: str, access_token: str, sub: str, names: Collection[str]) -> dict[str, object]:
        """Return the claims of these names that the provider reports outside of the ID token, of the same user."""
        found = await self._call("GET", url, headers={"Authorization": f"Bearer {access_token}"})
        if found.get("sub") != sub:
            raise Unauthorized
        return {name: found.get(name) for name in names}

    async def _discovered(self) -> Metadata:
        if self._metadata is not None and self._is_fresh():
            return self._metadata
        async with self._discovering:
            if self._metadata is None or not self._is_fresh():
                await self._discover()
        if self._metadata is None:
            raise ProviderUnavailable
        return self._metadata

    def _is_fresh(self) -> bool:
        return self._discovered_at is not None and self._clock.now() - self._discovered_at < DISCOVERY_LIFE

    async def _discover(self) -> None:
        try:
            found = await self._call("GET", f"{self.rules.issuer.rstrip('/')}/.well-known/openid-configuration")
            metadata, jwks_url = self._metadata_of(found)
        except (ProviderUnavailable, SignInFailed, ValueError) as error:
            self._outage.failed(error)
            return
        self._outage.ended()
        if self._keys is None or self._keys[0] != jwks_url:
            self._keys = jwks_url, KeySet(jwks_url, self._clock, ASYMMETRIC, self._seconds_max)
        self._metadata, self._discovered_at = metadata, self._clock.now()

    def _metadata_of(self, found: Mapping[str, object]) -> tuple[Metadata, str]:
        """Return the metadata and the address of the keys. Raises ValueError for another issuer's document."""
        if found.get("issuer") != self.rules.issuer:
            raise ValueError("the discovery document names another issuer")
        user_info = found.get("userinfo_endpoint")
        methods = _texts_of(found.get("token_endpoint_auth_methods_supported", ["client_secret_basic"]))
        metadata = Metadata(
            self._address(found.get("authorization_endpoint")),
            self._address(found.get("token_endpoint")),
            None if user_info is None else self._address(user_info),
            _texts_of(found.get("acr_values_supported")),
            _texts_of(found.get("scopes_supported")),
            "client_secret_basic" in methods,
            found.get("authorization_response_iss_parameter_supported") is True,
        )
        return metadata, self._address(found.get("jwks_uri"))

    def _address(self, value: object) -> str:
        if not isinstance(value, str) or not is_safe_to_fetch(value, allow_loopback=self._allow_loopback):
            raise ValueError("the discovery document names an address that is not https")
        return value

    async def _call(self, method: str, url: str, **request: Unpack[_Request]) -> Mapping[str, object]:
        """Return the JSON object of a response. Raises SignInFailed for a rejection, else ProviderUnavailable.

        Redirects are rejections. Neither the request nor the response is logged: both hold secrets.
        """
        body = bytearray()
        try:
            async with (
                asyncio.timeout(self._seconds_max),
                self._http.stream(method, url, follow_redirects=False, **request) as response,
            ):
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > _RESPONSE_BYTES_MAX:
                        raise ProviderUnavailable
        except (httpx.HTTPError, TimeoutError) as error:
            log.warning("identity provider call failed", provider=self.rules.name, error=type(error).__name__)
            raise ProviderUnavailable from None
        if response.status_code >= 500 or response.status_code == 429:
            raise ProviderUnavailable
        try:
            found = json.loads(body) if response.status_code == 200 else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            log.warning("identity provider rejected a call", provider=self.rules.name, status=response.status_code)
            raise SignInFailed("invalid_response")
        return found


def _texts_of(value: object) -> frozenset[str]:
    return frozenset(text for text in value if isinstance(text, str)) if isinstance(value, list) else frozenset()
