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
from testkit.responses import CONFLICT, NOT_FOUND, STEP_UP_REQUIRED, data_of, error_of, invalid_field_of

from .conftest import PASSWORD, IdentityApp

TOLA, BOLA = "tola@unilag.edu.ng", "bola@unilag.edu.ng"
FACTORS, CODES, VERIFY = "/api/auth/mfa/factors", "/api/auth/mfa/recovery-codes", "/api/auth/mfa/verify"


async def with_totp(app: IdentityApp, email: str = TOLA) -> tuple[dict[str, Any], str]:
    """Return the stepped-up tokens and the secret of a user with a confirmed TOTP factor."""
    await app.sign_up(email)
    tokens = await app.log_in(email)
    secret = await enroll(app, tokens, name="Old phone")
    return await app.step_up(tokens, secret), secret


async def enroll(app: IdentityApp, tokens: dict[str, Any], **body: Any) -> str:
    return str(data_of(await app.post("/api/auth/mfa/enroll", body, token=tokens["accessToken"]))["secret"])


async def add_passkey(app: IdentityApp, tokens: dict[str, Any]) -> Authenticator:
    authenticator = Authenticator(origin="http://localhost:8080")
    challenge = data_of(await app.post("/api/auth/mfa/passkeys/options", token=tokens["accessToken"]))
    credential = authenticator.make(challenge["publicKey"])
    body = {"challengeId": challenge["challengeId"], "name": "Laptop", "credential": credential}
    response = await app.post("/api/auth/mfa/passkeys", body, token=tokens["accessToken"])
    assert response.status_code == 201, response.text
    return authenticator


async def step_up_by_passkey(app: IdentityApp, tokens: dict[str, Any], authenticator: Authenticator) -> dict[str, Any]:
    started = await app.post("/api/auth/mfa/passkeys/assertion-options", token=tokens["accessToken"])
    challenge = started.json()["data"]
    shown = {"challengeId": challenge["challengeId"], "credential": authenticator.show(challenge["publicKey"])}
    return data_of(await app.post("/api/auth/mfa/passkeys/verify", shown, token=tokens["accessToken"]))


async def new_codes(app: IdentityApp, stepped: dict[str, Any]) -> list[str]:
    return data_of(await app.post(CODES, token=stepped["accessToken"]), 201)["codes"]


async def listed(app: IdentityApp, tokens: dict[str, Any]) -> list[dict[str, Any]]:
    return data_of(await app.get(FACTORS, token=tokens["accessToken"]))


async def remove(app: IdentityApp, tokens: dict[str, Any], factor_id: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
    return await app.client.delete(f"{FACTORS}/{factor_id}", headers=headers)


async def refreshed(app: IdentityApp, tokens: dict[str, Any]) -> dict[str, Any]:
    return data_of(await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}))


async def make_staff(app: IdentityApp, email: str = TOLA) -> None:
    await app.fetch(
        "INSERT INTO role_grants (user_id, role, granted_at) "
        "SELECT user_id, 'support_agent', now() FROM accounts WHERE email = $1",
        email,
    )


def methods(tokens: dict[str, Any]) -> list[str]:
    claims = jwt.decode(tokens["accessToken"], options={"verify_signature": False})
    return [entry["method"] for entry in claims["amr"]]


async def test_a_user_sees_their_own_factors_without_secrets(app: IdentityApp) -> None:
    await with_totp(app, BOLA)
    stepped, secret = await with_totp(app)
    await add_passkey(app, stepped)
    app.clock.advance(timedelta(seconds=1))
    unconfirmed = await enroll(app, stepped)
    response = await app.get(FACTORS, token=stepped["accessToken"])
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
    assert (await app.get(FACTORS)).status_code == 401


async def test_a_federated_user_has_second_factors_here(app: IdentityApp) -> None:
    await app.sign_up(TOLA)
    tokens = await app.log_in(TOLA)
    await app.fetch("UPDATE accounts SET email = NULL, password_hash = NULL")
    response = await app.post("/api/auth/mfa/enroll", token=tokens["accessToken"])
    assert response.status_code == 200, response.text
    assert TOLA.replace("@", "%40") in response.json()["data"]["otpauthUri"]
    started = await app.post("/api/auth/mfa/passkeys/options", token=tokens["accessToken"])
    assert started.json()["data"]["publicKey"]["user"]["name"] == TOLA
    authenticator = await add_passkey(app, tokens)
    assert (await step_up_by_passkey(app, tokens, authenticator))["aal"] == "aal2"


