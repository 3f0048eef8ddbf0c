"""Second factors listed and removed, recovery codes, and how long a step-up lasts (contract sections 5 and 10)."""

import asyncio
import re
from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from identity.use_cases.sessions.refresh_session import refresh_session
from testkit.authenticator import Authenticator
from testkit.fixtures import eventually

from .conftest import PASSWORD, Identity

TOLA, BOLA = "tola@unilag.edu.ng", "bola@unilag.edu.ng"
FACTORS, CODES, VERIFY = "/api/auth/mfa/factors", "/api/auth/mfa/recovery-codes", "/api/auth/mfa/verify"


async def with_totp(identity: Identity, email: str = TOLA) -> tuple[dict[str, Any], str]:
    """A person with a confirmed TOTP factor, stepped up by it; its secret."""
    await identity.sign_up(email)
    tokens = await identity.log_in(email)
    secret = await enroll(identity, tokens, name="Old phone")
    return await identity.step_up(tokens, secret), secret


async def enroll(identity: Identity, tokens: dict[str, Any], **body: Any) -> str:
    response = await identity.post("/api/auth/mfa/enroll", body, token=tokens["accessToken"])
    assert response.status_code == 200, response.text
    return str(response.json()["data"]["secret"])


async def add_passkey(identity: Identity, tokens: dict[str, Any]) -> Authenticator:
    authenticator = Authenticator(origin="http://localhost:8080")
    asked = await identity.post("/api/auth/mfa/passkeys/options", token=tokens["accessToken"])
    assert asked.status_code == 200, asked.text
    challenge = asked.json()["data"]
    credential = authenticator.make(challenge["publicKey"])
    body = {"challengeId": challenge["challengeId"], "name": "Laptop", "credential": credential}
    response = await identity.post("/api/auth/mfa/passkeys", body, token=tokens["accessToken"])
    assert response.status_code == 201, response.text
    return authenticator


async def step_up_by_passkey(
    identity: Identity, tokens: dict[str, Any], authenticator: Authenticator
) -> dict[str, Any]:
    asked = await identity.post("/api/auth/mfa/passkeys/assertion-options", token=tokens["accessToken"])
    challenge = asked.json()["data"]
    shown = {"challengeId": challenge["challengeId"], "credential": authenticator.show(challenge["publicKey"])}
    response = await identity.post("/api/auth/mfa/passkeys/verify", shown, token=tokens["accessToken"])
    assert response.status_code == 200, response.text
    stepped: dict[str, Any] = response.json()["data"]
    return stepped


async def new_codes(identity: Identity, stepped: dict[str, Any]) -> list[str]:
    response = await identity.post(CODES, token=stepped["accessToken"])
    assert response.status_code == 201, response.text
    codes: list[str] = response.json()["data"]["codes"]
    return codes


async def listed(identity: Identity, tokens: dict[str, Any]) -> list[dict[str, Any]]:
    response = await identity.get(FACTORS, token=tokens["accessToken"])
    assert response.status_code == 200
    factors: list[dict[str, Any]] = response.json()["data"]
    return factors


async def remove(identity: Identity, tokens: dict[str, Any], factor_id: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
    return await identity.client.delete(f"{FACTORS}/{factor_id}", headers=headers)


async def refreshed(identity: Identity, tokens: dict[str, Any]) -> dict[str, Any]:
    response = await identity.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})
    assert response.status_code == 200, response.text
    fresh: dict[str, Any] = response.json()["data"]
    return fresh


async def make_staff(identity: Identity, email: str = TOLA) -> None:
    await identity.service.fetch(
        "INSERT INTO role_grants (user_id, role, granted_at) "
        "SELECT user_id, 'support_agent', now() FROM accounts WHERE email = $1",
        email,
    )


def methods(tokens: dict[str, Any]) -> list[str]:
    claims = jwt.decode(tokens["accessToken"], options={"verify_signature": False})
    return [entry["method"] for entry in claims["amr"]]


