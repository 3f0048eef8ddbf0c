"""One-time codes, password resets and changes, sessions, slow logins (contract sections 4, 5 and 10.2)."""

import asyncio
import hashlib
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import jwt
import pytest

from common.auth.caller import ANONYMOUS, THE_SERVICE
from common.auth.tokens import Revocations
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from common.process import revocations
from contracts.identity import CODE_DELIVERY
from identity.credentials.login_throttle import WAITING_MAX, LoginThrottle
from identity.domain.one_time_codes import ISSUED_IN_HOUR_MAX, TRIES_MAX, Destination
from identity.use_cases.codes.verify_code import verify_code
from identity.use_cases.passwords.reset_password import reset_password

from .conftest import CODE_DELIVERY_KEY, DEMO_SECRET, PASSWORD, SERVICE_ROLE_KEY, USERS, IdentityApp
from .responses import UNAUTHORIZED, data_of, error_of

EMAIL, PHONE = "tola@unilag.edu.ng", "+2348031234567"
NEW_PASSWORD = "another good password"
QUEUE = "identity.codes"
ISSUED = "identity.one_time_code_issued.v1"
REVOKED = "identity.session_revoked.v1"


async def sent(app: IdentityApp) -> list[dict[str, str]]:
    """What notifications would send: address, code, purpose and channel in the clear, oldest first."""
    await app.service.work(QUEUE)
    encryptor = Encryptor(CODE_DELIVERY, CODE_DELIVERY_KEY)
    return [
        {
            "to": encryptor.decrypt(event["addressSealed"], event["codeId"]),
            "code": encryptor.decrypt(event["codeSealed"], event["codeId"]),
            "purpose": event["purpose"],
            "channel": event["channel"],
        }
        for event in await app.service.published(ISSUED)
    ]


async def code_for(app: IdentityApp, **address: str) -> str:
    response = await app.post("/api/auth/otp", address)
    assert (response.status_code, response.json()["data"]) == (200, {"expiresIn": 600})
    return (await sent(app))[-1]["code"]


async def reset_token(app: IdentityApp, email: str = EMAIL) -> str:
    response = await app.post("/api/auth/password/forgot", {"email": email})
    assert (response.status_code, response.json()["data"]) == (200, {"expiresIn": 1800})
    return (await sent(app))[-1]["code"]


async def profile_of(app: IdentityApp, tokens: dict[str, Any]) -> dict[str, Any]:
    return (await app.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]


async def is_alive(app: IdentityApp, tokens: dict[str, Any]) -> bool:
    return (await app.get("/api/profiles/current", token=tokens["accessToken"])).status_code == 200


def wrong(code: str) -> str:
    return str((int(code) + 1) % 10**6).zfill(6)


def problem_of(response: Any) -> tuple[int, str, list[str]]:
    body = response.json()
    return response.status_code, body["code"], [param["name"] for param in body["invalid_params"]]


WRONG_CODE = (422, "VALIDATION_FAILED", ["code"])
WRONG_TOKEN = (422, "VALIDATION_FAILED", ["token"])


# --- Signing in with a code ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [{"email": "TOLA@unilag.edu.ng"}, {"phone": "0803 123 4567"}])
async def test_a_code_signs_in_once_and_confirms_the_address_it_went_to(
    app: IdentityApp, address: dict[str, str]
) -> None:
    user_id = await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    code = await code_for(app, **address)
    [message] = await sent(app)
    channel, to = ("email", EMAIL) if "email" in address else ("sms", PHONE)
    assert (message["channel"], message["to"], message["purpose"]) == (channel, to, "sign_in")
    assert len(code) == 6
    tokens = data_of(await app.post("/api/auth/otp/verify", {**address, "code": code}))
    assert (tokens["aal"], tokens["mfaRequired"]) == ("aal1", False)
    claims = jwt.decode(tokens["accessToken"], options={"verify_signature": False})
    assert claims["sub"] == str(user_id)
    assert [entry["method"] for entry in claims["amr"]] == ["otp"]
    profile = await profile_of(app, tokens)
    assert (profile["emailConfirmed"], profile["phoneConfirmed"]) == (True, True)
    again = await app.post("/api/auth/otp/verify", {**address, "code": code})
    assert problem_of(again) == WRONG_CODE
    refreshed = await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})
    methods = jwt.decode(refreshed.json()["data"]["accessToken"], options={"verify_signature": False})["amr"]
    assert [entry["method"] for entry in methods] == ["otp"]


