"""Sign-out at an institution's identity provider ends its sessions here (contract section 10.6)."""

from typing import Any

import pytest

from testkit.oidc_provider import SigningKey
from testkit.responses import UNAUTHORIZED, data_of, error_of, invalid_field_of

from ..conftest import IdentityApp
from .browser import EMAIL, Browser, claims_of


async def test_a_sign_out_at_the_provider_ends_the_sessions_of_its_user(app: IdentityApp, browser: Browser) -> None:
    user_id = await app.sign_up(EMAIL)
    tokens, with_password = await browser.tokens(), await app.log_in(EMAIL)
    code = await browser.code()
    response = await browser.sign_out(browser.provider.logout_token())
    assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
    assert error_of(await app.get("/api/auth/sessions", token=tokens["accessToken"])) == UNAUTHORIZED
    refreshed = await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})
    assert error_of(refreshed) == UNAUTHORIZED
    assert invalid_field_of(await browser.exchange(code)) == (422, "code")
    data_of(await app.get("/api/auth/sessions", token=with_password["accessToken"]))
    [event] = await app.published("identity.session_revoked.v1")
    assert (event["userId"], event["sessionId"]) == (str(user_id), claims_of(tokens)["session_id"])


async def test_a_sign_out_of_one_session_ends_no_other(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    browser.provider.claims = {"sid": "phone"}
    phone = await browser.tokens()
    browser.provider.claims = {"sid": "laptop"}
    laptop = await browser.tokens()
    assert (await browser.sign_out(browser.provider.logout_token(sub=None, sid="phone"))).status_code == 200
    assert error_of(await app.get("/api/auth/sessions", token=phone["accessToken"])) == UNAUTHORIZED
    data_of(await app.get("/api/auth/sessions", token=laptop["accessToken"]))


async def test_a_logout_token_works_once(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    token = browser.provider.logout_token()
    assert (await browser.sign_out(token)).status_code == 200
    later = await browser.tokens()
    assert error_of(await browser.sign_out(token)) == (400, "VALIDATION_FAILED")
    data_of(await app.get("/api/auth/sessions", token=later["accessToken"]))


@pytest.mark.parametrize(
    "claims",
    [
        {"events": None},
        {"events": {"http://schemas.openid.net/event/another": {}}},
        {"nonce": "a nonce"},
        {"sub": None},
        {"jti": None},
        {"aud": "another-client"},
        {"iss": "https://evil.example"},
        {"exp": 1},
        {"iat": 1},
    ],
    ids=str,
)
async def test_a_logout_token_in_another_form_ends_nothing(
    app: IdentityApp, browser: Browser, claims: dict[str, Any]
) -> None:
    await app.sign_up(EMAIL)
    tokens = await browser.tokens()
    assert error_of(await browser.sign_out(browser.provider.logout_token(**claims))) == (400, "VALIDATION_FAILED")
    data_of(await app.get("/api/auth/sessions", token=tokens["accessToken"]))


async def test_an_id_token_is_no_logout_token(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    await browser.tokens()
    token = browser.provider.sign({"sub": browser.provider.user["sub"], "jti": "id"})
    assert error_of(await browser.sign_out(token)) == (400, "VALIDATION_FAILED")


async def test_a_logout_token_of_an_unpublished_key_ends_nothing(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    tokens = await browser.tokens()
    browser.provider.key = SigningKey("first")
    assert error_of(await browser.sign_out(browser.provider.logout_token())) == (400, "VALIDATION_FAILED")
    data_of(await app.get("/api/auth/sessions", token=tokens["accessToken"]))