async def test_a_person_sees_their_own_factors_of_every_kind_and_no_secret(identity: Identity) -> None:
    await with_totp(identity, BOLA)
    stepped, secret = await with_totp(identity)
    await add_passkey(identity, stepped)
    identity.clock.advance(timedelta(seconds=1))
    unconfirmed = await enroll(identity, stepped)
    response = await identity.get(FACTORS, token=stepped["accessToken"])
    shown = [(row["kind"], row["name"], row["confirmed"]) for row in response.json()["data"]]
    assert sorted(shown[:2]) == [("passkey", "Laptop", True), ("totp", "Old phone", True)]
    assert shown[2:] == [("totp", None, False)]
    used = {(row["kind"], row["confirmed"]): row["lastUsedAt"] for row in response.json()["data"]}
    assert used == {
        ("totp", True): "2026-09-01T08:00:00.000Z",
        ("totp", False): None,
        ("passkey", True): None,
    }
    assert secret not in response.text
    assert unconfirmed not in response.text
    assert (await identity.get(FACTORS)).status_code == 401


async def test_whoever_signs_in_elsewhere_has_second_factors_here(identity: Identity) -> None:
    await identity.sign_up(TOLA)
    tokens = await identity.log_in(TOLA)
    await identity.service.fetch("UPDATE accounts SET email = NULL, password_hash = NULL")
    response = await identity.post("/api/auth/mfa/enroll", token=tokens["accessToken"])
    assert response.status_code == 200, response.text
    assert TOLA.replace("@", "%40") in response.json()["data"]["otpauthUri"]
    asked = await identity.post("/api/auth/mfa/passkeys/options", token=tokens["accessToken"])
    assert asked.json()["data"]["publicKey"]["user"]["name"] == TOLA
    authenticator = await add_passkey(identity, tokens)
    assert (await step_up_by_passkey(identity, tokens, authenticator))["aal"] == "aal2"