async def test_of_twenty_concurrent_uses_of_one_code_one_signs_in(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    body = {"email": EMAIL, "code": await code_for(app, email=EMAIL)}
    responses = await asyncio.gather(*(app.post("/api/auth/otp/verify", body) for _ in range(20)))
    assert sorted(response.status_code for response in responses) == [200] + [422] * 19
    assert await app.count("sessions") == 1


async def test_twenty_requests_at_once_make_one_code(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    responses = await asyncio.gather(*(app.post("/api/auth/otp", {"email": EMAIL}) for _ in range(20)))
    assert {response.status_code for response in responses} == {200}
    assert len(await sent(app)) == 1


async def test_five_wrong_tries_expire_a_code(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    code = await code_for(app, email=EMAIL)
    for _ in range(TRIES_MAX):
        response = await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": wrong(code)})
        assert problem_of(response) == WRONG_CODE
    assert problem_of(await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": code})) == WRONG_CODE
    app.clock.advance(timedelta(seconds=30))
    fresh = await code_for(app, email=EMAIL)
    assert (await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": fresh})).status_code == 200


async def test_concurrent_guesses_get_five_tries_in_total(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    code = await code_for(app, email=EMAIL)
    guess = {"email": EMAIL, "code": wrong(code)}
    responses = await asyncio.gather(*(app.post("/api/auth/otp/verify", guess) for _ in range(20)))
    assert {response.status_code for response in responses} == {422}
    assert [row["tries"] for row in await app.service.fetch("SELECT tries FROM one_time_codes")] == [TRIES_MAX]


async def test_a_code_is_a_first_factor_and_no_second_one(app: IdentityApp) -> None:
    await app.load_demo()
    vendor = USERS["VENDOR"]
    code = await code_for(app, phone=vendor.phone)
    tokens = (await app.post("/api/auth/otp/verify", {"phone": vendor.phone, "code": code})).json()["data"]
    assert (tokens["aal"], tokens["mfaRequired"]) == ("aal1", True)
    assert (await app.service.runtime.verifier.caller_of(tokens["accessToken"])).stepped_up_at is None
    stepped = await app.step_up(tokens, DEMO_SECRET)
    methods = jwt.decode(stepped["accessToken"], options={"verify_signature": False})["amr"]
    assert [entry["method"] for entry in methods] == ["otp", "totp"]
    assert (await app.service.runtime.verifier.caller_of(stepped["accessToken"])).stepped_up_at is not None


async def test_a_code_works_for_ten_minutes_and_only_where_it_went(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    code = await code_for(app, email=EMAIL)
    assert problem_of(await app.post("/api/auth/otp/verify", {"phone": PHONE, "code": code})) == WRONG_CODE
    assert problem_of(await app.post("/api/auth/password/reset", {"token": code, "password": PASSWORD})) == WRONG_TOKEN
    app.clock.advance(timedelta(minutes=10))
    assert problem_of(await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": code})) == WRONG_CODE


async def test_only_the_newest_code_of_an_address_works(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    first = await code_for(app, email=EMAIL)
    app.clock.advance(timedelta(seconds=30))
    second = await code_for(app, email=EMAIL)
    # One in a million draws the same digits twice: then both are the newest.
    expected = 200 if first == second else 422
    response = await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": first})
    assert response.status_code == expected
    if first != second:
        assert (await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": second})).status_code == 200


async def test_codes_beyond_the_rate_limit_get_the_same_response_and_are_not_sent(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    for _ in range(2 * ISSUED_IN_HOUR_MAX):
        response = await app.post("/api/auth/otp", {"email": EMAIL})
        assert (response.status_code, response.json()["data"]) == (200, {"expiresIn": 600})
        messages = await sent(app)
        app.clock.advance(timedelta(minutes=1))
    assert len(messages) == ISSUED_IN_HOUR_MAX


async def test_a_number_of_a_federated_user_signs_in_nobody(app: IdentityApp) -> None:
    user_id = new_id()
    created = await app.client.post(
        "/functions/v1/create-user",
        json={"user": {"id": str(user_id), "email": EMAIL, "phone": PHONE}},
        headers={"Authorization": f"Bearer {SERVICE_ROLE_KEY}"},
    )
    assert created.status_code == 200
    await app.service.fetch("INSERT INTO accounts (user_id, created_at) VALUES ($1, now())", user_id)
    for address in ({"phone": PHONE}, {"email": EMAIL}):
        await app.post("/api/auth/otp", address)
    await app.post("/api/auth/password/forgot", {"email": EMAIL})
    assert await sent(app) == []


async def test_a_changed_number_is_not_confirmed(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    code = await code_for(app, phone=PHONE)
    tokens = (await app.post("/api/auth/otp/verify", {"phone": PHONE, "code": code})).json()["data"]
    assert (await profile_of(app, tokens))["phoneConfirmed"] is True
    changed = await app.client.patch(
        "/api/profiles/current",
        json={"phone": "+2348037654321"},
        headers={"Authorization": f"Bearer {tokens['accessToken']}"},
    )
    assert changed.status_code == 200
    assert (await profile_of(app, tokens))["phoneConfirmed"] is False


async def test_a_redelivered_code_is_published_once_and_an_outdated_one_never(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    await app.post("/api/auth/otp", {"email": EMAIL})
    assert len(await sent(app)) == 1
    await app.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue = $1 RETURNING 1", QUEUE)
    assert len(await sent(app)) == 1
    app.clock.advance(timedelta(minutes=1))
    await app.post("/api/auth/otp", {"email": EMAIL})
    app.clock.advance(timedelta(minutes=10))
    assert len(await sent(app)) == 1


async def test_a_code_whose_session_fails_before_its_commit_is_not_used_up(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    code = await code_for(app, email=EMAIL)
    dependencies = app.dependencies

    class Crash(Exception):
        pass

    async def verify_and_crash() -> None:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            signed = await verify_code(
                uow,
                dependencies.hashes,
                dependencies.signing_keys,
                Destination("email", EMAIL),
                code,
                ANONYMOUS,
                user_agent=None,
                issuer="x",
                now=app.clock.now(),
            )
            assert signed is not None
            raise Crash

    with pytest.raises(Crash):
        await verify_and_crash()
    assert await app.count("sessions") == 0
    assert (await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": code})).status_code == 200


async def test_a_body_names_exactly_one_address(app: IdentityApp) -> None:
    for path, rest in (("/api/auth/otp", {}), ("/api/auth/otp/verify", {"code": "123456"})):
        for body, names in (
            ({}, ["body"]),
            ({"email": EMAIL, "phone": PHONE}, ["body"]),
            ({"email": "nobody"}, ["email"]),
            ({"phone": "12"}, ["phone"]),
            ({"email": EMAIL, "extra": 1}, ["extra"]),
        ):
            assert problem_of(await app.post(path, {**body, **rest})) == (422, "VALIDATION_FAILED", names)
    for code in ("12345", "1234567", "12345a", "\uff11\uff12\uff13\uff14\uff15\uff16"):
        assert problem_of(await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": code})) == WRONG_CODE
    assert await app.count("one_time_codes") == 0


async def test_neither_code_nor_address_is_stored_in_plain_text(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    code, token = await code_for(app, phone=PHONE), await reset_token(app)
    await app.post("/api/auth/login", {"email": EMAIL, "password": "a wrong password"})
    stored = ""
    for table in ("one_time_codes", "login_failures", "outbox", "inbox", "sessions"):
        for row in await app.service.fetch(f"SELECT * FROM {table}"):
            if table != "outbox" or row["type"] in (ISSUED, QUEUE):
                stored += " ".join(
                    value.decode("latin-1") if isinstance(value, bytes) else str(value) for value in row.values()
                )
    assert '"codeSealed"' in stored
    for secret in (token, EMAIL, PHONE, PHONE[1:], f'"{code}"'):
        assert secret not in stored
    for plain in (code, token, EMAIL, PHONE):
        hashes = await app.service.fetch(
            "SELECT 1 FROM one_time_codes WHERE code_hash = $1 OR address_hash = $1",
            hashlib.sha256(plain.encode()).digest(),
        )
        assert hashes == []


# --- Forgotten and changed passwords ---------------------------------------------------------------------------------


async def test_a_reset_sets_the_password_ends_every_session_and_works_once(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    here, there = await app.log_in(EMAIL), await app.log_in(EMAIL)
    token = await reset_token(app)
    body = {"token": token, "password": NEW_PASSWORD}
    response = await app.post("/api/auth/password/reset", body)
    assert (response.status_code, response.json()["data"]) == (200, {"sessionsEnded": 2})
    for tokens in (here, there):
        assert not await is_alive(app, tokens)
        assert (await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})).status_code == 401
    assert (await app.post("/api/auth/login", {"email": EMAIL, "password": PASSWORD})).status_code == 401
    tokens = await app.log_in(EMAIL, NEW_PASSWORD)
    assert await is_alive(app, tokens)
    assert (await profile_of(app, tokens))["emailConfirmed"] is True
    assert problem_of(await app.post("/api/auth/password/reset", body)) == WRONG_TOKEN
    events = await app.service.published(REVOKED)
    assert [event for event in events if "sessionId" not in event] != []


async def test_a_reset_token_lives_for_thirty_minutes_and_dies_with_the_next_one(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    first = await reset_token(app)
    app.clock.advance(timedelta(minutes=1))
    second = await reset_token(app)
    for token in (first, "x", wrong("000000"), second + "x"):
        response = await app.post("/api/auth/password/reset", {"token": token, "password": NEW_PASSWORD})
        assert problem_of(response) == WRONG_TOKEN
    app.clock.advance(timedelta(minutes=30))
    response = await app.post("/api/auth/password/reset", {"token": second, "password": NEW_PASSWORD})
    assert problem_of(response) == WRONG_TOKEN
    await app.log_in(EMAIL)


async def test_a_reset_ends_the_codes_that_were_sent_before(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    code = await code_for(app, phone=PHONE)
    token = await reset_token(app)
    assert (await app.post("/api/auth/password/reset", {"token": token, "password": NEW_PASSWORD})).status_code == 200
    assert problem_of(await app.post("/api/auth/otp/verify", {"phone": PHONE, "code": code})) == WRONG_CODE


async def test_a_weak_new_password_leaves_the_token_good(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    token = await reset_token(app)
    weak = await app.post("/api/auth/password/reset", {"token": token, "password": "short"})
    assert problem_of(weak) == (422, "VALIDATION_FAILED", ["password"])
    assert (await app.post("/api/auth/password/reset", {"token": token, "password": NEW_PASSWORD})).status_code == 200


async def test_of_two_resets_with_one_token_one_sets_the_password(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    token = await reset_token(app)
    passwords = [f"a good password {number}" for number in range(4)]
    responses = await asyncio.gather(
        *(app.post("/api/auth/password/reset", {"token": token, "password": text}) for text in passwords)
    )
    assert sorted(response.status_code for response in responses) == [200, 422, 422, 422]
    winner = next(text for text, response in zip(passwords, responses, strict=True) if response.status_code == 200)
    await app.log_in(EMAIL, winner)


async def test_a_login_started_before_a_reset_leaves_no_session(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    token = await reset_token(app)
    dependencies = app.dependencies
    check = dependencies.passwords.matches

    async def checked_then_reset(password_hash: str | None, password: str) -> bool:
        matched: bool = await check(password_hash, password)
        dependencies.passwords.matches = check
        await reset_password(
            dependencies.database,
            dependencies.passwords,
            dependencies.hashes,
            token,
            NEW_PASSWORD,
            now=app.clock.now(),
        )
        return matched

    dependencies.passwords.matches = checked_then_reset
    assert (await app.post("/api/auth/login", {"email": EMAIL, "password": PASSWORD})).status_code == 401
    assert await app.count("sessions") == 0


async def test_a_changed_password_keeps_this_session_and_ends_the_others(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    here, there = await app.log_in(EMAIL), await app.log_in(EMAIL)
    token = await reset_token(app)
    body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    wrong_one = await app.post(
        "/api/auth/password/change", {**body, "currentPassword": "a wrong password"}, token=here["accessToken"]
    )
    assert problem_of(wrong_one) == (422, "VALIDATION_FAILED", ["currentPassword"])
    assert await is_alive(app, there)
    response = await app.post("/api/auth/password/change", body, token=here["accessToken"])
    assert (response.status_code, response.json()["data"]) == (200, {"sessionsEnded": 1})
    assert await is_alive(app, here)
    assert not await is_alive(app, there)
    assert (await app.post("/api/auth/refresh", {"refreshToken": here["refreshToken"]})).status_code == 200
    assert (await app.post("/api/auth/refresh", {"refreshToken": there["refreshToken"]})).status_code == 401
    assert all("sessionId" in event for event in await app.service.published(REVOKED))
    late = await app.post("/api/auth/password/reset", {"token": token, "password": PASSWORD})
    assert problem_of(late) == WRONG_TOKEN
    await app.log_in(EMAIL, NEW_PASSWORD)


# --- Sessions --------------------------------------------------------------------------------------------------------


async def test_a_user_lists_their_active_sessions_newest_first(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    await app.sign_up("bisi@unilag.edu.ng")
    await app.log_in("bisi@unilag.edu.ng")
    forgotten = await app.log_in(EMAIL)
    app.clock.advance(timedelta(days=20))
    ended = await app.log_in(EMAIL)
    await app.post("/api/auth/logout", {}, token=ended["accessToken"])
    app.clock.advance(timedelta(days=11))
    signed = []
    for number in range(3):
        signed.append(
            (
                await app.client.post(
                    "/api/auth/login",
                    json={"email": EMAIL, "password": PASSWORD},
                    headers={"User-Agent": f"Phone/{number}"},
                )
            ).json()["data"]
        )
        app.clock.advance(timedelta(seconds=1))
    await app.post("/api/auth/refresh", {"refreshToken": signed[0]["refreshToken"]})
    token = signed[1]["accessToken"]
    assert forgotten
    first = (await app.get("/api/auth/sessions", token=token, limit=2)).json()
    rest = (await app.get("/api/auth/sessions", token=token, limit=2, cursor=first["meta"]["next_cursor"])).json()
    assert (first["meta"]["has_more"], rest["meta"]["has_more"]) == (True, False)
    shown = first["data"] + rest["data"]
    assert [session["userAgent"] for session in shown] == ["Phone/2", "Phone/1", "Phone/0"]
    assert [session["current"] for session in shown] == [False, True, False]
    assert [session["lastUsedAt"] > session["signedInAt"] for session in shown] == [False, False, True]
    assert {session["method"] for session in shown} == {"password"}
    foreign = await app.get(
        "/api/auth/sessions",
        token=(await app.log_in("bisi@unilag.edu.ng"))["accessToken"],
        cursor=first["meta"]["next_cursor"],
    )
    assert problem_of(foreign) == (422, "VALIDATION_FAILED", ["cursor"])


async def test_a_user_ends_only_their_own_sessions(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    await app.sign_up("bisi@unilag.edu.ng")
    here, lost, federated = [await app.log_in(email) for email in (EMAIL, EMAIL, "bisi@unilag.edu.ng")]

    def session_of(tokens: dict[str, Any]) -> str:
        return str(jwt.decode(tokens["accessToken"], options={"verify_signature": False})["session_id"])

    async def end(tokens: dict[str, Any], session_id: str) -> int:
        headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
        return (await app.client.delete(f"/api/auth/sessions/{session_id}", headers=headers)).status_code

    assert await end(federated, session_of(lost)) == await end(here, session_of(federated)) == 404
    assert await end(here, "not-an-id") == 404
    assert await end(here, session_of(lost)) == 200
    assert not await is_alive(app, lost)
    assert await is_alive(app, here)
    assert await end(here, session_of(lost)) == 404
    assert (await app.post("/api/auth/refresh", {"refreshToken": lost["refreshToken"]})).status_code == 401
    events = await app.service.published(REVOKED)
    assert [event["sessionId"] for event in events] == [session_of(lost)]


async def test_after_logging_out_everywhere_old_tokens_of_that_very_second_are_dead_and_new_ones_live(
    app: IdentityApp,
) -> None:
    await app.sign_up(EMAIL)
    before = await app.log_in(EMAIL)
    app.clock.advance(timedelta(milliseconds=600))
    same_second = await app.log_in(EMAIL)
    other = await app.log_in(EMAIL)
    app.clock.advance(timedelta(milliseconds=100))
    response = await app.post("/api/auth/logout-all", {}, token=other["accessToken"])
    assert (response.status_code, response.json()["data"]) == (200, {"sessionsEnded": 3})
    app.clock.advance(timedelta(milliseconds=100))
    fresh = await app.log_in(EMAIL)
    for tokens in (before, same_second, other):
        assert error_of(await app.get("/api/profiles/current", token=tokens["accessToken"])) == UNAUTHORIZED
        assert (await app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]})).status_code == 401
    assert await is_alive(app, fresh)
    # Another service knows only the published events.
    received = Revocations()
    for event in await app.service.published(REVOKED):
        session_id = UUID(event["sessionId"]) if "sessionId" in event else None
        received.add(UUID(event["userId"]), session_id, datetime.fromisoformat(event["notBefore"]))
    app.service.runtime.verifier.revocations = Revocations()
    callers = [
        await app.service.runtime.verifier.caller_of(tokens["accessToken"])
        for tokens in (before, same_second, other, fresh)
    ]
    believed = [not received.cover(caller) for caller in callers]
    assert believed == [False, False, False, True]


async def test_a_flood_of_log_outs_hides_no_newer_revocation_from_a_process_that_starts(
    app: IdentityApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = new_id(), new_id()
    for session_id, minutes in ((older, 90), (newer, 1)):
        await app.service.fetch(
            "INSERT INTO session_revocations (user_id, session_id, not_before, heard_at) "
            "VALUES ($1, $1, now(), now() - make_interval(mins => $2))",
            session_id,
            minutes,
        )
    runtime = app.service.runtime
    runtime.verifier.revocations = Revocations()
    monkeypatch.setattr(revocations, "REVOCATIONS_LOADED_MAX", 1)
    await revocations.load_stored_revocations(runtime)
    assert runtime.verifier.revocations.sessions == {newer}


async def test_refreshes_and_the_end_of_all_sessions_at_once_leave_no_live_token(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    signed = [await app.log_in(EMAIL) for _ in range(6)]
    responses = await asyncio.gather(
        *(app.post("/api/auth/refresh", {"refreshToken": tokens["refreshToken"]}) for tokens in signed[1:]),
        app.post("/api/auth/logout-all", {}, token=signed[0]["accessToken"]),
    )
    assert responses[-1].status_code == 200
    for response in responses[:-1]:
        assert response.status_code in (200, 401)
        if response.status_code == 200:
            assert not await is_alive(app, response.json()["data"])
    assert await app.service.fetch("SELECT 1 FROM sessions WHERE ended_at IS NULL") == []


async def test_endpoints_of_sessions_and_passwords_require_a_token(app: IdentityApp) -> None:
    for method, path in (
        ("POST", "/api/auth/logout-all"),
        ("POST", "/api/auth/password/change"),
        ("GET", "/api/auth/sessions"),
        ("DELETE", "/api/auth/sessions/018cc251-f400-7001-8000-000000000001"),
    ):
        assert error_of(await app.client.request(method, path)) == UNAUTHORIZED


# --- Slow logins -----------------------------------------------------------------------------------------------------


async def test_failed_logins_slow_down_known_and_unknown_accounts_alike_and_the_owner_always_gets_in(
    app: IdentityApp,
) -> None:
    await app.sign_up(EMAIL)
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    app.dependencies.throttle.pause = pause
    slowed = {}
    for email in (EMAIL, "nobody@unilag.edu.ng"):
        waited.clear()
        for _ in range(8):
            await app.post("/api/auth/login", {"email": email.upper(), "password": "a wrong password"})
        slowed[email] = list(waited)
    assert slowed[EMAIL] == slowed["nobody@unilag.edu.ng"] == [0.25, 0.5, 1.0]
    waited.clear()
    await app.log_in(EMAIL)
    assert waited == [2.0]
    await app.log_in(EMAIL)
    assert waited == [2.0]


async def test_no_more_logins_wait_at_once_than_there_is_room_for(app: IdentityApp) -> None:
    paused, go_on = 0, asyncio.Event()

    async def pause(_: float) -> None:
        nonlocal paused
        paused += 1
        await go_on.wait()

    throttle = LoginThrottle(pause)
    waiting = [asyncio.create_task(throttle.wait(1)) for _ in range(WAITING_MAX)]
    await asyncio.sleep(0)
    await throttle.wait(1)
    assert paused == WAITING_MAX
    go_on.set()
    await asyncio.gather(*waiting)
    await throttle.wait(1)
    assert paused == WAITING_MAX + 1


# --- Alike ----------------------------------------------------------------------------------------------------------


async def test_responses_for_known_and_unknown_addresses_are_equal_in_every_field(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    for path, known, unknown in (
        ("otp", {"email": EMAIL}, {"email": "nobody@unilag.edu.ng"}),
        ("otp", {"phone": PHONE}, {"phone": "+2348037654321"}),
        ("otp/verify", {"email": EMAIL, "code": "x23456"}, {"email": "nobody@unilag.edu.ng", "code": "x23456"}),
        ("otp/verify", {"phone": PHONE, "code": "000000"}, {"phone": "+2348037654321", "code": "000000"}),
        ("password/forgot", {"email": EMAIL}, {"email": "nobody@unilag.edu.ng"}),
        ("login", {"email": EMAIL, "password": "wrong"}, {"email": "nobody@unilag.edu.ng", "password": "wrong"}),
        (
            "signup",
            {"email": EMAIL, "password": PASSWORD, "fullName": "X"},
            {"email": "new@unilag.edu.ng", "password": PASSWORD, "fullName": "X"},
        ),
    ):
        responses = [await app.post(f"/api/auth/{path}", body) for body in (known, unknown)]
        assert responses[0].status_code == responses[1].status_code, path
        shown = [neutral(response.json()) for response in responses]
        assert shown[0] == shown[1], path
        names = [[name for name in response.headers if name not in ("x-request-id",)] for response in responses]
        assert names[0] == names[1], path


async def test_a_request_for_an_unknown_address_leaves_the_same_rows_and_sends_nothing(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    left = []
    for email in (EMAIL, "nobody@unilag.edu.ng"):
        before = await app.count("one_time_codes"), await app.count("outbox")
        await app.post("/api/auth/otp", {"email": email})
        await app.post("/api/auth/password/forgot", {"email": email})
        after = await app.count("one_time_codes"), await app.count("outbox")
        left.append((after[0] - before[0], after[1] - before[1]))
    assert left[0] == left[1] == (2, 2)
    assert {message["to"] for message in await sent(app)} == {EMAIL}


def neutral(body: dict[str, Any]) -> dict[str, Any]:
    """A response without its ids and times, which differ in any two."""
    return {
        **body,
        "requestId": None,
        "meta": {**body.get("meta", {}), "requestId": None, "timestamp": None},
        "data": {**body.get("data", {}), "userId": None},
    }


# --- Housekeeping ----------------------------------------------------------------------------------------------------


async def test_retention_purges_old_codes_and_keeps_active_limits(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    await app.post("/api/auth/otp", {"email": EMAIL})
    await app.post("/api/auth/login", {"email": EMAIL, "password": "a wrong password"})
    app.clock.advance(timedelta(minutes=59))
    assert await app.service.remove_old() == 0
    app.clock.advance(timedelta(minutes=1))
    assert await app.service.remove_old() == 1
    assert await app.count("login_failures") == 0
    app.clock.advance(timedelta(hours=23))
    assert await app.service.remove_old() == 1
    assert await app.count("one_time_codes") == 0
