"""Forgotten and changed passwords (contract section 5)."""

import asyncio
from datetime import timedelta

from identity.use_cases.passwords.reset_password import reset_password

from .code_steps import (
    EMAIL,
    NEW_PASSWORD,
    PHONE,
    REVOKED,
    WRONG_CODE,
    WRONG_TOKEN,
    code_for,
    is_alive,
    problem_of,
    profile_of,
    reset_token,
    wrong,
)
from .conftest import PASSWORD, IdentityApp


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
    events = await app.published(REVOKED)
    assert [event for event in events if "sessionId" not in event] != []


async def test_the_last_two_reset_tokens_are_valid_for_thirty_minutes(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    first, second, third = [await reset_token(app) for _ in range(3)]
    for token in (first, "x", wrong("000000"), second + "x"):
        response = await app.post("/api/auth/password/reset", {"token": token, "password": NEW_PASSWORD})
        assert problem_of(response) == WRONG_TOKEN
    app.clock.advance(timedelta(minutes=30))
    for token in (second, third):
        response = await app.post("/api/auth/password/reset", {"token": token, "password": NEW_PASSWORD})
        assert problem_of(response) == WRONG_TOKEN
    await app.log_in(EMAIL)
    first, second = [await reset_token(app) for _ in range(2)]
    response = await app.post("/api/auth/password/reset", {"token": first, "password": NEW_PASSWORD})
    assert response.status_code == 200
    # The reset expires every other one.
    response = await app.post("/api/auth/password/reset", {"token": second, "password": PASSWORD})
    assert problem_of(response) == WRONG_TOKEN


async def test_a_reset_ends_the_codes_that_were_sent_before(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    code = await code_for(app, phone=PHONE)
    token = await reset_token(app)
    assert (await app.post("/api/auth/password/reset", {"token": token, "password": NEW_PASSWORD})).status_code == 200
    assert problem_of(await app.post("/api/auth/otp/verify", {"phone": PHONE, "code": code})) == WRONG_CODE


async def test_a_weak_new_password_keeps_the_token_valid(app: IdentityApp) -> None:
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


async def test_a_login_started_before_a_reset_creates_no_session(app: IdentityApp) -> None:
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
            source="",
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
    assert all("sessionId" in event for event in await app.published(REVOKED))
    late = await app.post("/api/auth/password/reset", {"token": token, "password": PASSWORD})
    assert problem_of(late) == WRONG_TOKEN
    await app.log_in(EMAIL, NEW_PASSWORD)
