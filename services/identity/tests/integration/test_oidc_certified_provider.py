"""Sign-in and sign-out at `oidc-provider`, a certified identity provider of another author (contract section 10.6)."""

import json
import re
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from common.primitives.clock import SystemClock
from testkit.certified_provider import certified_provider
from testkit.databases import WAIT_SECONDS_MAX
from testkit.fixtures import eventually
from testkit.responses import data_of
from testkit.service_kit import BASE_URL

from .conftest import IdentityApp

EMAIL = "amina@school.example"
NAME = "certified"
PATH = f"/api/auth/oidc/{NAME}"
ACR = "https://refeds.org/profile/mfa"
CLIENT = {"clientId": "campus", "clientSecret": "a secret of the client / with + signs"}
RETURN_TO = "https://console.example/sign-in/provider"


@pytest.fixture
def clock() -> SystemClock:
    """Return the clock that the provider shares."""
    return SystemClock()


@pytest.fixture
def port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


@pytest.fixture
def more_settings(port: int) -> dict[str, Any]:
    entry = {"name": NAME, "issuer": f"http://127.0.0.1:{port}", "emailDomains": ["school.example"], "aal2Acr": ACR}
    return {
        "oidc_allow_loopback": True,
        "oidc_providers": json.dumps([{**entry, **CLIENT}]),
        "allowed_origins": "https://console.example",
    }


@pytest_asyncio.fixture
async def browser(app: IdentityApp, port: int) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a browser at the provider, which calls the service back on a socket."""
    configuration = {
        **CLIENT,
        "port": port,
        "redirectUri": f"{BASE_URL}{PATH}/callback",
        "logoutUri": f"{httpx.URL(app.jwks_url).copy_with(path=f'{PATH}/backchannel-logout')}",
        "email": EMAIL,
        "acr": ACR,
    }
    async with certified_provider(configuration), httpx.AsyncClient(timeout=WAIT_SECONDS_MAX) as client:
        yield client


async def call_back_of(app: IdentityApp, browser: httpx.AsyncClient) -> httpx.URL:
    """Follow the redirects from the start, and return the address of the callback that the provider sends."""
    response = await app.get(f"{PATH}/start", returnTo=RETURN_TO)
    address = response.headers["location"]
    while not address.startswith(BASE_URL):
        response = await browser.get(address)
        assert response.is_redirect, response.text
        address = str(response.next_request.url) if response.next_request else ""
    return httpx.URL(address)


async def return_from(app: IdentityApp, call_back: httpx.URL) -> dict[str, str]:
    """Open the callback, and return the parameters of the page that the user returns to."""
    returned = await app.client.get(call_back.raw_path.decode())
    return dict(httpx.URL(returned.headers["location"]).params)


async def sign_in(app: IdentityApp, browser: httpx.AsyncClient) -> dict[str, Any]:
    """Sign in at the provider, and exchange the code of the page."""
    parameters = await return_from(app, await call_back_of(app, browser))
    assert set(parameters) == {"code"}, parameters
    return data_of(await app.post("/api/auth/oidc/exchange", {"code": parameters["code"]}))


async def test_a_user_of_a_certified_provider_signs_in_at_aal2(app: IdentityApp, browser: httpx.AsyncClient) -> None:
    user_id = await app.sign_up(EMAIL)
    tokens = await sign_in(app, browser)
    caller = await app.runtime.verifier.caller_of(tokens["accessToken"])
    assert (caller.id, tokens["aal"]) == (user_id, "aal2")
    caller.must_have_stepped_up(app.clock.now())


async def test_the_sign_out_of_a_certified_provider_ends_the_session(
    app: IdentityApp, browser: httpx.AsyncClient, port: int
) -> None:
    await app.sign_up(EMAIL)
    tokens = await sign_in(app, browser)
    data_of(await app.get("/api/auth/sessions", token=tokens["accessToken"]))

    form = await browser.get(f"http://127.0.0.1:{port}/session/end")
    found = re.search(r'name="xsrf" value="([^"]+)"', form.text)
    assert found is not None, form.text
    await browser.post(f"http://127.0.0.1:{port}/session/end/confirm", data={"xsrf": found[1], "logout": "yes"})

    async def is_ended() -> bool:
        return (await app.get("/api/auth/sessions", token=tokens["accessToken"])).status_code == 401

    await eventually(is_ended)


async def in_another_sign_in(app: IdentityApp, call_back: httpx.URL) -> httpx.URL:
    """Return the callback of a sign-in that was started later, with the code of this one."""
    response = await app.get(f"{PATH}/start", returnTo=RETURN_TO)
    return call_back.copy_set_param("state", httpx.URL(response.headers["location"]).params["state"])


async def test_a_certified_provider_rejects_the_code_of_another_sign_in(
    app: IdentityApp, browser: httpx.AsyncClient
) -> None:
    """A stolen code in a later sign-in: the verifier of that sign-in does not match (PKCE)."""
    await app.sign_up(EMAIL)
    stolen = await in_another_sign_in(app, await call_back_of(app, browser))
    assert await return_from(app, stolen) == {"error": "invalid_response"}
    assert await app.count("oidc_links") == await app.count("oidc_codes") == 0


async def test_a_certified_provider_redeems_a_code_once(app: IdentityApp, browser: httpx.AsyncClient) -> None:
    await app.sign_up(EMAIL)
    used = await call_back_of(app, browser)
    assert set(await return_from(app, used)) == {"code"}
    assert await return_from(app, await in_another_sign_in(app, used)) == {"error": "invalid_response"}
