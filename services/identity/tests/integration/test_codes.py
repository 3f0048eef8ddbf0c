"""One-time codes: sign-in, tries, rate limit, storage (contract sections 4 and 10.2)."""

import asyncio
import hashlib
from datetime import timedelta

import jwt
import pytest

from common.auth.caller import ANONYMOUS, THE_SERVICE
from common.primitives.ids import new_id
from identity.domain.one_time_codes import ISSUED_IN_HOUR_MAX, TRIES_MAX, Destination
from identity.use_cases.codes.verify_code import verify_code

from .code_steps import (
    EMAIL,
    ISSUED,
    PHONE,
    QUEUE,
    WRONG_CODE,
    WRONG_TOKEN,
    code_for,
    problem_of,
    profile_of,
    reset_token,
    sent,
    wrong,
)
from .conftest import DEMO_SECRET, PASSWORD, SERVICE_ROLE_KEY, USERS, IdentityApp
from .responses import data_of


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


async def test_a_number_of_a_federated_user_signs_in_no_user(app: IdentityApp) -> None:
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
