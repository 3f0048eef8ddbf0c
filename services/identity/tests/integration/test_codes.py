"""One-time codes: sign-in, tries, rate limit, storage (contract sections 4 and 10.2)."""

import asyncio
import hashlib
from datetime import timedelta

import jwt
import pytest

from common.auth.caller import ANONYMOUS, THE_SERVICE
from common.primitives.ids import new_id
from identity.domain.message_budgets import MAILS_IN_HOUR_MAX, MAILS_OF_SOURCE_IN_HOUR_MAX
from identity.domain.one_time_codes import CODES_OF_SOURCE_MAX, TRIES_MAX, TRIES_OF_SOURCE_MAX, Destination
from identity.use_cases.codes.verify_code import ShownCode, verify_code
from testkit.responses import data_of

from .code_steps import (
    EMAIL,
    ISSUED,
    NEW_PASSWORD,
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

OWNER, ATTACKER = "198.51.100.1", "203.0.113.99"


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


async def test_of_twenty_requests_at_once_the_accepted_ones_are_sent(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    responses = await asyncio.gather(*(app.post("/api/auth/otp", {"email": EMAIL}) for _ in range(20)))
    statuses = sorted(response.status_code for response in responses)
    assert statuses == [200] * MAILS_OF_SOURCE_IN_HOUR_MAX + [429] * (20 - MAILS_OF_SOURCE_IN_HOUR_MAX)
    assert len(await sent(app)) == MAILS_OF_SOURCE_IN_HOUR_MAX
    # The last two that were sent are valid.
    assert await valid_codes(app) == CODES_OF_SOURCE_MAX


async def valid_codes(app: IdentityApp) -> int:
    rows = await app.fetch("SELECT 1 FROM issued_codes WHERE expires_at > $1", app.clock.now())
    return len(rows)


async def guess(app: IdentityApp, code: str, *sources: str, tries: int = TRIES_OF_SOURCE_MAX) -> None:
    """Try a wrong code so often from each source."""
    for source in sources:
        for _ in range(tries):
            response = await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": wrong(code)}, source=source)
            assert problem_of(response) == WRONG_CODE


async def redeem(app: IdentityApp, code: str, source: str) -> int:
    response = await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": code}, source=source)
    return response.status_code


async def test_five_wrong_tries_end_a_code_for_their_source_only(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    code = await code_for(app, email=EMAIL)
    await guess(app, code, ATTACKER)
    assert await redeem(app, code, ATTACKER) == 422
    assert await redeem(app, code, OWNER) == 200
    fresh = await code_for(app, email=EMAIL)
    assert await redeem(app, fresh, ATTACKER) == 200


async def test_thirty_wrong_tries_of_all_sources_end_a_code_and_not_the_next(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    code = await code_for(app, email=EMAIL)
    sources = [f"203.0.113.{number}" for number in range(TRIES_MAX // TRIES_OF_SOURCE_MAX)]
    await guess(app, code, *sources[:-1])
    await guess(app, code, sources[-1], tries=TRIES_OF_SOURCE_MAX - 1)
    # A source without tries left adds none.
    await guess(app, code, *sources[:-1], tries=1)
    assert [row["tries"] for row in await app.fetch("SELECT tries FROM issued_codes")] == [TRIES_MAX - 1]
    await guess(app, code, sources[-1], tries=1)
    assert await redeem(app, code, OWNER) == 422
    assert await redeem(app, await code_for(app, email=EMAIL), OWNER) == 200


async def test_another_source_neither_displaces_nor_stops_the_codes_of_the_owner(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    for path in ("otp", "password/forgot"):
        body = {"email": EMAIL}
        assert (await app.post(f"/api/auth/{path}", body, source=OWNER)).status_code == 200
        code = (await sent(app))[-1]["code"]
        for number in range(2 * MAILS_OF_SOURCE_IN_HOUR_MAX):
            status = (await app.post(f"/api/auth/{path}", body, source=ATTACKER)).status_code
            assert status == (200 if number < MAILS_OF_SOURCE_IN_HOUR_MAX else 429)
        count = len(await sent(app))
        assert (await app.post(f"/api/auth/{path}", body, source=OWNER)).status_code == 200
        assert len(await sent(app)) == count + 1
        if path == "otp":
            await guess(app, code, ATTACKER)
            assert await redeem(app, code, OWNER) == 200
        else:
            reset = {"token": code, "password": NEW_PASSWORD}
            assert (await app.post("/api/auth/password/reset", reset)).status_code == 200


async def test_a_new_account_survives_an_attacker_who_requests_and_guesses_codes(app: IdentityApp) -> None:
    body = {"email": EMAIL, "password": PASSWORD, "fullName": "Tola"}
    assert (await app.post("/api/auth/signup", body, source=OWNER)).status_code == 201
    code = (await sent(app))[-1]["code"]
    for _ in range(TRIES_OF_SOURCE_MAX):
        await app.post("/api/auth/otp", {"email": EMAIL}, source=ATTACKER)
        await guess(app, code, ATTACKER)
    login = await app.post("/api/auth/login", {"email": EMAIL, "password": PASSWORD}, source=OWNER)
    assert (login.status_code, login.json()["confirmationRequired"]) == (403, True)
    assert await redeem(app, code, OWNER) == 200


async def test_concurrent_guesses_of_a_source_get_five_tries_in_total(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    code = await code_for(app, email=EMAIL)
    body = {"email": EMAIL, "code": wrong(code)}
    responses = await asyncio.gather(*(app.post("/api/auth/otp/verify", body) for _ in range(20)))
    assert {response.status_code for response in responses} == {422}
    assert [row["tries"] for row in await app.fetch("SELECT tries FROM issued_codes")] == [TRIES_OF_SOURCE_MAX]


async def test_a_code_is_a_first_factor_and_no_second_one(app: IdentityApp) -> None:
    await app.load_demo()
    vendor = USERS["VENDOR"]
    code = await code_for(app, phone=vendor.phone)
    tokens = (await app.post("/api/auth/otp/verify", {"phone": vendor.phone, "code": code})).json()["data"]
    assert (tokens["aal"], tokens["mfaRequired"]) == ("aal1", True)
    assert (await app.runtime.verifier.caller_of(tokens["accessToken"])).stepped_up_at is None
    stepped = await app.step_up(tokens, DEMO_SECRET)
    methods = jwt.decode(stepped["accessToken"], options={"verify_signature": False})["amr"]
    assert [entry["method"] for entry in methods] == ["otp", "totp"]
    assert (await app.runtime.verifier.caller_of(stepped["accessToken"])).stepped_up_at is not None


async def test_a_code_works_for_ten_minutes_and_only_where_it_went(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    code = await code_for(app, email=EMAIL)
    assert problem_of(await app.post("/api/auth/otp/verify", {"phone": PHONE, "code": code})) == WRONG_CODE
    assert problem_of(await app.post("/api/auth/password/reset", {"token": code, "password": PASSWORD})) == WRONG_TOKEN
    app.clock.advance(timedelta(minutes=10))
    assert problem_of(await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": code})) == WRONG_CODE


async def test_the_last_two_codes_of_a_source_are_valid(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    first, second, third = [await code_for(app, email=EMAIL) for _ in range(3)]
    # One in a million draws the same digits twice.
    assert await redeem(app, first, OWNER) == (200 if first in (second, third) else 422)
    assert await redeem(app, second, OWNER) == 200
    # The redemption ends the others.
    assert await redeem(app, third, OWNER) == (200 if third == second else 422)


async def test_codes_beyond_the_budget_are_429_for_known_and_unknown_mailboxes(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    for email in (EMAIL, "nobody@unilag.edu.ng"):
        for path in ("otp", "password/forgot"):
            statuses = []
            for number in range(MAILS_OF_SOURCE_IN_HOUR_MAX + 1):
                # A mailbox counts once, whatever tag it has.
                tagged = email.replace("@", f"+{number}@") if number % 2 else email
                response = await app.post(f"/api/auth/{path}", {"email": tagged})
                statuses.append(response.status_code)
            assert statuses == [200] * MAILS_OF_SOURCE_IN_HOUR_MAX + [429]
            assert (response.json()["code"], response.headers["retry-after"]) == ("RATE_LIMIT_EXCEEDED", "3600")
    app.clock.advance(timedelta(hours=1))
    assert (await app.post("/api/auth/otp", {"email": EMAIL})).status_code == 200


async def test_a_mailbox_gets_a_bounded_number_of_mails_over_all_sources(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    statuses = []
    for number in range(MAILS_IN_HOUR_MAX + 1):
        response = await app.post("/api/auth/otp", {"email": EMAIL}, source=f"203.0.113.{number}")
        statuses.append(response.status_code)
    assert statuses == [200] * MAILS_IN_HOUR_MAX + [429]
    assert len(await sent(app)) == MAILS_IN_HOUR_MAX


async def test_a_redeemed_code_frees_the_budget_of_its_mailbox(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    for _ in range(2 * MAILS_OF_SOURCE_IN_HOUR_MAX):
        code = await code_for(app, email=EMAIL)
        assert (await app.post("/api/auth/otp/verify", {"email": EMAIL, "code": code})).status_code == 200


async def test_sign_ups_beyond_the_budget_are_429_for_known_and_unknown_mailboxes(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    for email in (EMAIL, "new@unilag.edu.ng"):
        # Requested codes count apart, so that a sign-up does not reveal whether the address is known.
        for _ in range(MAILS_OF_SOURCE_IN_HOUR_MAX):
            await app.post("/api/auth/otp", {"email": email})
        body = {"email": email, "password": PASSWORD, "fullName": "Tola"}
        statuses = []
        for _ in range(MAILS_OF_SOURCE_IN_HOUR_MAX + 1):
            statuses.append((await app.post("/api/auth/signup", body)).status_code)
            app.clock.advance(timedelta(minutes=1))
        assert statuses == [201] * MAILS_OF_SOURCE_IN_HOUR_MAX + [429]


async def test_a_login_names_a_code_that_was_not_mailed(app: IdentityApp) -> None:
    await app.sign_up_unproven(EMAIL)
    for _ in range(MAILS_OF_SOURCE_IN_HOUR_MAX):
        await app.post("/api/auth/otp", {"email": EMAIL})
    app.clock.advance(timedelta(minutes=2))
    count = len(await sent(app))
    response = await app.post("/api/auth/login", {"email": EMAIL, "password": PASSWORD})
    assert (response.status_code, response.json()["confirmationRequired"]) == (403, True)
    assert "no further one was sent" in response.json()["detail"]
    assert len(await sent(app)) == count


async def test_a_number_of_a_federated_user_signs_in_no_user(app: IdentityApp) -> None:
    user_id = new_id()
    created = await app.client.post(
        "/functions/v1/create-user",
        json={"user": {"id": str(user_id), "email": EMAIL, "phone": PHONE}},
        headers={"Authorization": f"Bearer {SERVICE_ROLE_KEY}"},
    )
    assert created.status_code == 200
    await app.fetch("INSERT INTO accounts (user_id, created_at) VALUES ($1, now())", user_id)
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
    await app.fetch("UPDATE outbox SET published_at = NULL WHERE queue = $1 RETURNING 1", QUEUE)
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
                dependencies.token_issuer,
                ShownCode(Destination("email", EMAIL), code, "", None),
                ANONYMOUS,
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
    assert await app.count("issued_codes") == 0


async def test_neither_code_nor_address_is_stored_in_plain_text(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    code, token = await code_for(app, phone=PHONE), await reset_token(app)
    await app.post("/api/auth/login", {"email": EMAIL, "password": "a wrong password"})
    stored = ""
    for table in ("issued_codes", "message_counts", "login_failures", "outbox", "inbox", "sessions"):
        for row in await app.fetch(f"SELECT * FROM {table}"):
            if table != "outbox" or row["type"] in (ISSUED, QUEUE):
                stored += " ".join(
                    value.decode("latin-1") if isinstance(value, bytes) else str(value) for value in row.values()
                )
    assert '"codeSealed"' in stored
    for secret in (token, EMAIL, PHONE, PHONE[1:], f'"{code}"'):
        assert secret not in stored
    for plain in (code, token, EMAIL, PHONE):
        hashes = await app.fetch(
            "SELECT 1 FROM issued_codes WHERE code_hash = $1 OR address_hash = $1",
            hashlib.sha256(plain.encode()).digest(),
        )
        assert hashes == []


async def test_retention_purges_old_codes_and_keeps_active_limits(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    await app.post("/api/auth/otp", {"email": EMAIL})
    await app.post("/api/auth/login", {"email": EMAIL, "password": "a wrong password"})
    app.clock.advance(timedelta(minutes=59))
    assert await app.remove_old() == 0
    app.clock.advance(timedelta(minutes=1))
    # The failed login, and the counts of the hour.
    assert await app.remove_old() == 3
    assert (await app.count("login_failures"), await app.count("message_counts")) == (0, 2)
    app.clock.advance(timedelta(hours=23))
    assert await app.remove_old() == 3
    assert (await app.count("issued_codes"), await app.count("message_counts")) == (0, 0)
