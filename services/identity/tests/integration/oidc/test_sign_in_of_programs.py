"""Sign-in of a program on the user's machine by an institution's identity provider (contract section 10.6)."""

import pytest

from identity.credentials.oidc_tokens import challenge_of
from testkit.responses import data_of, invalid_field_of

from ..conftest import IdentityApp
from .browser import CALLBACK, EMAIL, EXCHANGE, START, Browser, query_of, user_of

VERIFIER = "a-verifier-of-a-program-with-43-characters."
PROGRAM = "http://127.0.0.1:53682/callback?flow=abc"


async def code_of_program(browser: Browser, **more: str) -> str:
    """Sign in from a program on the user's machine and return its code."""
    response = await browser.app.get(START, returnTo=PROGRAM, codeChallenge=challenge_of(VERIFIER), **more)
    parameters = await browser.authorize(response.headers["location"])
    returned = await browser.app.get(CALLBACK, **parameters)
    assert returned.headers["location"].startswith(f"{PROGRAM}&code=")
    return query_of(returned.headers["location"])["code"]


async def test_a_program_signs_in_with_the_verifier_of_its_challenge(app: IdentityApp, browser: Browser) -> None:
    user_id = await app.sign_up(EMAIL)
    code = await code_of_program(browser)
    tokens = data_of(await app.post(EXCHANGE, {"code": code, "codeVerifier": VERIFIER}))
    assert await user_of(app, tokens) == user_id


@pytest.mark.parametrize("verifier", [None, "another-verifier-of-a-program-with-43-chars"])
async def test_a_code_of_a_program_is_void_without_its_verifier(
    app: IdentityApp, browser: Browser, verifier: str | None
) -> None:
    await app.sign_up(EMAIL)
    code = await code_of_program(browser)
    wrong = {"code": code} | ({} if verifier is None else {"codeVerifier": verifier})
    assert invalid_field_of(await app.post(EXCHANGE, wrong)) == (422, "code")
    assert invalid_field_of(await app.post(EXCHANGE, {"code": code, "codeVerifier": VERIFIER})) == (422, "code")


async def test_a_code_of_a_page_is_void_with_a_verifier(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    body = {"code": await browser.code(), "codeVerifier": VERIFIER}
    assert invalid_field_of(await app.post(EXCHANGE, body)) == (422, "code")


@pytest.mark.parametrize(
    ("page", "challenge", "field"),
    [
        (PROGRAM, None, "returnTo"),
        ("http://127.0.0.1.evil.example:53682/", challenge_of(VERIFIER), "returnTo"),
        ("https://evil.example/", challenge_of(VERIFIER), "returnTo"),
        (PROGRAM, VERIFIER, "codeChallenge"),
        (PROGRAM, "", "codeChallenge"),
    ],
)
async def test_a_program_returns_to_its_own_machine_with_a_challenge_only(
    app: IdentityApp, page: str, challenge: str | None, field: str
) -> None:
    more = {} if challenge is None else {"codeChallenge": challenge}
    assert invalid_field_of(await app.get(START, returnTo=page, **more)) == (422, field)
