"""An institution's identity provider for tests: code flow with PKCE, user info and rotation of keys, over a real
socket.

It is as strict as OpenID Connect allows: one client with a secret, one redirect address, S256, each code once. A test
changes the user, the claims of the next ID token, or the key that signs it.
"""

import base64
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm

from common.primitives.clock import Clock
from common.primitives.ids import new_secret

LOGOUT_EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
TOKEN_SECONDS: Final = 300


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key of the provider. It is in the published set unless a test leaves it out."""

    kid: str
    private: RSAPrivateKey = field(default_factory=lambda: generate_private_key(65_537, 2_048))


@cache
def _first_key() -> SigningKey:
    """Return the key of every new provider of a run: to generate one takes 60 ms."""
    return SigningKey("first")


@dataclass(slots=True)
class OidcProvider:
    """The provider, and what the next ID token says. `redirect_uri` is set before the first sign-in."""

    clock: Clock
    client_id: str = "campus"
    client_secret: str = "a secret of the client / with + signs"
    redirect_uri: str = ""
    issuer: str = ""
    user: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    key: SigningKey = field(default_factory=_first_key)
    published: list[SigningKey] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    # The user's address is in the user info only.
    hides_email: bool = False
    # So are their groups.
    hides_groups: bool = False
    is_down: bool = False
    # The path of each request, oldest first.
    requests: list[str] = field(default_factory=list)
    _codes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _access_tokens: set[str] = field(default_factory=set)

    def rotate(self, kid: str) -> None:
        """Sign with a new key from now on, and publish it beside the former ones."""
        self.key = SigningKey(kid)
        self.published.append(self.key)

    def sign(self, claims: Mapping[str, Any], *, algorithm: str = "RS256", **header: Any) -> str:
        """Return a token with these claims; a claim of None is left out."""
        now = int(self.clock.now().timestamp())
        content = {"iss": self.issuer, "aud": self.client_id, "iat": now, "exp": now + TOKEN_SECONDS, **claims}
        shown = {name: value for name, value in content.items() if value is not None}
        key = "" if algorithm == "none" else self.key.private
        return jwt.encode(shown, key, algorithm=algorithm, headers={"kid": self.key.kid, **header})

    def logout_token(self, **claims: Any) -> str:
        """Return a token that ends the user's sessions; keyword arguments replace claims."""
        content = {"sub": self.user["sub"], "jti": new_secret(8), "events": {LOGOUT_EVENT: {}}, **claims}
        return self.sign(content, typ="logout+jwt")

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/.well-known/openid-configuration", self._discovery)
        app.router.add_get("/keys", self._keys)
        app.router.add_get("/authorize", self._authorize)
        app.router.add_post("/token", self._token)
        app.router.add_get("/me", self._user_info)
        return app

    def _record(self, request: web.Request) -> None:
        self.requests.append(request.path)
        if self.is_down:
            raise web.HTTPServiceUnavailable

    async def _discovery(self, request: web.Request) -> web.Response:
        self._record(request)
        endpoints = {"authorization": "authorize", "token": "token", "userinfo": "me"}
        return web.json_response(
            {
                "issuer": self.issuer,
                **{f"{name}_endpoint": f"{self.issuer}/{path}" for name, path in endpoints.items()},
                "jwks_uri": f"{self.issuer}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
                "authorization_response_iss_parameter_supported": True,
                **self.metadata,
            }
        )

    async def _keys(self, request: web.Request) -> web.Response:
        self._record(request)
        published = [
            {
                **RSAAlgorithm.to_jwk(key.private.public_key(), as_dict=True),
                "kid": key.kid,
                "alg": "RS256",
                "use": "sig",
            }
            for key in self.published
        ]
        return web.json_response({"keys": published})

    async def _authorize(self, request: web.Request) -> web.Response:
        """Sign the user in at once, as a provider does with a session of its own."""
        self._record(request)
        query = request.query
        is_valid = (
            query["response_type"] == "code"
            and query["client_id"] == self.client_id
            and query["redirect_uri"] == self.redirect_uri
            and "openid" in query["scope"].split()
            and query["code_challenge_method"] == "S256"
            and len(query["code_challenge"]) == 43
        )
        if not is_valid:
            raise web.HTTPBadRequest
        code = new_secret()
        self._codes[code] = dict(query)
        result = urlencode({"code": code, "state": query["state"], "iss": self.issuer})
        raise web.HTTPFound(f"{self.redirect_uri}?{result}")

    async def _token(self, request: web.Request) -> web.Response:
        self._record(request)
        form = await request.post()
        pair = f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}"
        if request.headers.get("Authorization") != f"Basic {base64.b64encode(pair.encode()).decode()}":
            return web.json_response({"error": "invalid_client"}, status=401)
        requested = self._codes.pop(str(form.get("code")), None)
        digest = hashlib.sha256(str(form.get("code_verifier", "")).encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            requested is None
            or form.get("redirect_uri") != self.redirect_uri
            or challenge != requested["code_challenge"]
        ):
            return web.json_response({"error": "invalid_grant"}, status=400)
        access_token = new_secret()
        self._access_tokens.add(access_token)
        user = dict(self.user)
        if self.hides_email:
            user = {name: value for name, value in user.items() if not name.startswith("email")}
        if self.hides_groups:
            user.pop("groups", None)
        authenticated_at = int(self.clock.now().timestamp())
        id_token = self.sign(
            {**user, "nonce": requested["nonce"], "auth_time": authenticated_at, **self.claims},
            **({"algorithm": "none"} if self.claims.get("alg") == "none" else {}),
        )
        return web.json_response({"access_token": access_token, "token_type": "Bearer", "id_token": id_token})

    async def _user_info(self, request: web.Request) -> web.Response:
        self._record(request)
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self._access_tokens:
            raise web.HTTPUnauthorized
        return web.json_response(self.user)


@asynccontextmanager
async def oidc_provider(clock: Clock) -> AsyncIterator[OidcProvider]:
    """Yield a provider on a free port of this machine."""
    provider = OidcProvider(clock)
    provider.published.append(provider.key)
    runner = web.AppRunner(provider.app(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        provider.issuer = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield provider
    finally:
        await runner.cleanup()
