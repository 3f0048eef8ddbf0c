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

from .conftest import CODE_DELIVERY_KEY, PASSWORD, SERVICE_ROLE_KEY, USERS, Identity

EMAIL, PHONE = "victim@unilag.edu.ng", "+2348031234567"
MINE = "the password of the victim"
QUEUE = "identity.codes"
CODES, REPEATED = "identity.one_time_code_issued.v1", "identity.sign_up_repeated.v1"
CONFIRMED = "identity.email_confirmed.v1"
LOGIN, VERIFY = "/api/auth/login", "/api/auth/otp/verify"


async def codes_sent(identity: Identity) -> list[tuple[str, str, bool]]:
    """Address, code, and whether the mail confirms the address: everything that was sent, oldest first."""
    await identity.service.work(QUEUE)
    encryptor = Encryptor(CODE_DELIVERY, CODE_DELIVERY_KEY)
    return [
        (
            encryptor.decrypt(event["addressSealed"], event["codeId"]),
            encryptor.decrypt(event["codeSealed"], event["codeId"]),
            event.get("confirmsEmail", False),
        )
        for event in await identity.service.published(CODES)
    ]


async def newest_code(identity: Identity) -> str:
    return (await codes_sent(identity))[-1][1]


async def prove(identity: Identity, email: str = EMAIL, **more: Any) -> dict[str, Any]:
    """The tokens of who shows the newest code of the address."""
    response = await identity.post(VERIFY, {"email": email, "code": await newest_code(identity), **more})
    assert response.status_code == 200, response.text
    tokens: dict[str, Any] = response.json()["data"]
    return tokens


async def log_in(identity: Identity, password: str, email: str = EMAIL) -> tuple[int, str, Any]:
    """Status, code and the extension of a login."""
    response = await identity.post(LOGIN, {"email": email, "password": password})
    body = response.json()
    return response.status_code, body.get("code", ""), body.get("confirmationRequired")


async def profile_of(identity: Identity, tokens: dict[str, Any]) -> dict[str, Any]:
    profile: dict[str, Any] = (await identity.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]
    return profile


AWAITS_PROOF = (403, "AUTH_FORBIDDEN", True)
WRONG = (401, "AUTH_UNAUTHORIZED", None)
RIGHT = (200, "", None)


# --- Sign-up and login before the proof -----------------------------------------------------------------------------


async def test_a_sign_up_answers_that_a_code_is_on_its_way_and_sends_it(identity: Identity) -> None:
    body = {"email": EMAIL, "password": PASSWORD, "fullName": "Tola"}
    response = await identity.post("/api/auth/signup", body)
    user_id = response.json()["data"]["userId"]
    assert (response.status_code, response.json()["data"]) == (201, {"userId": user_id, "confirmationRequired": True})
    [(to, code, confirms)] = await codes_sent(identity)
    assert (to, len(code), confirms) == (EMAIL, 6, True)
    tokens = await prove(identity, password=PASSWORD)
    profile = await profile_of(identity, tokens)
    assert (profile["id"], profile["emailConfirmed"]) == (user_id, True)
    assert await log_in(identity, PASSWORD) == RIGHT


async def test_a_login_before_the_proof_is_refused_and_sends_a_code_once_a_minute(identity: Identity) -> None:
    await identity.sign_up_unproven(EMAIL)
    assert await log_in(identity, PASSWORD) == AWAITS_PROOF
    identity.clock.advance(timedelta(seconds=59))
    assert await log_in(identity, PASSWORD) == AWAITS_PROOF
    assert len(await codes_sent(identity)) == 1
    identity.clock.advance(timedelta(seconds=1))
    assert [await log_in(identity, PASSWORD) for _ in range(3)] == [AWAITS_PROOF] * 3
    assert len(await codes_sent(identity)) == 2
    assert await identity.count("sessions") == 0
    await prove(identity, password=PASSWORD)


async def test_a_wrong_password_before_the_proof_is_like_an_unknown_address(identity: Identity) -> None:
    await identity.sign_up_unproven(EMAIL)
    identity.clock.advance(timedelta(minutes=5))
    assert await log_in(identity, "a wrong password") == await log_in(identity, "x", "nobody@unilag.edu.ng") == WRONG
    assert len(await codes_sent(identity)) == 1