async def test_a_foreign_factor_is_no_factor(app: IdentityApp) -> None:
    theirs, _ = await with_totp(app, BOLA)
    mine, _ = await with_totp(app)
    foreign = (await listed(app, theirs))[0]["id"]
    for factor_id in (foreign, new_id(), "not-a-uuid"):
        assert error_of(await remove(app, mine, factor_id)) == NOT_FOUND
    assert await app.count("totp_factors") == 2


async def test_removing_a_factor_needs_a_fresh_one(app: IdentityApp) -> None:
    stepped, _ = await with_totp(app)
    factor_id = (await listed(app, stepped))[0]["id"]
    at_aal1 = await app.log_in(TOLA)
    # The step-up is checked before the row: an unknown id is refused in the same way.
    for unknown_or_own in (factor_id, new_id()):
        assert error_of(await remove(app, at_aal1, unknown_or_own)) == STEP_UP_REQUIRED
    assert await app.count("totp_factors") == 1


async def test_tokens_stepped_up_by_a_removed_factor_are_no_longer_aal2(app: IdentityApp) -> None:
    owner, secret = await with_totp(app)
    authenticator = await add_passkey(app, owner)
    app.next_period()
    thief = await app.step_up(await app.log_in(TOLA), secret)
    by_passkey = await step_up_by_passkey(app, await app.log_in(TOLA), authenticator)
    totp = next(row["id"] for row in await listed(app, owner) if row["kind"] == "totp")
    removed = await remove(app, by_passkey, totp)
    assert (removed.status_code, removed.json()["data"]) == (200, {"id": totp})
    thiefs = await refreshed(app, thief)
    assert (thiefs["aal"], thiefs["mfaRequired"], methods(thiefs)) == ("aal1", True, ["password"])
    assert (await refreshed(app, owner))["aal"] == "aal1"
    kept = await refreshed(app, by_passkey)
    assert (kept["aal"], methods(kept)) == ("aal2", ["password", "passkey"])
    assert (await remove(app, kept, totp)).status_code == 404
    body = {"code": app.code(secret)}
    assert (await app.post(VERIFY, body, token=kept["accessToken"])).status_code == 422