async def test_a_foreign_factor_is_no_factor(identity: Identity) -> None:
    theirs, _ = await with_totp(identity, BOLA)
    mine, _ = await with_totp(identity)
    foreign = (await listed(identity, theirs))[0]["id"]
    for factor_id in (foreign, new_id(), "not-a-uuid"):
        response = await remove(identity, mine, factor_id)
        assert (response.status_code, response.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
    assert await identity.count("totp_factors") == 2


async def test_removing_a_factor_needs_a_fresh_one(identity: Identity) -> None:
    stepped, _ = await with_totp(identity)
    factor_id = (await listed(identity, stepped))[0]["id"]
    at_aal1 = await identity.log_in(TOLA)
    # The step-up is judged before the row: an unknown id is refused in the same way.
    for wanted in (factor_id, new_id()):
        response = await remove(identity, at_aal1, wanted)
        assert (response.status_code, response.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")
    assert await identity.count("totp_factors") == 1


async def test_tokens_that_a_removed_factor_stepped_up_do_not_grow(identity: Identity) -> None:
    owner, secret = await with_totp(identity)
    authenticator = await add_passkey(identity, owner)
    identity.next_period()
    thief = await identity.step_up(await identity.log_in(TOLA), secret)
    by_passkey = await step_up_by_passkey(identity, await identity.log_in(TOLA), authenticator)
    totp = next(row["id"] for row in await listed(identity, owner) if row["kind"] == "totp")
    removed = await remove(identity, by_passkey, totp)
    assert (removed.status_code, removed.json()["data"]) == (200, {"id": totp})
    thiefs = await refreshed(identity, thief)
    assert (thiefs["aal"], thiefs["mfaRequired"], methods(thiefs)) == ("aal1", True, ["password"])
    assert (await refreshed(identity, owner))["aal"] == "aal1"
    kept = await refreshed(identity, by_passkey)
    assert (kept["aal"], methods(kept)) == ("aal2", ["password", "passkey"])
    assert (await remove(identity, kept, totp)).status_code == 404
    body = {"code": identity.code(secret)}
    assert (await identity.post(VERIFY, body, token=kept["accessToken"])).status_code == 422


async def test_a_refresh_that_began_before_the_removal_carries_no_step_up_past_it(identity: Identity) -> None:
    owner, secret = await with_totp(identity)
    identity.next_period()
    thief = await identity.step_up(await identity.log_in(TOLA), secret)
    factor_id = (await listed(identity, owner))[0]["id"]
    database, keys, now = identity.dependencies.database, identity.dependencies.signing_keys, identity.clock.now()
    waiting = (
        "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )

    async def removal_waits() -> bool:
        return bool((await identity.service.fetch(waiting))[0]["n"])

    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        hashes, issuer = identity.dependencies.hashes, identity.dependencies.issuer
        grown = await refresh_session(uow, keys, hashes, thief["refreshToken"], issuer=issuer, now=now)
        removal = asyncio.create_task(remove(identity, owner, factor_id))
        await eventually(removal_waits)
    assert (await removal).status_code == 200
    assert grown is not None
    assert grown.aal == "aal2"
    assert (await refreshed(identity, grown.response()))["aal"] == "aal1"


async def test_staff_keep_a_second_factor(identity: Identity) -> None:
    stepped, _ = await with_totp(identity)
    await make_staff(identity)
    only = (await listed(identity, stepped))[0]["id"]
    await enroll(identity, stepped)
    refused = await remove(identity, stepped, only)
    assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    unconfirmed = next(row["id"] for row in await listed(identity, stepped) if not row["confirmed"])
    assert (await remove(identity, stepped, unconfirmed)).status_code == 200
    await add_passkey(identity, stepped)
    ids = [row["id"] for row in await listed(identity, stepped)]
    answers = await asyncio.gather(*(remove(identity, stepped, factor_id) for factor_id in ids))
    assert sorted(response.status_code for response in answers) == [200, 409]
    assert len(await listed(identity, stepped)) == 1


async def test_with_the_last_factor_of_a_buyer_goes_whatever_stood_in_for_it(identity: Identity) -> None:
    stepped, _ = await with_totp(identity)
    codes = await new_codes(identity, stepped)
    recovered = await identity.post(VERIFY, {"code": codes[0]}, token=stepped["accessToken"])
    only = (await listed(identity, stepped))[0]["id"]
    assert (await remove(identity, stepped, only)).status_code == 200
    assert (await identity.log_in(TOLA))["mfaRequired"] is False
    assert await identity.count("recovery_codes") == 0
    response = await identity.post(VERIFY, {"code": codes[1]}, token=stepped["accessToken"])
    assert response.status_code == 422
    assert (await refreshed(identity, recovered.json()["data"]))["aal"] == "aal1"
    refused = await identity.post(CODES, token=stepped["accessToken"])
    assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")


async def test_ten_one_time_code_factors_are_enough(identity: Identity) -> None:
    stepped, _ = await with_totp(identity)
    await identity.service.fetch(
        "INSERT INTO totp_factors (id, user_id, secret_sealed, created_at, confirmed_at) "
        "SELECT gen_random_uuid(), user_id, 'sealed', now(), now() FROM accounts, generate_series(1, 9)"
    )
    response = await identity.post("/api/auth/mfa/enroll", token=stepped["accessToken"])
    assert (response.status_code, response.json()["code"]) == (409, "CONCURRENCY_CONFLICT")


async def test_recovery_codes_are_shown_once_and_stored_hashed(identity: Identity) -> None:
    stepped, _ = await with_totp(identity)
    left = await identity.get(CODES, token=stepped["accessToken"])
    assert left.json()["data"] == {"remaining": 0, "createdAt": None}
    codes = await new_codes(identity, stepped)
    assert len(set(codes)) == 10
    assert all(re.fullmatch(r"[A-Z2-7]{4}(-[A-Z2-7]{4}){3}", code) for code in codes)
    left = await identity.get(CODES, token=stepped["accessToken"])
    assert left.json()["data"] == {"remaining": 10, "createdAt": "2026-09-01T08:00:00.000Z"}
    stored = b"".join(row["code_hash"] for row in await identity.service.fetch("SELECT code_hash FROM recovery_codes"))
    assert not any(code.encode() in stored or code.replace("-", "").encode() in stored for code in codes)
    at_aal1 = await identity.log_in(TOLA)
    refused = await identity.post(CODES, token=at_aal1["accessToken"])
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")


async def test_a_recovery_code_steps_up_once(identity: Identity) -> None:
    stepped, _ = await with_totp(identity)
    codes = await new_codes(identity, stepped)
    tokens = await identity.log_in(TOLA)
    # As somebody may type it.
    typed = codes[0].replace("-", "").lower()
    response = await identity.post(VERIFY, {"code": typed}, token=tokens["accessToken"])
    assert response.status_code == 200, response.text
    recovered = response.json()["data"]
    assert (recovered["aal"], recovered["mfaRequired"]) == ("aal2", False)
    assert methods(recovered) == methods(await refreshed(identity, recovered)) == ["password", "recovery_code"]
    again = await identity.post(VERIFY, {"code": codes[0]}, token=tokens["accessToken"])
    assert (again.status_code, again.json()["invalid_params"][0]["name"]) == (422, "code")
    left = await identity.get(CODES, token=tokens["accessToken"])
    assert left.json()["data"]["remaining"] == 9
    assert len(await new_codes(identity, recovered)) == 10
    assert (await identity.post(VERIFY, {"code": codes[1]}, token=tokens["accessToken"])).status_code == 422


async def test_each_change_of_what_a_person_signs_in_with_is_said_so_that_they_are_told(identity: Identity) -> None:
    stepped, _ = await with_totp(identity)
    codes = await new_codes(identity, stepped)
    await add_passkey(identity, stepped)
    tokens = await identity.log_in(TOLA)
    assert (await identity.post(VERIFY, {"code": codes[0]}, token=tokens["accessToken"])).status_code == 200
    owned = (await identity.get(FACTORS, token=stepped["accessToken"])).json()["data"]
    headers = {"Authorization": f"Bearer {stepped['accessToken']}"}
    assert (await identity.client.delete(f"{FACTORS}/{owned[0]['id']}", headers=headers)).status_code == 200
    for _ in range(2):
        body = {"phone": "+2348031234567"}
        assert (await identity.client.patch("/api/profiles/current", json=body, headers=headers)).status_code == 200
    passwords = {"currentPassword": PASSWORD, "newPassword": "another long password"}
    response = await identity.post("/api/auth/password/change", passwords, token=stepped["accessToken"])
    assert response.status_code == 200, response.text
    said = [event["change"] for event in await identity.service.published("identity.credentials_changed.v1")]
    assert said == [
        "factor_added", "recovery_codes_renewed", "factor_added", "recovery_code_used", "factor_removed", "phone_changed",
        "password_changed",
    ]  # fmt: skip


async def test_of_two_at_once_with_one_recovery_code_one_wins(identity: Identity) -> None:
    stepped, _ = await with_totp(identity)
    code = (await new_codes(identity, stepped))[0]
    sessions = [await identity.log_in(TOLA) for _ in range(2)]
    answers = await asyncio.gather(
        *(identity.post(VERIFY, {"code": code}, token=tokens["accessToken"]) for tokens in sessions * 2)
    )
    assert sorted(response.status_code for response in answers) == [200, 422, 422, 422]


async def test_two_renewals_at_once_leave_ten_codes(identity: Identity) -> None:
    stepped, _ = await with_totp(identity)
    sets = await asyncio.gather(*(new_codes(identity, stepped) for _ in range(3)))
    stored = {bytes(row["code_hash"]) for row in await identity.service.fetch("SELECT code_hash FROM recovery_codes")}
    rows = await identity.service.fetch("SELECT user_id FROM accounts")
    hash_of = identity.dependencies.recovery_codes.hash_of
    assert {frozenset(hash_of(rows[0]["user_id"], code) for code in codes) == stored for codes in sets} == {True, False}
    assert len(stored) == 10


async def test_wrong_recovery_codes_wait_together_with_wrong_one_time_codes(identity: Identity) -> None:
    stepped, secret = await with_totp(identity)
    others, _ = await with_totp(identity, BOLA)
    codes, theirs = await new_codes(identity, stepped), await new_codes(identity, others)
    identity.next_period()
    right = identity.code(secret)
    wrong = f"{(int(right) + 1) % 1_000_000:06d}"
    for code in (theirs[0], wrong, theirs[1], wrong, theirs[2]):
        assert (await identity.post(VERIFY, {"code": code}, token=stepped["accessToken"])).status_code == 422
    for code in (codes[0], right):
        response = await identity.post(VERIFY, {"code": code}, token=stepped["accessToken"])
        assert (response.status_code, response.headers["Retry-After"]) == (429, "30")
    # Nobody else waits, and no code was used up.
    assert (await identity.post(VERIFY, {"code": theirs[0]}, token=others["accessToken"])).status_code == 200
    identity.clock.advance(timedelta(seconds=30))
    assert (await identity.post(VERIFY, {"code": codes[0]}, token=stepped["accessToken"])).status_code == 200


async def test_a_code_of_no_form_is_malformed_and_counts_for_nothing(identity: Identity) -> None:
    stepped, _ = await with_totp(identity)
    code = (await new_codes(identity, stepped))[0]
    factor_id = (await listed(identity, stepped))[0]["id"]
    bodies: list[dict[str, Any]] = [
        {"code": code[:-1]},
        {"code": code + "A"},
        {"code": code + "\n"},
        {"code": "1" + code[1:]},
        {"code": code.replace("-", "--")},
        {"code": "\u212a" + code[1:]},
        {"code": [code]},
        {"code": code, "factorId": factor_id},
        {"code": code, "kind": "recovery_code"},
    ]
    for body in bodies:
        response = await identity.post(VERIFY, body, token=stepped["accessToken"])
        assert (body, response.status_code, response.json()["code"]) == (body, 422, "VALIDATION_FAILED")
    rows = await identity.service.fetch("SELECT code_failures FROM accounts")
    assert [row["code_failures"] for row in rows] == [0]
    assert (await identity.post(VERIFY, {"code": code}, token=stepped["accessToken"])).status_code == 200


@pytest.mark.parametrize("method", ["totp", "passkey", "recovery_code"])
async def test_a_step_up_lasts_fifteen_minutes_to_the_second(identity: Identity, method: str) -> None:
    # Not on a full second: what the service keeps and what the token tells end together all the same.
    identity.clock.advance(timedelta(milliseconds=900))
    stepped, secret = await with_totp(identity)
    authenticator = await add_passkey(identity, stepped)
    code = (await new_codes(identity, stepped))[0]
    identity.next_period()
    shown_at = identity.clock.now().replace(microsecond=0)
    tokens = await identity.log_in(TOLA)
    if method == "passkey":
        stepped = await step_up_by_passkey(identity, tokens, authenticator)
    else:
        body = {"code": code if method == "recovery_code" else identity.code(secret)}
        stepped = (await identity.post(VERIFY, body, token=tokens["accessToken"])).json()["data"]
    assert methods(stepped) == ["password", method]
    assert (await identity.service.runtime.verifier.caller_of(stepped["accessToken"])).stepped_up_at == shown_at

    identity.clock.advance(shown_at + timedelta(minutes=15) - identity.clock.now())
    assert len(await new_codes(identity, stepped)) == 10
    last = await refreshed(identity, stepped)
    assert (last["aal"], last["mfaRequired"], methods(last)) == ("aal2", False, ["password", method])
    assert len(await new_codes(identity, last)) == 10

    for longer in (timedelta(milliseconds=1), timedelta(milliseconds=999)):
        identity.clock.advance(longer)
        last = await refreshed(identity, last)
        assert (last["aal"], last["mfaRequired"]) == ("aal1", True)
        for stale in (stepped, last):
            response = await identity.post(CODES, token=stale["accessToken"])
            assert (response.status_code, response.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")


async def test_challenges_that_nobody_answered_are_forgotten(identity: Identity) -> None:
    await identity.sign_up(TOLA)
    tokens = await identity.log_in(TOLA)
    for _ in range(2):
        await identity.post("/api/auth/mfa/passkeys/options", token=tokens["accessToken"])
        identity.clock.advance(timedelta(minutes=4))
    assert [await identity.service.remove_old() for _ in range(2)] == [1, 0]
    assert await identity.count("passkey_challenges") == 1