async def test_a_code_that_was_asked_for_before_the_sign_up_does_not_delay_its_code(identity: Identity) -> None:
    await identity.post("/api/auth/otp", {"email": EMAIL})
    await identity.service.work(QUEUE)
    await identity.sign_up_unproven(EMAIL)
    assert [(to, confirms) for to, _, confirms in await codes_sent(identity)] == [(EMAIL, True)]


@pytest.mark.parametrize("owner", ["nobody", "unproven", "proven", "suspended"])
async def test_signing_up_and_logging_in_tells_nobody_whether_the_address_was_known(
    identity: Identity, owner: str
) -> None:
    if owner == "unproven":
        await identity.sign_up_unproven(EMAIL)
    if owner in ("proven", "suspended"):
        user_id = await identity.sign_up(EMAIL)
    if owner == "suspended":
        await identity.service.fetch(
            "INSERT INTO suspensions (user_id, suspended_by, suspended_at) VALUES ($1, $2, now())", user_id, new_id()
        )
    identity.clock.advance(timedelta(minutes=2))
    shapes = []
    for password in ("the first guess", "the second guess"):
        response = await identity.post("/api/auth/signup", {"email": EMAIL, "password": password, "fullName": "Thief"})
        shapes.append(
            (response.status_code, response.json()["data"].keys(), response.json()["data"]["confirmationRequired"])
        )
    assert shapes == [(201, {"userId", "confirmationRequired"}, True)] * 2
    assert [await log_in(identity, text) for text in ("the first guess", "the second guess", "a third one")] == [
        AWAITS_PROOF,
        AWAITS_PROOF,
        WRONG,
    ]
    expected = {"nobody": RIGHT, "unproven": AWAITS_PROOF, "proven": RIGHT, "suspended": WRONG}[owner]
    if owner != "nobody":
        assert await log_in(identity, PASSWORD) == expected


async def test_a_login_before_the_proof_takes_the_work_of_one_with_a_wrong_password(identity: Identity) -> None:
    await identity.sign_up_unproven(EMAIL)
    await identity.sign_up("known@unilag.edu.ng")
    await identity.post(
        "/api/auth/signup", {"email": "known@unilag.edu.ng", "password": "a guess for it", "fullName": "Thief"}
    )
    passwords = identity.dependencies.passwords
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
        await log_in(identity, password, email)
        assert work == ["matches", "digest"]


async def test_the_owner_of_an_address_that_was_signed_up_with_again_gets_a_mail(identity: Identity) -> None:
    user_id = await identity.sign_up(EMAIL)
    body = {"email": EMAIL, "password": "another password", "fullName": "Thief"}
    for _ in range(3):
        assert (await identity.post("/api/auth/signup", body)).status_code == 201
    await identity.service.work(QUEUE)
    told = await identity.service.published(REPEATED)
    assert [event["userId"] for event in told] == [str(user_id)]
    assert await codes_sent(identity) == []


async def test_twenty_sign_ups_of_one_address_at_once_send_one_code(identity: Identity) -> None:
    body = {"email": EMAIL, "password": PASSWORD, "fullName": "Tola"}
    answers = await asyncio.gather(*(identity.post("/api/auth/signup", body) for _ in range(20)))
    assert {response.status_code for response in answers} == {201}
    assert len({response.json()["data"]["userId"] for response in answers}) == 20
    assert len(await codes_sent(identity)) == 1


# --- The first proof -------------------------------------------------------------------------------------------------


async def attack_before_the_proof(identity: Identity) -> dict[str, Any]:
    """An attacker's sign-up with the victim's address, with all that accounts from before this rule could have had."""
    user_id = await identity.sign_up(EMAIL, phone=PHONE)
    tokens = await identity.log_in(EMAIL)
    secret = (await identity.post("/api/auth/mfa/enroll", token=tokens["accessToken"])).json()["data"]["secret"]
    stepped = await identity.step_up(tokens, secret)
    recovery = await identity.post("/api/auth/mfa/recovery-codes", token=stepped["accessToken"])
    await identity.post("/api/auth/mfa/passkeys/options", token=stepped["accessToken"])
    await identity.service.fetch(
        "INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name, created_at) "
        "VALUES ($1, $2, $3, $3, 0, 'key', now())",
        new_id(),
        user_id,
        b"credential",
    )
    await identity.service.fetch("UPDATE profiles SET confirmed_email = NULL WHERE id = $1", user_id)
    identity.clock.advance(timedelta(minutes=1))
    return {
        "user_id": user_id,
        "tokens": [tokens, stepped],
        "secret": secret,
        "recovery": recovery.json()["data"]["codes"][0],
    }


