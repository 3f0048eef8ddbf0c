"""A number is confirmed by its signed-in owner (contract section 10.1)."""

from datetime import timedelta
from typing import Any

from testkit.responses import data_of

from .confirmation_steps import EMAIL, PHONE, RIGHT, VERIFY, codes_sent, log_in, newest_code, profile_of
from .conftest import PASSWORD, IdentityApp


async def request_code(app: IdentityApp, phone: str, tokens: dict[str, Any] | None = None) -> None:
    token = tokens["accessToken"] if tokens else None
    assert (await app.post("/api/auth/otp", {"phone": phone}, token=token)).status_code == 200


async def prove_number(app: IdentityApp, tokens: dict[str, Any]) -> dict[str, Any]:
    await request_code(app, PHONE, tokens)
    code = await newest_code(app)
    return data_of(await app.post(VERIFY, {"phone": PHONE, "code": code}, token=tokens["accessToken"]))


async def test_an_unconfirmed_number_signs_in_no_user(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE)
    await request_code(app, PHONE)
    assert await codes_sent(app) == []


async def test_a_number_is_confirmed_by_its_signed_in_owner(app: IdentityApp) -> None:
    user_id = await app.sign_up(EMAIL, phone=PHONE)
    tokens = await app.log_in(EMAIL)
    signed = await prove_number(app, tokens)
    assert (await profile_of(app, signed))["phoneConfirmed"] is True
    assert (await profile_of(app, tokens))["id"] == str(user_id)
    assert await log_in(app, PASSWORD) == RIGHT
    app.clock.advance(timedelta(minutes=1))
    await request_code(app, PHONE)
    response = await app.post(VERIFY, {"phone": PHONE, "code": await newest_code(app)})
    assert response.status_code == 200
    assert (await profile_of(app, response.json()["data"]))["id"] == str(user_id)


async def test_a_code_of_a_signed_in_user_confirms_nothing_without_their_token(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE)
    await app.sign_up("other@unilag.edu.ng", phone=PHONE)
    tokens, other = await app.log_in(EMAIL), await app.log_in("other@unilag.edu.ng")
    await request_code(app, PHONE, tokens)
    body = {"phone": PHONE, "code": await newest_code(app)}
    assert (await app.post(VERIFY, body)).status_code == 422
    assert (await app.post(VERIFY, body, token=other["accessToken"])).status_code == 422
    assert (await app.post(VERIFY, body, token=tokens["accessToken"])).status_code == 200


async def test_a_number_signs_in_the_account_that_confirmed_it_last(app: IdentityApp) -> None:
    first = await app.sign_up(EMAIL, phone=PHONE)
    second = await app.sign_up("other@unilag.edu.ng", phone=PHONE)
    for email, owner in ((EMAIL, first), ("other@unilag.edu.ng", second)):
        await prove_number(app, await app.log_in(email))
        app.clock.advance(timedelta(minutes=1))
        await request_code(app, PHONE)
        response = await app.post(VERIFY, {"phone": PHONE, "code": await newest_code(app)})
        assert (await profile_of(app, response.json()["data"]))["id"] == str(owner)
        app.clock.advance(timedelta(minutes=1))
    events = await app.published("identity.profile_changed.v1")
    assert [(event["userId"], event["phoneConfirmed"]) for event in events[-2:]] == [
        (str(first), False),
        (str(second), True),
    ]


async def test_a_number_of_another_profile_cannot_be_confirmed(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    tokens = await app.log_in(EMAIL)
    await request_code(app, PHONE, tokens)
    assert await codes_sent(app) == []


async def test_an_invalid_token_is_ignored_when_requesting_a_code(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    tokens = await app.log_in(EMAIL)
    app.clock.advance(timedelta(minutes=20))
    assert (await app.post("/api/auth/otp", {"email": EMAIL}, token=tokens["accessToken"])).status_code == 200
    body = {"email": EMAIL, "code": await newest_code(app)}
    assert (await app.client.post(VERIFY, json=body, headers={"Authorization": "Basic x"})).status_code == 200


async def test_the_first_confirmation_of_a_number_removes_no_second_factor(app: IdentityApp) -> None:
    """With a stolen AAL1 token an attacker could name their own number: its proof must not remove the owner's
    credentials.
    """
    await app.sign_up(EMAIL, phone=PHONE)
    tokens = await app.log_in(EMAIL)
    secret = (await app.post("/api/auth/mfa/enroll", token=tokens["accessToken"])).json()["data"]["secret"]
    await app.step_up(tokens, secret)
    signed = await prove_number(app, tokens)
    assert (signed["aal"], signed["mfaRequired"]) == ("aal1", True)
    assert await log_in(app, PASSWORD) == RIGHT
