"""The create-user function (specification: Functions; contract section 10)."""

import asyncio
import json
from importlib.resources import files
from typing import Any
from uuid import uuid4

from common.observability.telemetry import PREVIOUS_KEY_ACCEPTED
from common.primitives.clock import ManualClock
from contracts.demo import IBADAN
from identity.app import SERVICE
from testkit.fixtures import DatabaseFactory
from testkit.service_kit import opened

from .conftest import (
    CODE_DELIVERY_KEY,
    CREDENTIALS_KEY,
    PASSWORD,
    PREVIOUS_SERVICE_ROLE_KEY,
    SERVICE_ROLE_KEY,
    IdentityApp,
)
from .steps import create_user, created_user, referral_count_of, referral_token_of

ENTRIES = json.loads((files("identity") / "data" / "university-domains.json").read_text(encoding="utf-8"))


def twenty_universities() -> dict[str, str]:
    """Mail domain and name of five universities of each of the four countries, spread over the list; any of their
    domains.
    """
    chosen = {}
    for country in ("GH", "KE", "NG", "ZA"):
        entries = [entry for entry in ENTRIES if entry["alpha2"] == country]
        chosen |= {entry["domains"][-1]: entry["name"] for entry in entries[:: len(entries) // 5][:5]}
    return chosen


SIMILAR_ADDRESSES = (
    "a@unilag.edu.ng.evil.com",
    "a@unilag.edu.ng.",
    "a@notunilag.edu.ng",
    "a@.unilag.edu.ng",
    "a@unilag..edu.ng",
    "a@edu.ng",
    "a@unilag.edu.ng@evil.com",
    "a@unil\u0430g.edu.ng",
    "a@\u212anust.edu.gh",
    "a@unilag\u3002edu.ng",
    "a@unilag.edu.ng\u200b",
    "a@gmail.com",
    '"a@unilag.edu.ng"@gmail.com',
    "a@evil-unilag.edu.ng",
    "a@\uff55nilag.edu.ng",
    "a@xn--unilg-8ve.edu.ng",
)


async def new_referrer(app: IdentityApp, email: str = "ada@unilag.edu.ng") -> str:
    await app.sign_up(email)
    return email


async def test_the_student_of_each_of_twenty_universities_lands_on_the_right_campus(app: IdentityApp) -> None:
    universities = twenty_universities()
    assert len(universities) == len(set(universities.values())) == 20
    for domain, name in universities.items():
        campus_ids = set()
        for form in (domain, f"student.{domain}", f"live.mail.{domain.upper()}"):
            campus_ids.add((await created_user(app, f"Fresher+2026@{form}"))["campusId"])
        campus = await app.get(f"/api/campuses/{campus_ids.pop()}")
        assert (campus.json()["data"]["name"], campus_ids) == (name, set())
    events = await app.published("identity.campus_changed.v1")
    assert sorted(event["name"] for event in events) == sorted(universities.values())


async def test_a_sign_up_uses_the_same_rule(app: IdentityApp) -> None:
    await app.sign_up("fresher@ashesi.edu.gh")
    tokens = await app.log_in("fresher@ashesi.edu.gh")
    profile = (await app.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]
    campus = (await app.get(f"/api/campuses/{profile['campusId']}")).json()["data"]
    assert campus["name"] == "Ashesi University"


async def test_a_similar_domain_is_a_user_without_a_campus(app: IdentityApp) -> None:
    for email in SIMILAR_ADDRESSES:
        assert (email, (await created_user(app, email))["campusId"]) == (email, None)
    assert await app.count("campuses") == 0


async def test_it_responses_the_shape_of_the_contract(app: IdentityApp) -> None:
    user_id = uuid4()
    data = await created_user(app, "tola@unilag.edu.ng", user_id=user_id, phone="not a number")
    assert data["profileId"] == str(user_id)
    assert data["role"] == "buyer"
    assert data["referral"] == {"applied": False, "pending": False, "rewardMinor": 0}
    events = (await app.published("identity.user_provisioned.v1"))[0]
    assert events["userId"] == str(user_id)
    assert events["referral"] == {"applied": False, "rewardMinor": 0}
    assert "phone" not in events


async def test_it_is_idempotent_on_the_users_id_whatever_later_calls_contain(app: IdentityApp) -> None:
    token = await referral_token_of(app, await new_referrer(app))
    user_id = uuid4()
    first = await created_user(app, "tola@ui.edu.ng", user_id=user_id)
    for later in (
        await created_user(app, "other@ashesi.edu.gh", user_id=user_id, referral_token=token, phone="+2348031234567"),
        await created_user(app, "tola@ui.edu.ng", user_id=user_id, referral_token=token, full_name="Tola Ade"),
    ):
        assert later == first
    assert len(await app.published("identity.user_provisioned.v1")) == 2
    events = await app.published("identity.campus_changed.v1")
    assert sorted(event["name"] for event in events) == ["University of Ibadan", "University of Lagos"]
    row = (await app.fetch("SELECT email, phone, full_name FROM profiles WHERE id = $1", user_id))[0]
    assert tuple(row) == ("tola@ui.edu.ng", None, None)


async def test_a_hundred_parallel_calls_for_one_user_create_and_credit_once(app: IdentityApp) -> None:
    token = await referral_token_of(app, await new_referrer(app))
    user_id = uuid4()
    responses = await asyncio.gather(
        *(
            created_user(app, f"tola{number % 3}@ui.edu.ng", user_id=user_id, referral_token=token)
            for number in range(100)
        )
    )
    assert all(response == responses[0] for response in responses)
    assert responses[0]["referral"] == {"applied": True, "pending": True, "rewardMinor": 50_000}
    events = [event for event in await app.published("identity.user_provisioned.v1") if event["userId"] == str(user_id)]
    assert [event["referral"]["rewardMinor"] for event in events] == [50_000]
    assert await referral_count_of(app, "ada@unilag.edu.ng") == 1


async def test_a_hundred_new_users_at_once_with_one_token_are_credited_once_each(app: IdentityApp) -> None:
    token = await referral_token_of(app, await new_referrer(app))
    responses = await asyncio.gather(
        *(created_user(app, f"fresher{number}@ui.edu.ng", referral_token=token) for number in range(100))
    )
    assert all(
        response["referral"] == {"applied": True, "pending": True, "rewardMinor": 50_000} for response in responses
    )
    assert len({response["profileId"] for response in responses}) == 100
    events = await app.published("identity.user_provisioned.v1")
    assert sum(event["referral"]["rewardMinor"] for event in events) == 100 * 50_000
    assert await referral_count_of(app, "ada@unilag.edu.ng") == 100


async def test_students_of_one_new_campus_at_once_make_one_campus(app: IdentityApp) -> None:
    responses = await asyncio.gather(*(created_user(app, f"s{number}@ashesi.edu.gh") for number in range(20)))
    assert len({response["campusId"] for response in responses}) == 1
    assert len(await app.published("identity.campus_changed.v1")) == 1


async def test_a_referral_is_never_applied_for_ones_own_mailbox(app: IdentityApp) -> None:
    await app.sign_up("ada.obi@gmail.com")
    token = await referral_token_of(app, "ada.obi@gmail.com")
    for spelling in ("adaobi+more@gmail.com", "a.d.a.o.b.i@googlemail.com"):
        data = await created_user(app, spelling, referral_token=token)
        assert data["referral"] == {"applied": False, "pending": False, "rewardMinor": 0, "reason": "own_token"}
    assert await referral_count_of(app, "ada.obi@gmail.com") == 0


async def test_one_mailbox_is_rewarded_once_under_all_its_spellings(app: IdentityApp) -> None:
    token = await referral_token_of(app, await new_referrer(app))
    spellings = [f"tola+{number}@ui.edu.ng" for number in range(20)]
    responses = await asyncio.gather(*(created_user(app, email, referral_token=token) for email in spellings))
    assert [response["referral"]["applied"] for response in responses].count(True) == 1
    assert await referral_count_of(app, "ada@unilag.edu.ng") == 1


async def test_a_referrer_is_not_rewarded_by_a_referred_users_token(app: IdentityApp) -> None:
    """A brings B; B's token then serves none of the other spellings of A's mailbox."""
    token = await referral_token_of(app, await new_referrer(app, "ada@gmail.com"))
    await app.sign_up("bola@unilag.edu.ng", referralToken=token)
    tokens = await referral_token_of(app, "bola@unilag.edu.ng")
    for spelling in ("a.da@gmail.com", "ada+2@googlemail.com", "ada@gmail.com"):
        data = await created_user(app, spelling, referral_token=tokens)
        assert data["referral"] == {"applied": False, "pending": False, "rewardMinor": 0, "reason": "mailbox_known"}
    assert await referral_count_of(app, "bola@unilag.edu.ng") == 0


async def test_an_address_that_cannot_be_compared_earns_nothing(app: IdentityApp) -> None:
    token = await referral_token_of(app, await new_referrer(app, "ada@gmail.com"))
    for spelling in (
        '"ada"@gmail.com',
        "ada(x)@gmail.com",
        "ada@gmail.com.",
        "ada@\uff47mail.com",
        "\u00e1da@gmail.com",
    ):
        data = await created_user(app, spelling, referral_token=token)
        assert data["referral"] == {"applied": False, "pending": False, "rewardMinor": 0, "reason": "unusual_address"}


async def test_an_odd_referral_token_never_fails_the_sign_up(app: IdentityApp) -> None:
    for token in ("nobody's", "x" * 10_000, "\u00e9\U0001f600", "' OR 1=1 --", "%", "null"):
        data = await created_user(app, f"tola{uuid4()}@unilag.edu.ng", referral_token=token)
        assert data["referral"] == {"applied": False, "pending": False, "rewardMinor": 0, "reason": "unknown_token"}
    await app.sign_up("bola@unilag.edu.ng", referralToken="x" * 10_000)


async def test_no_token_is_no_reason(app: IdentityApp) -> None:
    for token in (None, "", "  "):
        data = await created_user(app, f"tola{uuid4()}@unilag.edu.ng", referral_token=token)
        assert data["referral"] == {"applied": False, "pending": False, "rewardMinor": 0}


async def test_an_odd_number_never_fails_the_sign_up(app: IdentityApp) -> None:
    for phone in ("", "0", "+", "call me", "x" * 5_000, "+999123456789", "\u0660\u0661", "+234" * 20, None):
        data = await created_user(app, f"tola{uuid4()}@unilag.edu.ng", phone=phone)
        assert data["campusId"] is not None
    rows = await app.fetch("SELECT DISTINCT phone FROM profiles")
    assert [row["phone"] for row in rows] == [None]
    await created_user(app, "dami@unilag.edu.ng", phone="0803 123 4567")
    events = (await app.published("identity.user_provisioned.v1"))[-1]
    assert events["phone"] == "+2348031234567"


async def test_a_reward_of_nothing_is_applied_and_counted(app: IdentityApp, broker_url: str) -> None:
    token = await referral_token_of(app, await new_referrer(app))
    async with opened(
        SERVICE,
        app.urls,
        broker_url,
        clock=app.clock,
        jwks_url=app.jwks_url,
        credentials_key=app.settings.credentials_key,
        code_delivery_key=app.settings.code_delivery_key,
        service_role_key=SERVICE_ROLE_KEY,
        referral_reward_minor=0,
    ) as stingy:
        response = await stingy.client.post(
            "/functions/v1/create-user",
            json={
                "user": {
                    "id": str(uuid4()),
                    "email": "tola@unilag.edu.ng",
                    "user_metadata": {"referral_token": token},
                }
            },
            headers={"Authorization": f"Bearer {SERVICE_ROLE_KEY}"},
        )
    assert response.json()["data"]["referral"] == {"applied": True, "pending": False, "rewardMinor": 0}
    assert await referral_count_of(app, "ada@unilag.edu.ng") == 1


async def test_a_wrong_service_key_opens_nothing(app: IdentityApp) -> None:
    for key in ("wrong", SERVICE_ROLE_KEY[:-1], SERVICE_ROLE_KEY + "x", SERVICE_ROLE_KEY.upper(), "\u00e9", ""):
        response = await app.client.post(
            "/functions/v1/create-user",
            json={"user": {"id": str(uuid4()), "email": "a@unilag.edu.ng", "user_metadata": {}}},
            headers={"Authorization": f"Bearer {key}".encode()},
        )
        assert (key, response.status_code, response.json()["code"]) == (key, 401, "AUTH_UNAUTHORIZED")
    assert await app.count("profiles") == 0


async def test_the_current_and_previous_service_key_open_it_and_the_previous_is_counted(
    app: IdentityApp,
) -> None:
    counter = PREVIOUS_KEY_ACCEPTED.labels("service-role-key")
    for key, counted in ((SERVICE_ROLE_KEY, 0), (PREVIOUS_SERVICE_ROLE_KEY, 1)):
        before = counter._value.get()
        assert (await create_user(app, "a@unilag.edu.ng", key=key)).status_code == 200
        assert counter._value.get() - before == counted


async def test_a_users_token_is_rejected_by_the_function(app: IdentityApp) -> None:
    await app.load_demo()
    tokens = await app.demo_log_in("ADMIN")
    assert (await create_user(app, "a@unilag.edu.ng", key=tokens["accessToken"])).status_code == 401
    assert (await app.post("/functions/v1/create-user", {})).status_code == 401


async def test_a_body_of_another_shape_changes_nothing(app: IdentityApp) -> None:
    good = {"id": str(uuid4()), "email": "a@unilag.edu.ng"}
    bodies: list[tuple[str, Any]] = [
        ("user.id", {**good, "id": "1"}),
        ("user.id", {**good, "id": 7}),
        ("user.id", {"email": "a@unilag.edu.ng"}),
        ("user.email", {"id": str(uuid4())}),
        ("user.email", {**good, "email": None}),
        ("user.email", {**good, "email": ""}),
        ("user.email", {**good, "email": "no address"}),
        ("user.email", {**good, "email": "@unilag.edu.ng"}),
        ("user.email", {**good, "email": "a@"}),
        ("user.email", {**good, "email": "a@unilag.edu.ng\r\nBcc: b@c.co"}),
        ("user.email", {**good, "email": "a" * 320 + "@unilag.edu.ng"}),
        ("user.email", {**good, "email": ["a@unilag.edu.ng"]}),
        ("user.phone", {**good, "phone": 8031234567}),
        ("user.role", {**good, "role": "platform_admin"}),
        ("user.user_metadata", {**good, "user_metadata": "x"}),
        ("user.user_metadata.roles", {**good, "user_metadata": {"roles": ["platform_admin"]}}),
        ("user.user_metadata.referral_token", {**good, "user_metadata": {"referral_token": 1}}),
        ("user.user_metadata.full_name", {**good, "user_metadata": {"full_name": "x" * 201}}),
        ("body", {**good, "user_metadata": {"referral_token": "a\x00b"}}),
    ]
    for name, user in bodies:
        response = await app.client.post(
            "/functions/v1/create-user", json={"user": user}, headers={"Authorization": f"Bearer {SERVICE_ROLE_KEY}"}
        )
        assert (user, response.status_code, response.json()["code"]) == (user, 422, "VALIDATION_FAILED")
        assert [param["name"] for param in response.json()["invalid_params"]] == [name]
    assert await app.count("profiles") == await app.count("campuses") == 0


async def test_an_address_of_another_cell_creates_nothing(
    fresh_database: DatabaseFactory, broker_url: str, clock: ManualClock
) -> None:
    cells = [
        {"name": "lagos", "url": "http://lagos:8080"},
        {"name": "ibadan", "url": "http://ibadan:8080", "campuses": [str(IBADAN.id)], "domains": ["ui.edu.ng"]},
    ]
    keys = {"credentials_key": CREDENTIALS_KEY, "code_delivery_key": CODE_DELIVERY_KEY}
    urls = await fresh_database("identity")
    async with opened(SERVICE, urls, broker_url, clock=clock, **keys, cell="lagos", cells=cells) as service:
        user = {"id": str(uuid4()), "email": "ada@students.ui.edu.ng"}
        headers = {"Authorization": f"Bearer {SERVICE_ROLE_KEY}"}
        created_there = await service.client.post("/functions/v1/create-user", json={"user": user}, headers=headers)
        body = {"email": "ada@ui.edu.ng", "password": PASSWORD, "fullName": "Ada"}
        signed_up_there = await service.client.post("/api/auth/signup", json=body)
        for response in (created_there, signed_up_there):
            assert response.status_code == 421
            assert response.json()["cell"] == "ibadan"
        for table in ("profiles", "campuses", "outbox"):
            assert await service.fetch(f"SELECT 1 FROM {table}") == []
        here = {"user": {**user, "email": "ada@unilag.edu.ng"}}
        assert (await service.client.post("/functions/v1/create-user", json=here, headers=headers)).status_code == 200