async def assert_attacker_keeps_nothing(identity: Identity, attack: dict[str, Any]) -> None:
    assert await log_in(identity, PASSWORD) == WRONG
    for tokens in attack["tokens"]:
        dead = await identity.get("/api/profiles/current", token=tokens["accessToken"])
        assert dead.status_code == 401
        assert (await identity.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})).status_code == 401
    for table in ("totp_factors", "recovery_codes", "passkeys", "passkey_challenges", "sign_up_passwords"):
        assert await identity.count(table) == 0, table
    assert await identity.service.fetch("SELECT 1 FROM refresh_tokens WHERE stepped_up_at IS NOT NULL") == []


async def test_the_first_proof_by_a_code_leaves_nothing_to_who_registered_the_address_before(
    identity: Identity,
) -> None:
    attack = await attack_before_the_proof(identity)
    await identity.post("/api/auth/otp", {"email": EMAIL})
    tokens = await prove(identity, password=MINE)
    assert (tokens["aal"], tokens["mfaRequired"]) == ("aal1", False)
    profile = await profile_of(identity, tokens)
    # The number was the attacker's: PINs and codes would go there.
    assert (profile["emailConfirmed"], profile["phone"]) == (True, None)
    changed = await identity.service.published("identity.profile_changed.v1")
    assert changed[-1].get("phone") is None
    await assert_attacker_keeps_nothing(identity, attack)
    assert await log_in(identity, MINE) == WRONG
    refused = await identity.post(
        "/api/auth/mfa/verify", {"code": identity.code(attack["secret"])}, token=tokens["accessToken"]
    )
    assert refused.status_code == 422
    refused = await identity.post("/api/auth/mfa/verify", {"code": attack["recovery"]}, token=tokens["accessToken"])
    assert refused.status_code == 422


async def test_the_first_proof_by_a_reset_leaves_nothing_to_who_registered_the_address_before(
    identity: Identity,
) -> None:
    attack = await attack_before_the_proof(identity)
    await identity.post("/api/auth/password/forgot", {"email": EMAIL})
    token = await newest_code(identity)
    response = await identity.post("/api/auth/password/reset", {"token": token, "password": MINE})
    assert (response.status_code, response.json()["data"]) == (200, {"sessionsEnded": 1})
    assert await log_in(identity, MINE) == RIGHT
    await assert_attacker_keeps_nothing(identity, attack)
    tokens = await identity.log_in(EMAIL, MINE)
    assert (await profile_of(identity, tokens))["phone"] is None


async def test_a_password_that_comes_with_the_code_and_matches_is_kept_with_the_number(identity: Identity) -> None:
    await identity.sign_up_unproven(EMAIL, phone=PHONE)
    tokens = await prove(identity, password=PASSWORD)
    profile = await profile_of(identity, tokens)
    assert (profile["phone"], profile["phoneConfirmed"]) == (PHONE, False)
    assert await log_in(identity, PASSWORD) == RIGHT


async def test_a_first_proof_without_the_password_removes_it_and_a_reset_sets_one(identity: Identity) -> None:
    await identity.sign_up_unproven(EMAIL)
    tokens = await prove(identity)
    assert await log_in(identity, PASSWORD) == WRONG
    change = {"currentPassword": PASSWORD, "newPassword": MINE}
    refused = await identity.post("/api/auth/password/change", change, token=tokens["accessToken"])
    assert refused.status_code == 422
    await identity.post("/api/auth/password/forgot", {"email": EMAIL})
    reset = await identity.post("/api/auth/password/reset", {"token": await newest_code(identity), "password": MINE})
    assert reset.status_code == 200
    assert await log_in(identity, MINE) == RIGHT


