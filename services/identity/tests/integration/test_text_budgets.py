"""The numbers that texts are sent to, and the budgets of texts (contract section 10.2)."""

from datetime import timedelta
from typing import Any

import pytest

from .code_steps import EMAIL, PHONE, problem_of, sent
from .conftest import PASSWORD, SERVICE_ROLE_KEY, IdentityApp

ACCOUNT, NUMBER_HOUR, NUMBER_DAY = 20, 5, 15
VERIFY, OTP = "/api/auth/otp/verify", "/api/auth/otp"
NOT_ACCEPTED = (422, "VALIDATION_FAILED", ["phone"])
# Premium, toll-free, landline, satellite, international premium, and mobile numbers of other countries.
COSTLY = (
    "+2349001234567",
    "+2348001234567",
    "+23412345678",
    "+881612345678",
    "+979123456789",
    "+447400123456",
    "+254712123456",
    "+12015550123",
)


async def status_of(app: IdentityApp, phone: str, token: str | None = None, source: str | None = None) -> int:
    return (await app.post(OTP, {"phone": phone}, token=token, source=source)).status_code


async def claim(app: IdentityApp, token: str, phone: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    return await app.client.patch("/api/profiles/current", json={"phone": phone}, headers=headers)


async def texts(app: IdentityApp) -> list[str]:
    return [message["to"] for message in await sent(app) if message["channel"] == "sms"]


@pytest.mark.parametrize("phone", COSTLY)
async def test_only_mobile_numbers_of_the_countries_are_accepted(app: IdentityApp, phone: str) -> None:
    user_id = await app.sign_up(EMAIL)
    token = (await app.log_in(EMAIL))["accessToken"]
    assert problem_of(await claim(app, token, phone)) == NOT_ACCEPTED
    assert problem_of(await app.post(OTP, {"phone": phone}, token=token)) == NOT_ACCEPTED
    body = {"email": "new@unilag.edu.ng", "password": PASSWORD, "fullName": "New", "phone": phone}
    assert problem_of(await app.post("/api/auth/signup", body)) == NOT_ACCEPTED
    headers = {"Authorization": f"Bearer {SERVICE_ROLE_KEY}"}
    user = {"id": "0198f2a0-0000-7000-8000-000000000001", "email": "sso@unilag.edu.ng", "phone": phone}
    created = await app.client.post("/functions/v1/create-user", json={"user": user}, headers=headers)
    assert created.status_code == 200
    phones = await app.fetch("SELECT phone FROM profiles WHERE id = ANY ($1)", [user_id, user["id"]])
    assert [row["phone"] for row in phones] == [None, None]
    assert await texts(app) == []


@pytest.mark.parametrize("more_settings", [{"sms_countries": "NG,GH"}])
async def test_a_country_is_accepted_once_it_is_configured(app: IdentityApp) -> None:
    assert await status_of(app, "+233241234567") == 200
    assert await status_of(app, "+254712123456") == 422


async def test_an_account_gets_a_bounded_number_of_texts_for_any_numbers(app: IdentityApp) -> None:
    await app.sign_up(EMAIL)
    token = (await app.log_in(EMAIL))["accessToken"]
    statuses = []
    for number in range(ACCOUNT + 2):
        phone = f"+23480312345{number:02}"
        assert (await claim(app, token, phone)).status_code == 200
        statuses.append(await status_of(app, phone, token, source=f"203.0.113.{number}"))
        await texts(app)
    assert statuses == [200] * ACCOUNT + [429, 429]
    assert len(await texts(app)) == ACCOUNT


async def test_a_number_gets_a_bounded_number_of_texts_whether_it_is_known_or_not(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    for phone in (PHONE, "+2348037654321"):
        sources = (f"203.0.113.{number}" for number in range(NUMBER_HOUR + 1))
        statuses = [await status_of(app, phone, source=source) for source in sources]
        assert statuses == [200] * NUMBER_HOUR + [429]


async def test_redeeming_a_code_frees_no_budget_of_texts(app: IdentityApp) -> None:
    await app.sign_up(EMAIL, phone=PHONE, number_proven=True)
    statuses = []
    for _ in range(NUMBER_HOUR + 1):
        statuses.append(await status_of(app, PHONE))
        if statuses[-1] == 200:
            body = {"phone": PHONE, "code": (await sent(app))[-1]["code"]}
            assert (await app.post(VERIFY, body)).status_code == 200
    assert statuses == [200] * NUMBER_HOUR + [429]
    for _ in range(NUMBER_DAY // NUMBER_HOUR - 1):
        app.clock.advance(timedelta(hours=1))
        assert [await status_of(app, PHONE) for _ in range(NUMBER_HOUR)] == [200] * NUMBER_HOUR
    app.clock.advance(timedelta(hours=1))
    assert await status_of(app, PHONE) == 429
    app.clock.advance(timedelta(days=1))
    assert await status_of(app, PHONE) == 200


@pytest.mark.parametrize(
    "more_settings", [{"sms_budget_address_per_hour": 2, "rate_shared_addresses": "198.51.100.0/24"}]
)
async def test_an_address_requests_a_bounded_number_of_texts_and_a_shared_one_more(app: IdentityApp) -> None:
    phones = [f"+23480312345{number:02}" for number in range(41)]
    assert [await status_of(app, phone, source="203.0.113.1") for phone in phones[:3]] == [200, 200, 429]
    statuses = [await status_of(app, phone, source="198.51.100.9") for phone in phones]
    assert statuses == [200] * 40 + [429]


@pytest.mark.parametrize(
    ("more_settings", "blocked"),
    [
        ({"sms_budget_prefix_per_hour": 2}, ["+2348031000009"]),
        ({"sms_budget_total_per_hour": 2}, ["+2348031000009", "+2349061000009"]),
    ],
)
async def test_texts_to_a_prefix_and_in_all_are_bounded(app: IdentityApp, blocked: list[str]) -> None:
    # Requests for unknown numbers send nothing, and use up no budget that all users share.
    assert [await status_of(app, f"+234803200000{number}") for number in range(5)] == [200] * 5
    await app.sign_up(EMAIL)
    token = (await app.log_in(EMAIL))["accessToken"]
    for number in range(2):
        phone = f"+234803100000{number}"
        assert (await claim(app, token, phone)).status_code == 200
        assert await status_of(app, phone, token) == 200
        assert len(await texts(app)) == number + 1
    for phone in ("+2348031000009", "+2349061000009"):
        # Known or not, a number of a full budget is 429.
        assert await status_of(app, phone) == (429 if phone in blocked else 200)
        assert (await claim(app, token, phone)).status_code == 200
        assert await status_of(app, phone, token) == (429 if phone in blocked else 200)
    assert len(await texts(app)) == 2 + (2 - len(blocked))
