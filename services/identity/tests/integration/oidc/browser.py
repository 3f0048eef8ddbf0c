"""A browser between the service and an institution's identity provider."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import httpx
import jwt

from common.primitives.tls import client_tls
from testkit.oidc_provider import OidcProvider
from testkit.responses import data_of

from ..conftest import IdentityApp

EMAIL = "amina@school.example"
RETURN_TO = "https://console.example/sign-in/provider?flow=abc"
START = "/api/auth/oidc/school/start"
CALLBACK = "/api/auth/oidc/school/callback"
EXCHANGE = "/api/auth/oidc/exchange"
LOGOUT = "/api/auth/oidc/school/backchannel-logout"


@dataclass
class Browser:
    """A browser between the service and the provider."""

    app: IdentityApp
    provider: OidcProvider

    async def start(self, return_to: str = RETURN_TO) -> str:
        """Return the address at the provider."""
        response = await self.app.get(START, returnTo=return_to)
        assert response.status_code == 303, response.text
        return response.headers["location"]

    async def authorize(self, address: str) -> dict[str, str]:
        """Sign in at the provider and return the parameters of its callback."""
        async with httpx.AsyncClient(verify=client_tls()) as client:
            response = await client.get(address)
        assert response.status_code == 302, response.text
        return query_of(response.headers["location"])

    async def call_back(self, **parameters: str) -> dict[str, str]:
        """Return the parameters of the page that the user returns to, without its own."""
        response = await self.app.get(CALLBACK, **parameters)
        assert response.status_code == 303, response.text
        location = response.headers["location"]
        assert location.startswith(f"{RETURN_TO}&")
        assert response.headers["cache-control"] == "no-store"
        return {name: value for name, value in query_of(location).items() if name != "flow"}

    async def result(self) -> dict[str, str]:
        """Sign in and return what the page gets."""
        return await self.call_back(**await self.authorize(await self.start()))

    async def code(self) -> str:
        result = await self.result()
        assert list(result) == ["code"], result
        return result["code"]

    async def exchange(self, code: str) -> httpx.Response:
        return await self.app.post(EXCHANGE, {"code": code})

    async def tokens(self) -> dict[str, Any]:
        return data_of(await self.exchange(await self.code()))

    async def sign_out(self, token: str, **more: str) -> httpx.Response:
        return await self.app.client.post(LOGOUT, data={"logout_token": token, **more})


def query_of(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def claims_of(tokens: dict[str, Any]) -> dict[str, Any]:
    return jwt.decode(tokens["accessToken"], options={"verify_signature": False})


async def user_of(app: IdentityApp, tokens: dict[str, Any]) -> UUID:
    return (await app.runtime.verifier.caller_of(tokens["accessToken"])).id