async def test_a_later_proof_removes_nothing(identity: Identity) -> None:
    await identity.sign_up_unproven(EMAIL)
    here = await prove(identity, password=PASSWORD)
    secret = (await identity.post("/api/auth/mfa/enroll", token=here["accessToken"])).json()["data"]["secret"]
    await identity.step_up(here, secret)
    identity.clock.advance(timedelta(minutes=1))
    await identity.post("/api/auth/otp", {"email": EMAIL})
    there = await prove(identity)
    assert there["mfaRequired"] is True
    assert await log_in(identity, PASSWORD) == RIGHT
    assert (await profile_of(identity, here))["emailConfirmed"] is True
    assert len(await identity.service.published(CONFIRMED)) == 1


async def test_a_wrong_code_proves_nothing_and_removes_nothing(identity: Identity) -> None:
    await identity.sign_up_unproven(EMAIL)
    code = await newest_code(identity)
    wrong = str((int(code) + 1) % 10**6).zfill(6)
    response = await identity.post(VERIFY, {"email": EMAIL, "code": wrong, "password": PASSWORD})
    assert response.status_code == 422
    assert await log_in(identity, PASSWORD) == AWAITS_PROOF


async def test_tokens_of_before_this_rule_are_not_renewed_for_an_unproven_address(identity: Identity) -> None:
    attack = await attack_before_the_proof(identity)
    response = await identity.post("/api/auth/refresh", {"refreshToken": attack["tokens"][0]["refreshToken"]})
    assert (response.status_code, response.json()["confirmationRequired"]) == (403, True)
    assert await log_in(identity, PASSWORD) == AWAITS_PROOF


async def test_an_account_without_a_password_can_be_erased(identity: Identity) -> None:
    await identity.sign_up_unproven(EMAIL)
    tokens = await prove(identity)
    headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
    response = await identity.client.request("DELETE", "/api/profiles/current", json={}, headers=headers)
    assert response.status_code == 202


# --- What rests on a proven address ----------------------------------------------------------------------------------


async def create_user(identity: Identity, email: str, **more: Any) -> dict[str, Any]:
    response = await identity.client.post(
        "/functions/v1/create-user",
        json={"user": {"id": str(new_id()), "email": email, **more}},
        headers={"Authorization": f"Bearer {SERVICE_ROLE_KEY}"},
    )
    assert response.status_code == 200, response.text
    created: dict[str, Any] = response.json()["data"]
    return created


async def referral_token(identity: Identity) -> str:
    await identity.load_demo()
    tokens = await identity.demo_log_in("BUYER")
    token: str = (await identity.get("/api/referrals/current", token=tokens["accessToken"])).json()["data"]["token"]
    return token


async def test_a_reward_is_promised_at_the_sign_up_and_earned_by_the_proof(identity: Identity) -> None:
    token = await referral_token(identity)
    await identity.sign_up_unproven(EMAIL, referralToken=token)
    [provisioned] = [
        event for event in await identity.service.published("identity.user_provisioned.v1") if event["email"] == EMAIL
    ]
    assert (provisioned["emailConfirmed"], provisioned["referral"]["rewardMinor"]) == (False, 50_000)
    assert await identity.service.published(CONFIRMED) == []
    await prove(identity, password=PASSWORD)
    [earned] = await identity.service.published(CONFIRMED)
    assert (earned["userId"], earned["referralRewardMinor"]) == (provisioned["userId"], 50_000)


async def test_create_user_says_whether_the_address_is_proven(identity: Identity) -> None:
    for email, more, confirmed in (
        ("a@unilag.edu.ng", {}, False),
        ("b@unilag.edu.ng", {"email_confirmed": True}, True),
    ):
        created = await create_user(identity, email, **more)
        [row] = await identity.service.fetch(
            "SELECT confirmed_email IS NOT NULL AS it FROM profiles WHERE id = $1", UUID(created["profileId"])
        )
        assert row["it"] is confirmed
    told = await identity.service.published("identity.user_provisioned.v1")
    assert [event["emailConfirmed"] for event in told] == [False, True]


