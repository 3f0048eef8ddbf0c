"""Sign-in by an institution's identity provider (contract section 10.6)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from common.primitives.clock import ManualClock
from testkit.oidc_provider import SigningKey
from testkit.responses import INVALID, NOT_FOUND, UNAUTHORIZED, data_of, error_of, invalid_field_of

from ..conftest import IdentityApp
from .browser import CALLBACK, EMAIL, RETURN_TO, START, Browser, claims_of, query_of, user_of


async def test_anyone_reads_the_names_of_the_providers_alone(app: IdentityApp) -> None:
    assert data_of(await app.get("/api/auth/oidc")) == [{"name": "school"}, {"name": "other"}]


async def test_a_user_signs_in_by_the_provider_of_their_institution(app: IdentityApp, browser: Browser) -> None:
    user_id = await app.sign_up(EMAIL)
    tokens = await browser.tokens()
    assert set(tokens) == {"accessToken", "refreshToken", "tokenType", "expiresIn", "aal", "mfaRequired"}
    assert (tokens["aal"], tokens["mfaRequired"]) == ("aal1", False)
    assert await user_of(app, tokens) == user_id
    [session] = data_of(await app.get("/api/auth/sessions", token=tokens["accessToken"]))
    assert session["method"] == "oidc"
    refreshed = data_of(await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}))
    assert await user_of(app, refreshed) == user_id


async def test_each_redirect_has_its_own_state_nonce_and_challenge(app: IdentityApp, browser: Browser) -> None:
    first, second = query_of(await browser.start()), query_of(await browser.start())
    assert first["code_challenge_method"] == "S256"
    assert {"state", "nonce", "code_challenge"} <= first.keys()
    assert all(first[name] != second[name] for name in ("state", "nonce", "code_challenge"))
    stored = str(await app.fetch("SELECT * FROM oidc_flows"))
    assert not any(first[name] in stored for name in ("state", "nonce", "code_challenge"))


@pytest.mark.parametrize("methods", [["plain"], [], None])
async def test_a_provider_that_offers_less_than_pkce_gets_the_hashed_challenge(
    app: IdentityApp, browser: Browser, methods: list[str] | None
) -> None:
    browser.provider.metadata = {"code_challenge_methods_supported": methods}
    await app.sign_up(EMAIL)
    address = await browser.start()
    assert query_of(address)["code_challenge_method"] == "S256"
    # The provider accepts the code with the verifier of this challenge only.
    assert list(await browser.call_back(**await browser.authorize(address))) == ["code"]


@pytest.mark.parametrize(
    "return_to",
    ["https://evil.example/", "https://console.example.evil.example/", "/console", "javascript:alert(1)", ""],
)
async def test_a_page_on_another_origin_is_rejected(app: IdentityApp, return_to: str) -> None:
    assert invalid_field_of(await app.get(START, returnTo=return_to)) == (422, "returnTo")


async def test_a_start_without_a_page_is_rejected(app: IdentityApp) -> None:
    assert invalid_field_of(await app.get(START)) == (422, "returnTo")


@pytest.mark.parametrize(
    ("path", "parameters"), [("start", {"returnTo": RETURN_TO}), ("callback", {"state": "x", "code": "y"})]
)
async def test_an_unknown_provider_is_not_found(app: IdentityApp, path: str, parameters: dict[str, str]) -> None:
    assert error_of(await app.get(f"/api/auth/oidc/unknown/{path}", **parameters)) == NOT_FOUND


async def test_a_code_is_exchanged_once(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    code = await browser.code()
    data_of(await browser.exchange(code))
    assert invalid_field_of(await browser.exchange(code)) == (422, "code")


@pytest.mark.parametrize(("seconds", "status"), [(59, 200), (60, 422)])
async def test_a_code_expires_after_a_minute(
    app: IdentityApp, browser: Browser, clock: ManualClock, seconds: int, status: int
) -> None:
    await app.sign_up(EMAIL)
    code = await browser.code()
    clock.advance(timedelta(seconds=seconds))
    assert (await browser.exchange(code)).status_code == status


async def test_a_state_works_once(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    parameters = await browser.authorize(await browser.start())
    await browser.call_back(**parameters)
    assert invalid_field_of(await app.get(CALLBACK, **parameters)) == (422, "state")


async def test_an_unknown_state_causes_no_call(app: IdentityApp, browser: Browser) -> None:
    parameters = await browser.authorize(await browser.start())
    browser.provider.requests.clear()
    assert invalid_field_of(await app.get(CALLBACK, **{**parameters, "state": "another"})) == (422, "state")
    assert error_of(await app.get(CALLBACK, code=parameters["code"])) == INVALID
    assert browser.provider.requests == []


async def test_a_state_expires_after_ten_minutes(app: IdentityApp, browser: Browser, clock: ManualClock) -> None:
    parameters = await browser.authorize(await browser.start())
    clock.advance(timedelta(minutes=10))
    assert invalid_field_of(await app.get(CALLBACK, **parameters)) == (422, "state")


async def test_a_state_of_one_provider_is_unknown_to_the_other(app: IdentityApp, browser: Browser) -> None:
    parameters = await browser.authorize(await browser.start())
    response = await app.get("/api/auth/oidc/other/callback", **parameters)
    assert invalid_field_of(response) == (422, "state")


@pytest.mark.parametrize("issuer", ["https://evil.example", None])
async def test_a_code_of_another_issuer_is_not_sent_to_this_one(browser: Browser, issuer: str | None) -> None:
    parameters = await browser.authorize(await browser.start())
    del parameters["iss"]
    browser.provider.requests.clear()
    assert await browser.call_back(**parameters, **({"iss": issuer} if issuer else {})) == {"error": "invalid_response"}
    assert browser.provider.requests == []


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": ["campus", "another-client"]},
        {"azp": "another-client"},
        {"iss": "https://evil.example"},
        {"exp": 1},
        {"exp": None},
        {"iat": 2**33},
        {"nbf": 2**33},
        {"auth_time": 1},
        {"sub": None},
        {"sub": ""},
        {"sub": "a" * 256},
        {"sub": 7},
        {"alg": "none"},
    ],
    ids=str,
)
async def test_an_id_token_that_is_not_for_this_sign_in_is_rejected(
    app: IdentityApp, browser: Browser, claims: dict[str, Any]
) -> None:
    await app.sign_up(EMAIL)
    browser.provider.claims = claims
    assert await browser.result() == {"error": "invalid_response"}
    assert await app.count("oidc_links") == await app.count("oidc_codes") == 0


async def test_a_key_outside_of_the_published_set_is_rejected(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    browser.provider.key = SigningKey("unpublished")
    assert await browser.result() == {"error": "invalid_response"}
    assert browser.provider.requests.count("/keys") == 1


async def test_a_forged_signature_of_a_published_key_is_rejected(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    browser.provider.key = SigningKey("first")
    assert await browser.result() == {"error": "invalid_response"}


async def test_a_rotated_key_is_fetched_once_and_at_once(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    await browser.tokens()
    browser.provider.rotate("second")
    browser.provider.requests.clear()
    await browser.tokens()
    await browser.tokens()
    assert browser.provider.requests.count("/keys") == 1
    assert browser.provider.requests.count("/.well-known/openid-configuration") == 0


async def test_the_provider_rejects_a_code_without_the_verifier_of_its_flow(app: IdentityApp, browser: Browser) -> None:
    """A stolen code of one sign-in, put into another, fails at PKCE."""
    await app.sign_up(EMAIL)
    stolen = await browser.authorize(await browser.start())
    own = await browser.authorize(await browser.start())
    assert await browser.call_back(**{**own, "code": stolen["code"]}) == {"error": "invalid_response"}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"email_verified": False}, "email_not_verified"),
        ({"email_verified": None}, "email_not_verified"),
        ({"email": None}, "email_not_verified"),
        ({"email": "amina@another.example"}, "email_domain_not_accepted"),
        ({"email": "amina@mail.school.example"}, "email_domain_not_accepted"),
        ({"email": "nobody@school.example"}, "no_account"),
    ],
)
async def test_an_address_that_proves_no_account_links_none(
    app: IdentityApp, browser: Browser, changes: dict[str, Any], error: str
) -> None:
    await app.sign_up(EMAIL)
    await app.sign_up("amina@another.example")
    await app.sign_up("amina@mail.school.example")
    browser.provider.user |= changes
    assert await browser.result() == {"error": error}
    assert await app.count("oidc_links") == 0


async def test_the_address_may_be_in_the_user_info_only(app: IdentityApp, browser: Browser) -> None:
    user_id = await app.sign_up(EMAIL)
    browser.provider.hides_email = True
    assert await user_of(app, await browser.tokens()) == user_id


async def test_user_info_of_another_user_is_rejected(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    browser.provider.hides_email = True
    browser.provider.claims = {"sub": "another"}
    assert await browser.result() == {"error": "invalid_response"}


async def test_the_link_holds_when_the_provider_changes_the_address(app: IdentityApp, browser: Browser) -> None:
    user_id = await app.sign_up(EMAIL)
    await app.sign_up("new@school.example")
    await browser.tokens()
    browser.provider.user["email"] = "new@school.example"
    assert await user_of(app, await browser.tokens()) == user_id


async def test_the_next_owner_of_a_mailbox_does_not_get_the_account(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    await browser.tokens()
    browser.provider.user["sub"] = "the next owner"
    assert await browser.result() == {"error": "linked_to_another_user"}


async def test_the_first_proof_of_an_address_removes_the_password_set_before_it(
    app: IdentityApp, browser: Browser
) -> None:
    user_id = await app.sign_up_unproven(EMAIL)
    assert await user_of(app, await browser.tokens()) == user_id
    [row] = await app.fetch("SELECT password_hash FROM accounts WHERE user_id = $1", user_id)
    assert row["password_hash"] is None


async def test_a_suspended_user_gets_no_tokens(app: IdentityApp, browser: Browser) -> None:
    user_id = await app.sign_up(EMAIL)
    await app.fetch(
        "INSERT INTO suspensions (user_id, suspended_by, reason, suspended_at) VALUES ($1, $2, 'test', now())",
        user_id,
        uuid4(),
    )
    assert error_of(await browser.exchange(await browser.code())) == UNAUTHORIZED


@pytest.mark.parametrize(
    ("reported", "error"), [("access_denied", "access_denied"), ("login_required", "provider_error")]
)
async def test_an_error_of_the_provider_reaches_the_page(browser: Browser, reported: str, error: str) -> None:
    state = query_of(await browser.start())["state"]
    assert await browser.call_back(state=state, error=reported) == {"error": error}


async def test_an_unavailable_provider_starts_no_sign_in(app: IdentityApp, browser: Browser) -> None:
    browser.provider.is_down = True
    response = await app.get(START, returnTo=RETURN_TO)
    assert response.status_code == 503
    assert await app.count("oidc_flows") == 0


async def test_an_unavailable_provider_ends_a_sign_in_with_an_error(app: IdentityApp, browser: Browser) -> None:
    await app.sign_up(EMAIL)
    parameters = await browser.authorize(await browser.start())
    browser.provider.is_down = True
    assert await browser.call_back(**parameters) == {"error": "provider_unavailable"}


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": None},
    ],
)
async def test_a_discovery_document_with_unsafe_addresses_is_not_used(
    app: IdentityApp, browser: Browser, metadata: dict[str, Any]
) -> None:
    browser.provider.metadata = metadata
    assert (await app.get(START, returnTo=RETURN_TO)).status_code == 503


@pytest.mark.parametrize(
    "claims", [{"acr": "https://refeds.org/profile/mfa"}, {"amr": ["pwd", "otp"]}], ids=["acr", "amr"]
)
async def test_a_second_factor_at_the_provider_gives_aal2(
    app: IdentityApp, browser: Browser, clock: ManualClock, claims: dict[str, Any]
) -> None:
    await app.sign_up(EMAIL)
    browser.provider.claims = claims
    tokens = await browser.tokens()
    assert (tokens["aal"], tokens["mfaRequired"]) == ("aal2", False)
    caller = await app.runtime.verifier.caller_of(tokens["accessToken"])
    caller.must_have_stepped_up(clock.now())
    refreshed = data_of(await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}))
    assert refreshed["aal"] == "aal2"


@pytest.mark.parametrize(
    "claims", [{"acr": "urn:password"}, {"amr": ["pwd"]}, {"amr": "otp"}, {"acr": ["otp"]}], ids=str
)
async def test_another_method_of_the_provider_stays_at_aal1(
    app: IdentityApp, browser: Browser, claims: dict[str, Any]
) -> None:
    await app.sign_up(EMAIL)
    browser.provider.claims = claims
    assert (await browser.tokens())["aal"] == "aal1"


@pytest.mark.parametrize("authenticated", ["an hour ago", "unknown"])
async def test_an_old_second_factor_is_no_step_up_of_fifteen_minutes(
    app: IdentityApp, browser: Browser, clock: ManualClock, authenticated: str
) -> None:
    await app.sign_up(EMAIL)
    an_hour_ago = int(clock.now().timestamp()) - 3_600
    browser.provider.claims = {"acr": "otp", "auth_time": an_hour_ago if authenticated == "an hour ago" else None}
    tokens = await browser.tokens()
    assert tokens["aal"] == "aal2"
    shown = [entry["timestamp"] for entry in claims_of(tokens)["amr"] if entry["method"] == "mfa/oidc"]
    assert shown == [an_hour_ago]


async def test_no_secret_of_a_sign_in_is_logged(
    app: IdentityApp,
    browser: Browser,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    access_lines: Callable[[], list[dict[str, Any]]],
) -> None:
    await app.sign_up(EMAIL)
    parameters = await browser.authorize(await browser.start())
    browser.provider.is_down = True
    await browser.call_back(**parameters)
    browser.provider.is_down = False
    tokens = await browser.tokens()
    lines = access_lines()
    assert [(line["method"], line["outcome"], line["code"]) for line in lines] == [
        ("provider", "refused", "provider_unavailable"),
        ("provider", "success", None),
    ]
    captured = capsys.readouterr()
    logged = f"{captured.out}{captured.err}{caplog.text}{lines}"
    secrets = (parameters["code"], parameters["state"], browser.provider.client_secret, tokens["refreshToken"])
    assert not any(secret in logged for secret in secrets)


async def test_flows_codes_and_logouts_are_removed_after_their_time(
    app: IdentityApp, browser: Browser, clock: ManualClock
) -> None:
    await app.sign_up(EMAIL)
    await browser.code()
    await browser.start()
    await browser.sign_out(browser.provider.logout_token(sub="another"))
    clock.advance(timedelta(hours=1))
    await app.remove_old()
    assert [await app.count(table) for table in ("oidc_flows", "oidc_codes", "oidc_logouts")] == [0, 0, 0]
