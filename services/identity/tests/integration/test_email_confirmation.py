"""Nothing rests on a mail address or a number that was not proven (contract section 10.1)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from common.auth.caller import THE_SERVICE
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from contracts.identity import CODE_DELIVERY
from identity.domain.errors import CannotAppoint
from identity.use_cases.staff.appoint_admin import appoint_admin
from identity.use_cases.staff.ensure_first_admin import ensure_first_admin

from .conftest import CODE_DELIVERY_KEY, PASSWORD, SERVICE_ROLE_KEY, USERS, IdentityApp
from .responses import CONFLICT, data_of, error_of

EMAIL, PHONE = "victim@unilag.edu.ng", "+2348031234567"
MINE = "the password of the victim"
QUEUE = "identity.codes"
CODES, REPEATED = "identity.one_time_code_issued.v1", "identity.sign_up_repeated.v1"
CONFIRMED = "identity.email_confirmed.v1"
LOGIN, VERIFY = "/api/auth/login", "/api/auth/otp/verify"


async def codes_sent(app: IdentityApp) -> list[tuple[str, str, bool]]:
    """Address, code, and whether the mail confirms the address: everything that was sent, oldest first."""
    await app.service.work(QUEUE)
    encryptor = Encryptor(CODE_DELIVERY, CODE_DELIVERY_KEY)
    return [
        (
            encryptor.decrypt(event["addressSealed"], event["codeId"]),
            encryptor.decrypt(event["codeSealed"], event["codeId"]),
            event.get("confirmsEmail", False),
        )
        for event in await app.service.published(CODES)
    ]


async def newest_code(app: IdentityApp) -> str:
    return (await codes_sent(app))[-1][1]


async def prove(app: IdentityApp, email: str = EMAIL, **more: Any) -> dict[str, Any]:
    """Returns the tokens for the newest code of the address."""
    return data_of(await app.post(VERIFY, {"email": email, "code": await newest_code(app), **more}))


async def log_in(app: IdentityApp, password: str, email: str = EMAIL) -> tuple[int, str, Any]:
    """Status, code and the extension of a login."""
    response = await app.post(LOGIN, {"email": email, "password": password})
    body = response.json()
    return response.status_code, body.get("code", ""), body.get("confirmationRequired")


async def profile_of(app: IdentityApp, tokens: dict[str, Any]) -> dict[str, Any]:
    return (await app.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]


AWAITS_PROOF = (403, "AUTH_FORBIDDEN", True)
WRONG = (401, "AUTH_UNAUTHORIZED", None)
RIGHT = (200, "", None)


# --- Sign-up and login before the proof -----------------------------------------------------------------------------


async def test_a_sign_up_sends_a_code(app: IdentityApp) -> None:
    body = {"email": EMAIL, "password": PASSWORD, "fullName": "Tola"}
    response = await app.post("/api/auth/signup", body)
    user_id = response.json()["data"]["userId"]
    assert (response.status_code, response.json()["data"]) == (201, {"userId": user_id, "confirmationRequired": True})
    [(to, code, confirms)] = await codes_sent(app)
    assert (to, len(code), confirms) == (EMAIL, 6, True)
    tokens = await prove(app, password=PASSWORD)
    profile = await profile_of(app, tokens)
    assert (profile["id"], profile["emailConfirmed"]) == (user_id, True)
    assert await log_in(app, PASSWORD) == RIGHT


async def test_a_login_before_the_confirmation_sends_a_code_once_a_minute(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    assert await log_in(app, PASSWORD) == AWAITS_PROOF
    app.clock.advance(timedelta(seconds=59))
    assert await log_in(app, PASSWORD) == AWAITS_PROOF
    assert len(await codes_sent(app)) == 1
    app.clock.advance(timedelta(seconds=1))
    assert [await log_in(app, PASSWORD) for _ in range(3)] == [AWAITS_PROOF] * 3
    assert len(await codes_sent(app)) == 2
    assert await app.count("sessions") == 0
    await prove(app, password=PASSWORD)


async def test_a_wrong_password_before_the_confirmation_equals_an_unknown_address(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    app.clock.advance(timedelta(minutes=5))
    assert await log_in(app, "a wrong password") == await log_in(app, "x", "nobody@unilag.edu.ng") == WRONG
    assert len(await codes_sent(app)) == 1


async def test_a_code_requested_before_the_sign_up_does_not_delay_its_code(app: IdentityApp) -> None:
    await app.post("/api/auth/otp", {"email": EMAIL})
    await app.service.work(QUEUE)
    await app.sign_up_unproven(EMAIL)
    assert [(to, confirms) for to, _, confirms in await codes_sent(app)] == [(EMAIL, True)]


@pytest.mark.parametrize("owner", ["nobody", "unproven", "proven", "suspended"])
async def test_sign_up_and_login_do_not_reveal_known_addresses(app: IdentityApp, owner: str) -> None:
    if owner == "unproven":
        await app.sign_up_unproven(EMAIL)
    if owner in ("proven", "suspended"):
        user_id = await app.sign_up(EMAIL)
    if owner == "suspended":
        await app.service.fetch(
            "INSERT INTO suspensions (user_id, suspended_by, suspended_at) VALUES ($1, $2, now())", user_id, new_id()
        )
    app.clock.advance(timedelta(minutes=2))
    shapes = []
    for password in ("the first guess", "the second guess"):
        response = await app.post("/api/auth/signup", {"email": EMAIL, "password": password, "fullName": "Thief"})
        shapes.append(
            (response.status_code, response.json()["data"].keys(), response.json()["data"]["confirmationRequired"])
        )
    assert shapes == [(201, {"userId", "confirmationRequired"}, True)] * 2
    assert [await log_in(app, text) for text in ("the first guess", "the second guess", "a third one")] == [
        AWAITS_PROOF,
        AWAITS_PROOF,
        WRONG,
    ]
    expected = {"nobody": RIGHT, "unproven": AWAITS_PROOF, "proven": RIGHT, "suspended": WRONG}[owner]
    if owner != "nobody":
        assert await log_in(app, PASSWORD) == expected


async def test_a_login_before_the_confirmation_costs_as_much_as_a_wrong_password(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    await app.sign_up("known@unilag.edu.ng")
    await app.post(
        "/api/auth/signup", {"email": "known@unilag.edu.ng", "password": "a guess for it", "fullName": "Thief"}
    )
    passwords = app.dependencies.passwords
    work: list[str] = []
    matches, digest = passwords.matches, passwords.digest

    async def counted_matches(*values: Any) -> bool:
        work.append("matches")
        return bool(await matches(*values))

    async def counted_digest(*values: Any) -> bytes:
        work.append("digest")
        return bytes(await digest(*values))

    passwords.matches, passwords.digest = counted_matches, counted_digest
    for email, password in (
        (EMAIL, PASSWORD), (EMAIL, "wrong"), ("known@unilag.edu.ng", "a guess for it"),
        ("known@unilag.edu.ng", "wrong"), ("nobody@unilag.edu.ng", "wrong"),
    ):  # fmt: skip
        work.clear()
        await log_in(app, password, email)
        assert work == ["matches", "digest"]


async def test_the_owner_of_an_address_that_was_signed_up_with_again_gets_a_mail(app: IdentityApp) -> None:
    user_id = await app.sign_up(EMAIL)
    body = {"email": EMAIL, "password": "another password", "fullName": "Thief"}
    for _ in range(3):
        assert (await app.post("/api/auth/signup", body)).status_code == 201
    await app.service.work(QUEUE)
    events = await app.service.published(REPEATED)
    assert [event["userId"] for event in events] == [str(user_id)]
    assert await codes_sent(app) == []


async def test_twenty_sign_ups_of_one_address_at_once_send_one_code(app: IdentityApp) -> None:
    body = {"email": EMAIL, "password": PASSWORD, "fullName": "Tola"}
    responses = await asyncio.gather(*(app.post("/api/auth/signup", body) for _ in range(20)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.json()["data"]["userId"] for response in responses}) == 20
    assert len(await codes_sent(app)) == 1


# --- The first proof -------------------------------------------------------------------------------------------------


async def attack_before_the_proof(app: IdentityApp) -> dict[str, Any]:
    """An attacker's sign-up with the victim's address, with all that accounts from before this rule could have had."""
    user_id = await app.sign_up(EMAIL, phone=PHONE)
    tokens = await app.log_in(EMAIL)
    secret = (await app.post("/api/auth/mfa/enroll", token=tokens["accessToken"])).json()["data"]["secret"]
    stepped = await app.step_up(tokens, secret)
    recovery = await app.post("/api/auth/mfa/recovery-codes", token=stepped["accessToken"])
    await app.post("/api/auth/mfa/passkeys/options", token=stepped["accessToken"])
    await app.service.fetch(
        "INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name, created_at) "
        "VALUES ($1, $2, $3, $3, 0, 'key', now())",
        new_id(),
        user_id,
        b"credential",
    )
    await app.service.fetch("UPDATE profiles SET confirmed_email = NULL WHERE id = $1", user_id)
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
    assert await app.service.fetch("SELECT 1 FROM refresh_tokens WHERE stepped_up_at IS NOT NULL") == []


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
    changed = await app.service.published("identity.profile_changed.v1")
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
    assert len(await app.service.published(CONFIRMED)) == 1


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


# --- What rests on a proven address ----------------------------------------------------------------------------------


async def create_user(app: IdentityApp, email: str, **more: Any) -> dict[str, Any]:
    body = {"user": {"id": str(new_id()), "email": email, **more}}
    return data_of(await app.post("/functions/v1/create-user", body, token=SERVICE_ROLE_KEY))


async def referral_token(app: IdentityApp) -> str:
    await app.load_demo()
    tokens = await app.demo_log_in("BUYER")
    return (await app.get("/api/referrals/current", token=tokens["accessToken"])).json()["data"]["token"]


async def test_a_reward_is_recorded_at_the_sign_up_and_earned_by_the_confirmation(app: IdentityApp) -> None:
    token = await referral_token(app)
    await app.sign_up_unproven(EMAIL, referralToken=token)
    [provisioned] = [
        event for event in await app.service.published("identity.user_provisioned.v1") if event["email"] == EMAIL
    ]
    assert (provisioned["emailConfirmed"], provisioned["referral"]["rewardMinor"]) == (False, 50_000)
    assert await app.service.published(CONFIRMED) == []
    await prove(app, password=PASSWORD)
    [earned] = await app.service.published(CONFIRMED)
    assert (earned["userId"], earned["referralRewardMinor"]) == (provisioned["userId"], 50_000)


async def test_create_user_states_whether_the_address_is_confirmed(app: IdentityApp) -> None:
    for email, more, confirmed in (
        ("a@unilag.edu.ng", {}, False),
        ("b@unilag.edu.ng", {"email_confirmed": True}, True),
    ):
        created = await create_user(app, email, **more)
        [row] = await app.service.fetch(
            "SELECT confirmed_email IS NOT NULL AS it FROM profiles WHERE id = $1", UUID(created["profileId"])
        )
        assert row["it"] is confirmed
    events = await app.service.published("identity.user_provisioned.v1")
    assert [event["emailConfirmed"] for event in events] == [False, True]


async def admin_of(app: IdentityApp) -> str:
    await app.load_demo()
    tokens = await app.step_up(await app.demo_log_in("ADMIN"), "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    return tokens["accessToken"]


@pytest.mark.parametrize("role", ["auditor", "finance_maker"])
async def test_a_staff_role_is_granted_only_to_a_confirmed_address(app: IdentityApp, role: str) -> None:
    admin = await admin_of(app)
    user_id = await app.sign_up_unproven(EMAIL)
    assert error_of(await app.post(f"/api/staff/{user_id}/grant", {"role": role}, token=admin)) == CONFLICT
    assert await app.count("staff_grants") == 0
    await prove(app, password=PASSWORD)
    granted = await app.post(f"/api/staff/{user_id}/grant", {"role": role}, token=admin)
    assert granted.status_code in (200, 201)


async def test_grant_admin_appoints_only_a_confirmed_address(app: IdentityApp) -> None:
    database, now = app.dependencies.database, app.clock.now()
    await app.sign_up_unproven(EMAIL)
    with pytest.raises(CannotAppoint, match="not confirmed"):
        await appoint_admin(database, EMAIL, now=now)
    await prove(app, password=PASSWORD)
    assert "platform_admin" in await appoint_admin(database, EMAIL, now=now)


async def test_the_first_administrator_signs_in_after_the_confirmation(app: IdentityApp) -> None:
    dependencies = app.dependencies
    await ensure_first_admin(
        dependencies.database,
        dependencies.passwords,
        dependencies.institutions,
        "root@campus.example",
        PASSWORD,
        hashes=dependencies.hashes,
        now=app.clock.now(),
    )
    assert await log_in(app, PASSWORD, "root@campus.example") == AWAITS_PROOF
    tokens = await prove(app, "root@campus.example", password=PASSWORD)
    assert "platform_admin" in (await profile_of(app, tokens))["roles"]
    assert await log_in(app, PASSWORD, "root@campus.example") == RIGHT


async def test_demo_accounts_are_confirmed_also_those_of_an_older_release(app: IdentityApp) -> None:
    await app.load_demo()
    await app.service.fetch("UPDATE profiles SET confirmed_email = NULL, confirmed_phone = NULL")
    await app.load_demo()
    for user in USERS.values():
        tokens = await app.demo_log_in(user.name)
        profile = await profile_of(app, tokens)
        assert (profile["emailConfirmed"], profile["phoneConfirmed"]) == (True, True)
    events = await app.service.published("identity.profile_changed.v1")
    assert [event["phoneConfirmed"] for event in events] == [True] * len(USERS)


# --- Numbers ---------------------------------------------------------------------------------------------------------


async def request_code(app: IdentityApp, phone: str, tokens: dict[str, Any] | None = None) -> None:
    token = tokens["accessToken"] if tokens else None
    assert (await app.post("/api/auth/otp", {"phone": phone}, token=token)).status_code == 200


async def prove_number(app: IdentityApp, tokens: dict[str, Any]) -> dict[str, Any]:
    await request_code(app, PHONE, tokens)
    code = await newest_code(app)
    return data_of(await app.post(VERIFY, {"phone": PHONE, "code": code}, token=tokens["accessToken"]))


async def test_an_unconfirmed_number_signs_in_nobody(app: IdentityApp) -> None:
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
    events = await app.service.published("identity.profile_changed.v1")
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
    """A stolen token of AAL1 could name the thief's number: proving it must not be a way to the owner's credentials."""
    await app.sign_up(EMAIL, phone=PHONE)
    tokens = await app.log_in(EMAIL)
    secret = (await app.post("/api/auth/mfa/enroll", token=tokens["accessToken"])).json()["data"]["secret"]
    await app.step_up(tokens, secret)
    signed = await prove_number(app, tokens)
    assert (signed["aal"], signed["mfaRequired"]) == ("aal1", True)
    assert await log_in(app, PASSWORD) == RIGHT


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
    assert len(await app.service.published(CONFIRMED)) == 1
    async with app.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch_value("SELECT count(*) FROM profiles WHERE confirmed_email = email") == 1
