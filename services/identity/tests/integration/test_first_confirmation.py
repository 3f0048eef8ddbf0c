"""The first confirmation of an address removes earlier credentials (contract section 10.1)."""

import asyncio
from datetime import timedelta
from typing import Any

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id

from .confirmation_steps import (
    AWAITS_PROOF,
    CONFIRMED,
    EMAIL,
    MINE,
    PHONE,
    RIGHT,
    VERIFY,
    WRONG,
    codes_sent,
    log_in,
    newest_code,
    profile_of,
    prove,
)
from .conftest import PASSWORD, IdentityApp


async def attack_before_the_proof(app: IdentityApp) -> dict[str, Any]:
    """Return an attacker's sign-up with the victim's address, with all that accounts from before this rule could have
    had.
    """
    user_id = await app.sign_up(EMAIL, phone=PHONE)
    tokens = await app.log_in(EMAIL)
    secret = (await app.post("/api/auth/mfa/enroll", token=tokens["accessToken"])).json()["data"]["secret"]
    stepped = await app.step_up(tokens, secret)
    recovery = await app.post("/api/auth/mfa/recovery-codes", token=stepped["accessToken"])
    await app.post("/api/auth/mfa/passkeys/options", token=stepped["accessToken"])
    await app.fetch(
        "INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name, created_at) "
        "VALUES ($1, $2, $3, $3, 0, 'key', now())",
        new_id(),
        user_id,
        b"credential",
    )
    await app.fetch("UPDATE profiles SET confirmed_email = NULL WHERE id = $1", user_id)
    app.clock.advance(timedelta(minutes=1))
    return {
        "user_id": user_id,
        "tokens": [tokens, stepped],
        "secret": secret,
        "recovery": recovery.json()["data"]["codes"][0],
    }


async def assert_attacker_keeps_nothing(app: IdentityApp, attack: dict[str, Any]) -> None:
    assert await log_in(app, PASSWORD) == WRONG
    for tokens in attack["tokens"]:
        assert (await app.get("/api/profiles/current", token=tokens["accessToken"])).status_code == 401
        assert (await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})).status_code == 401
    for table in ("totp_factors", "recovery_codes", "passkeys", "passkey_challenges", "sign_up_passwords"):
        assert await app.count(table) == 0, table
    assert await app.fetch("SELECT 1 FROM refresh_tokens WHERE stepped_up_at IS NOT NULL") == []


async def test_the_first_confirmation_by_a_code_removes_earlier_credentials(
    app: IdentityApp,
) -> None:
    attack = await attack_before_the_proof(app)
    await app.post("/api/auth/otp", {"email": EMAIL})
    tokens = await prove(app, password=MINE)
    assert (tokens["aal"], tokens["mfaRequired"]) == ("aal1", False)
    profile = await profile_of(app, tokens)
    # The number was the attacker's: PINs and codes would go there.
    assert (profile["emailConfirmed"], profile["phone"]) == (True, None)
    changed = await app.published("identity.profile_changed.v1")
    assert changed[-1].get("phone") is None
    await assert_attacker_keeps_nothing(app, attack)
    assert await log_in(app, MINE) == WRONG
    refused = await app.post("/api/auth/mfa/verify", {"code": app.code(attack["secret"])}, token=tokens["accessToken"])
    assert refused.status_code == 422
    refused = await app.post("/api/auth/mfa/verify", {"code": attack["recovery"]}, token=tokens["accessToken"])
    assert refused.status_code == 422


async def test_the_first_confirmation_by_a_reset_removes_earlier_credentials(
    app: IdentityApp,
) -> None:
    attack = await attack_before_the_proof(app)
    await app.post("/api/auth/password/forgot", {"email": EMAIL})
    token = await newest_code(app)
    response = await app.post("/api/auth/password/reset", {"token": token, "password": MINE})
    assert (response.status_code, response.json()["data"]) == (200, {"sessionsEnded": 1})
    assert await log_in(app, MINE) == RIGHT
    await assert_attacker_keeps_nothing(app, attack)
    tokens = await app.log_in(EMAIL, MINE)
    assert (await profile_of(app, tokens))["phone"] is None


async def test_a_password_that_comes_with_the_code_and_matches_is_stored_with_the_number(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL, phone=PHONE)
    tokens = await prove(app, password=PASSWORD)
    profile = await profile_of(app, tokens)
    assert (profile["phone"], profile["phoneConfirmed"]) == (PHONE, False)
    assert await log_in(app, PASSWORD) == RIGHT


async def test_a_first_confirmation_without_the_password_removes_it(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    tokens = await prove(app)
    assert await log_in(app, PASSWORD) == WRONG
    change = {"currentPassword": PASSWORD, "newPassword": MINE}
    assert (await app.post("/api/auth/password/change", change, token=tokens["accessToken"])).status_code == 422
    await app.post("/api/auth/password/forgot", {"email": EMAIL})
    reset = await app.post("/api/auth/password/reset", {"token": await newest_code(app), "password": MINE})
    assert reset.status_code == 200
    assert await log_in(app, MINE) == RIGHT


async def test_a_later_confirmation_removes_nothing(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    here = await prove(app, password=PASSWORD)
    secret = (await app.post("/api/auth/mfa/enroll", token=here["accessToken"])).json()["data"]["secret"]
    await app.step_up(here, secret)
    app.clock.advance(timedelta(minutes=1))
    await app.post("/api/auth/otp", {"email": EMAIL})
    there = await prove(app)
    assert there["mfaRequired"] is True
    assert await log_in(app, PASSWORD) == RIGHT
    assert (await profile_of(app, here))["emailConfirmed"] is True
    assert len(await app.published(CONFIRMED)) == 1


async def test_a_wrong_code_confirms_and_removes_nothing(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    code = await newest_code(app)
    wrong = str((int(code) + 1) % 10**6).zfill(6)
    assert (await app.post(VERIFY, {"email": EMAIL, "code": wrong, "password": PASSWORD})).status_code == 422
    assert await log_in(app, PASSWORD) == AWAITS_PROOF


async def test_older_tokens_are_not_refreshed_for_an_unconfirmed_address(app: IdentityApp) -> None:
    attack = await attack_before_the_proof(app)
    response = await app.post("/api/auth/refresh", {"refreshToken": attack["tokens"][0]["refreshToken"]})
    assert (response.status_code, response.json()["confirmationRequired"]) == (403, True)
    assert await log_in(app, PASSWORD) == AWAITS_PROOF


async def test_an_account_without_a_password_can_be_erased(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    tokens = await prove(app)
    headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
    assert (await app.client.request("DELETE", "/api/profiles/current", json={}, headers=headers)).status_code == 202


async def test_two_concurrent_confirmations_of_an_address_end_in_one(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    await app.post("/api/auth/password/forgot", {"email": EMAIL})
    sent = await codes_sent(app)
    code, token = sent[0][1], sent[1][1]
    responses = await asyncio.gather(
        app.post(VERIFY, {"email": EMAIL, "code": code, "password": PASSWORD}),
        app.post("/api/auth/password/reset", {"token": token, "password": MINE}),
    )
    assert all(response.status_code in (200, 422) for response in responses)
    assert len(await app.published(CONFIRMED)) == 1
    async with app.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch_value("SELECT count(*) FROM profiles WHERE confirmed_email = email") == 1