async def test_a_refresh_started_before_a_removal_keeps_no_step_up(app: IdentityApp) -> None:
    owner, secret = await with_totp(app)
    app.next_period()
    thief = await app.step_up(await app.log_in(TOLA), secret)
    factor_id = (await listed(app, owner))[0]["id"]
    dependencies, now = app.dependencies, app.clock.now()
    waiting = (
        "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )

    async def removal_waits() -> bool:
        return bool((await app.fetch(waiting))[0]["n"])

    async with app.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        grown = await refresh_session(
            uow, dependencies.token_issuer, dependencies.hashes, thief["refreshToken"], now=now
        )
        removal = asyncio.create_task(remove(app, owner, factor_id))
        await eventually(removal_waits)
    assert (await removal).status_code == 200
    assert grown is not None
    assert grown.aal == "aal2"
    assert (await refreshed(app, {"refreshToken": grown.refresh_token}))["aal"] == "aal1"


async def test_staff_keep_a_second_factor(app: IdentityApp) -> None:
    stepped, _ = await with_totp(app)
    await make_staff(app)
    only = (await listed(app, stepped))[0]["id"]
    await enroll(app, stepped)
    assert error_of(await remove(app, stepped, only)) == CONFLICT
    unconfirmed = next(row["id"] for row in await listed(app, stepped) if not row["confirmed"])
    assert (await remove(app, stepped, unconfirmed)).status_code == 200
    await add_passkey(app, stepped)
    ids = [row["id"] for row in await listed(app, stepped)]
    responses = await asyncio.gather(*(remove(app, stepped, factor_id) for factor_id in ids))
    assert sorted(response.status_code for response in responses) == [200, 409]
    assert len(await listed(app, stepped)) == 1


async def test_the_last_factor_removes_its_recovery_codes(app: IdentityApp) -> None:
    stepped, _ = await with_totp(app)
    codes = await new_codes(app, stepped)
    recovered = await app.post(VERIFY, {"code": codes[0]}, token=stepped["accessToken"])
    only = (await listed(app, stepped))[0]["id"]
    assert (await remove(app, stepped, only)).status_code == 200
    assert (await app.log_in(TOLA))["mfaRequired"] is False
    assert await app.count("recovery_codes") == 0
    assert (await app.post(VERIFY, {"code": codes[1]}, token=stepped["accessToken"])).status_code == 422
    assert (await refreshed(app, recovered.json()["data"]))["aal"] == "aal1"
    assert error_of(await app.post(CODES, token=stepped["accessToken"])) == CONFLICT


async def test_ten_one_time_code_factors_are_enough(app: IdentityApp) -> None:
    stepped, _ = await with_totp(app)
    await app.fetch(
        "INSERT INTO totp_factors (id, user_id, secret_sealed, created_at, confirmed_at) "
        "SELECT gen_random_uuid(), user_id, 'sealed', now(), now() FROM accounts, generate_series(1, 9)"
    )
    assert error_of(await app.post("/api/auth/mfa/enroll", token=stepped["accessToken"])) == CONFLICT


async def test_recovery_codes_are_shown_once_and_stored_hashed(app: IdentityApp) -> None:
    stepped, _ = await with_totp(app)
    left = await app.get(CODES, token=stepped["accessToken"])
    assert left.json()["data"] == {"remaining": 0, "createdAt": None}
    codes = await new_codes(app, stepped)
    assert len(set(codes)) == 10
    assert all(re.fullmatch(r"[A-Z2-7]{4}(-[A-Z2-7]{4}){3}", code) for code in codes)
    left = await app.get(CODES, token=stepped["accessToken"])
    assert left.json()["data"] == {"remaining": 10, "createdAt": "2026-09-01T08:00:00.000Z"}
    stored = b"".join(row["code_hash"] for row in await app.fetch("SELECT code_hash FROM recovery_codes"))
    assert not any(code.encode() in stored or code.replace("-", "").encode() in stored for code in codes)
    at_aal1 = await app.log_in(TOLA)
    assert error_of(await app.post(CODES, token=at_aal1["accessToken"])) == STEP_UP_REQUIRED


async def test_a_recovery_code_steps_up_once(app: IdentityApp) -> None:
    stepped, _ = await with_totp(app)
    codes = await new_codes(app, stepped)
    tokens = await app.log_in(TOLA)
    # Users may type it without hyphens and in lower case.
    typed = codes[0].replace("-", "").lower()
    recovered = data_of(await app.post(VERIFY, {"code": typed}, token=tokens["accessToken"]))
    assert (recovered["aal"], recovered["mfaRequired"]) == ("aal2", False)
    assert methods(recovered) == methods(await refreshed(app, recovered)) == ["password", "recovery_code"]
    assert invalid_field_of(await app.post(VERIFY, {"code": codes[0]}, token=tokens["accessToken"])) == (422, "code")
    left = await app.get(CODES, token=tokens["accessToken"])
    assert left.json()["data"]["remaining"] == 9
    assert len(await new_codes(app, recovered)) == 10
    assert (await app.post(VERIFY, {"code": codes[1]}, token=tokens["accessToken"])).status_code == 422


async def test_each_change_of_credentials_is_published(app: IdentityApp) -> None:
    stepped, _ = await with_totp(app)
    codes = await new_codes(app, stepped)
    await add_passkey(app, stepped)
    tokens = await app.log_in(TOLA)
    assert (await app.post(VERIFY, {"code": codes[0]}, token=tokens["accessToken"])).status_code == 200
    owned = (await app.get(FACTORS, token=stepped["accessToken"])).json()["data"]
    headers = {"Authorization": f"Bearer {stepped['accessToken']}"}
    assert (await app.client.delete(f"{FACTORS}/{owned[0]['id']}", headers=headers)).status_code == 200
    for _ in range(2):
        body = {"phone": "+2348031234567"}
        assert (await app.client.patch("/api/profiles/current", json=body, headers=headers)).status_code == 200
    passwords = {"currentPassword": PASSWORD, "newPassword": "another long password"}
    response = await app.post("/api/auth/password/change", passwords, token=stepped["accessToken"])
    assert response.status_code == 200, response.text
    changes = [event["change"] for event in await app.published("identity.credentials_changed.v1")]
    assert changes == [
        "factor_added", "recovery_codes_renewed", "factor_added", "recovery_code_used", "factor_removed",
        "phone_changed",
        "password_changed",
    ]  # fmt: skip


async def test_of_two_at_once_with_one_recovery_code_one_succeeds(app: IdentityApp) -> None:
    stepped, _ = await with_totp(app)
    code = (await new_codes(app, stepped))[0]
    sessions = [await app.log_in(TOLA) for _ in range(2)]
    responses = await asyncio.gather(
        *(app.post(VERIFY, {"code": code}, token=tokens["accessToken"]) for tokens in sessions * 2)
    )
    assert sorted(response.status_code for response in responses) == [200, 422, 422, 422]


async def test_two_renewals_at_once_store_ten_codes(app: IdentityApp) -> None:
    stepped, _ = await with_totp(app)
    sets = await asyncio.gather(*(new_codes(app, stepped) for _ in range(3)))
    stored = {bytes(row["code_hash"]) for row in await app.fetch("SELECT code_hash FROM recovery_codes")}
    rows = await app.fetch("SELECT user_id FROM accounts")
    hash_of = app.dependencies.recovery_codes.hash_of
    assert {frozenset(hash_of(rows[0]["user_id"], code) for code in codes) == stored for codes in sets} == {True, False}
    assert len(stored) == 10


async def test_wrong_recovery_codes_wait_together_with_wrong_one_time_codes(app: IdentityApp) -> None:
    stepped, secret = await with_totp(app)
    others, _ = await with_totp(app, BOLA)
    codes, theirs = await new_codes(app, stepped), await new_codes(app, others)
    app.next_period()
    right = app.code(secret)
    wrong = f"{(int(right) + 1) % 1_000_000:06d}"
    for code in (theirs[0], wrong, theirs[1], wrong, theirs[2]):
        assert (await app.post(VERIFY, {"code": code}, token=stepped["accessToken"])).status_code == 422
    for code in (codes[0], right):
        response = await app.post(VERIFY, {"code": code}, token=stepped["accessToken"])
        assert (response.status_code, response.headers["Retry-After"]) == (429, "30")
    # No other user waits, and no code was used.
    assert (await app.post(VERIFY, {"code": theirs[0]}, token=others["accessToken"])).status_code == 200
    app.clock.advance(timedelta(seconds=30))
    assert (await app.post(VERIFY, {"code": codes[0]}, token=stepped["accessToken"])).status_code == 200


async def test_a_malformed_code_is_not_counted(app: IdentityApp) -> None:
    stepped, _ = await with_totp(app)
    code = (await new_codes(app, stepped))[0]
    factor_id = (await listed(app, stepped))[0]["id"]
    bodies: list[dict[str, Any]] = [
        {"code": code[:-1]},
        {"code": code + "A"},
        {"code": "1" + code[1:]},
        {"code": "\u00e9" + code[1:]},
        {"code": [code]},
        {"code": code, "factorId": factor_id},
        {"code": code, "kind": "recovery_code"},
    ]
    for body in bodies:
        response = await app.post(VERIFY, body, token=stepped["accessToken"])
        assert (body, response.status_code, response.json()["code"]) == (body, 422, "VALIDATION_FAILED")
    rows = await app.fetch("SELECT code_failures FROM accounts")
    assert [row["code_failures"] for row in rows] == [0]
    assert (await app.post(VERIFY, {"code": code}, token=stepped["accessToken"])).status_code == 200


@pytest.mark.parametrize("method", ["totp", "passkey", "recovery_code"])
async def test_a_step_up_lasts_fifteen_minutes_to_the_second(app: IdentityApp, method: str) -> None:
    # Not on a full second: the stored step-up and the claim of the token expire together nevertheless.
    app.clock.advance(timedelta(milliseconds=900))
    stepped, secret = await with_totp(app)
    authenticator = await add_passkey(app, stepped)
    code = (await new_codes(app, stepped))[0]
    app.next_period()
    shown_at = app.clock.now().replace(microsecond=0)
    tokens = await app.log_in(TOLA)
    if method == "passkey":
        stepped = await step_up_by_passkey(app, tokens, authenticator)
    else:
        body = {"code": code if method == "recovery_code" else app.code(secret)}
        stepped = (await app.post(VERIFY, body, token=tokens["accessToken"])).json()["data"]
    assert methods(stepped) == ["password", method]
    assert (await app.runtime.verifier.caller_of(stepped["accessToken"])).stepped_up_at == shown_at

    app.clock.advance(shown_at + timedelta(minutes=15) - app.clock.now())
    assert len(await new_codes(app, stepped)) == 10
    last = await refreshed(app, stepped)
    assert (last["aal"], last["mfaRequired"], methods(last)) == ("aal2", False, ["password", method])
    assert len(await new_codes(app, last)) == 10

    for longer in (timedelta(milliseconds=1), timedelta(milliseconds=999)):
        app.clock.advance(longer)
        last = await refreshed(app, last)
        assert (last["aal"], last["mfaRequired"]) == ("aal2", False)
        for stale in (stepped, last):
            assert error_of(await app.post(CODES, token=stale["accessToken"])) == STEP_UP_REQUIRED


async def test_retention_purges_unanswered_challenges(app: IdentityApp) -> None:
    await app.sign_up(TOLA)
    tokens = await app.log_in(TOLA)
    for _ in range(2):
        await app.post("/api/auth/mfa/passkeys/options", token=tokens["accessToken"])
        app.clock.advance(timedelta(minutes=4))
    assert [await app.remove_old() for _ in range(2)] == [1, 0]
    assert await app.count("passkey_challenges") == 1