async def admin_of(identity: Identity) -> str:
    await identity.load_demo()
    tokens = await identity.step_up(await identity.demo_log_in("ADMIN"), "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    token: str = tokens["accessToken"]
    return token


@pytest.mark.parametrize("role", ["auditor", "finance_maker"])
async def test_a_role_of_staff_is_granted_only_to_a_proven_address(identity: Identity, role: str) -> None:
    admin = await admin_of(identity)
    user_id = await identity.sign_up_unproven(EMAIL)
    refused = await identity.post(f"/api/staff/{user_id}/grant", {"role": role}, token=admin)
    assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert await identity.count("staff_grants") == 0
    await prove(identity, password=PASSWORD)
    granted = await identity.post(f"/api/staff/{user_id}/grant", {"role": role}, token=admin)
    assert granted.status_code in (200, 201)


async def test_the_command_line_appoints_only_a_proven_address(identity: Identity) -> None:
    database, now = identity.dependencies.database, identity.clock.now()
    await identity.sign_up_unproven(EMAIL)
    with pytest.raises(CannotAppoint, match="not confirmed"):
        await appoint_admin(database, EMAIL, now=now)
    await prove(identity, password=PASSWORD)
    assert "platform_admin" in await appoint_admin(database, EMAIL, now=now)


async def test_the_first_administrator_signs_in_after_the_proof(identity: Identity) -> None:
    dependencies = identity.dependencies
    await ensure_first_admin(
        dependencies.database,
        dependencies.passwords,
        dependencies.institutions,
        "root@campus.example",
        PASSWORD,
        hashes=dependencies.hashes,
        now=identity.clock.now(),
    )
    assert await log_in(identity, PASSWORD, "root@campus.example") == AWAITS_PROOF
    tokens = await prove(identity, "root@campus.example", password=PASSWORD)
    assert "platform_admin" in (await profile_of(identity, tokens))["roles"]
    assert await log_in(identity, PASSWORD, "root@campus.example") == RIGHT


async def test_the_demo_accounts_are_proven_also_those_of_an_older_version(identity: Identity) -> None:
    await identity.load_demo()
    await identity.service.fetch("UPDATE profiles SET confirmed_email = NULL, confirmed_phone = NULL")
    await identity.load_demo()
    for user in USERS.values():
        tokens = await identity.demo_log_in(user.name)
        profile = await profile_of(identity, tokens)
        assert (profile["emailConfirmed"], profile["phoneConfirmed"]) == (True, True)
    told = await identity.service.published("identity.profile_changed.v1")
    assert [event["phoneConfirmed"] for event in told] == [True] * len(USERS)


# --- Numbers ---------------------------------------------------------------------------------------------------------


async def ask(identity: Identity, phone: str, tokens: dict[str, Any] | None = None) -> None:
    token = tokens["accessToken"] if tokens else None
    response = await identity.post("/api/auth/otp", {"phone": phone}, token=token)
    assert response.status_code == 200


async def prove_number(identity: Identity, tokens: dict[str, Any]) -> dict[str, Any]:
    await ask(identity, PHONE, tokens)
    code = await newest_code(identity)
    response = await identity.post(VERIFY, {"phone": PHONE, "code": code}, token=tokens["accessToken"])
    assert response.status_code == 200, response.text
    signed: dict[str, Any] = response.json()["data"]
    return signed


async def test_a_number_that_nobody_has_proven_signs_in_nobody(identity: Identity) -> None:
    await identity.sign_up(EMAIL, phone=PHONE)
    await ask(identity, PHONE)
    assert await codes_sent(identity) == []


async def test_a_number_is_proven_by_its_signed_in_owner(identity: Identity) -> None:
    user_id = await identity.sign_up(EMAIL, phone=PHONE)
    tokens = await identity.log_in(EMAIL)
    signed = await prove_number(identity, tokens)
    assert (await profile_of(identity, signed))["phoneConfirmed"] is True
    assert (await profile_of(identity, tokens))["id"] == str(user_id)
    assert await log_in(identity, PASSWORD) == RIGHT
    identity.clock.advance(timedelta(minutes=1))
    await ask(identity, PHONE)
    response = await identity.post(VERIFY, {"phone": PHONE, "code": await newest_code(identity)})
    assert response.status_code == 200
    assert (await profile_of(identity, response.json()["data"]))["id"] == str(user_id)


async def test_a_code_that_a_signed_in_user_asked_for_proves_nothing_without_their_token(identity: Identity) -> None:
    await identity.sign_up(EMAIL, phone=PHONE)
    await identity.sign_up("other@unilag.edu.ng", phone=PHONE)
    tokens, other = await identity.log_in(EMAIL), await identity.log_in("other@unilag.edu.ng")
    await ask(identity, PHONE, tokens)
    body = {"phone": PHONE, "code": await newest_code(identity)}
    assert (await identity.post(VERIFY, body)).status_code == 422
    assert (await identity.post(VERIFY, body, token=other["accessToken"])).status_code == 422
    assert (await identity.post(VERIFY, body, token=tokens["accessToken"])).status_code == 200


async def test_of_two_accounts_that_name_one_number_it_signs_in_who_proved_it_last(identity: Identity) -> None:
    first = await identity.sign_up(EMAIL, phone=PHONE)
    second = await identity.sign_up("other@unilag.edu.ng", phone=PHONE)
    for email, owner in ((EMAIL, first), ("other@unilag.edu.ng", second)):
        await prove_number(identity, await identity.log_in(email))
        identity.clock.advance(timedelta(minutes=1))
        await ask(identity, PHONE)
        response = await identity.post(VERIFY, {"phone": PHONE, "code": await newest_code(identity)})
        assert (await profile_of(identity, response.json()["data"]))["id"] == str(owner)
        identity.clock.advance(timedelta(minutes=1))
    told = await identity.service.published("identity.profile_changed.v1")
    assert [(event["userId"], event["phoneConfirmed"]) for event in told[-2:]] == [
        (str(first), False),
        (str(second), True),
    ]


async def test_a_number_that_the_profile_does_not_name_cannot_be_proven(identity: Identity) -> None:
    await identity.sign_up(EMAIL)
    tokens = await identity.log_in(EMAIL)
    await ask(identity, PHONE, tokens)
    assert await codes_sent(identity) == []


async def test_a_token_that_is_not_good_is_ignored_where_a_code_is_asked_for(identity: Identity) -> None:
    await identity.sign_up(EMAIL)
    tokens = await identity.log_in(EMAIL)
    identity.clock.advance(timedelta(minutes=20))
    response = await identity.post("/api/auth/otp", {"email": EMAIL}, token=tokens["accessToken"])
    assert response.status_code == 200
    body = {"email": EMAIL, "code": await newest_code(identity)}
    response = await identity.client.post(VERIFY, json=body, headers={"Authorization": "Basic x"})
    assert response.status_code == 200


async def test_the_first_proof_of_a_number_removes_no_second_factor(identity: Identity) -> None:
    """A stolen token of AAL1 could name the thief's number: proving it must not be a way to the owner's credentials."""
    await identity.sign_up(EMAIL, phone=PHONE)
    tokens = await identity.log_in(EMAIL)
    secret = (await identity.post("/api/auth/mfa/enroll", token=tokens["accessToken"])).json()["data"]["secret"]
    await identity.step_up(tokens, secret)
    signed = await prove_number(identity, tokens)
    assert (signed["aal"], signed["mfaRequired"]) == ("aal1", True)
    assert await log_in(identity, PASSWORD) == RIGHT


async def test_two_proofs_of_an_address_at_once_end_in_one(identity: Identity) -> None:
    await identity.sign_up_unproven(EMAIL)
    await identity.post("/api/auth/password/forgot", {"email": EMAIL})
    sent = await codes_sent(identity)
    code, token = sent[0][1], sent[1][1]
    answers = await asyncio.gather(
        identity.post(VERIFY, {"email": EMAIL, "code": code, "password": PASSWORD}),
        identity.post("/api/auth/password/reset", {"token": token, "password": MINE}),
    )
    assert all(response.status_code in (200, 422) for response in answers)
    assert len(await identity.service.published(CONFIRMED)) == 1
    async with identity.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch_value("SELECT count(*) FROM profiles WHERE confirmed_email = email") == 1
