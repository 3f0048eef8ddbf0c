"""The create-user function (specification: Functions; contract section 10)."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx

from .conftest import PREVIOUS_SERVICE_ROLE_KEY, SERVICE_ROLE_KEY, Identity

UNIVERSITIES = {
    "unilag.edu.ng": "University of Lagos",
    "ui.edu.ng": "University of Ibadan",
    "unn.edu.ng": "University of Nigeria",
    "lcu.edu.ng": "Lead City University of Ibadan",
    "lasunigeria.org": "Lagos State University",
    "aun.edu.ng": "ABTI American University of Nigeria",
    "nou.edu.ng": "National Open University of Nigeria",
    "nda.edu.ng": "Nigerian Defence Academy",
    "ntnu.edu.ng": "Nigerian Turkish Nile University",
    "polyibadan.edu.ng": "Polytechnic Ibadan",
    "mylcp.net": "Lagos City Polytechnic",
    "laspotech.net": "Lagos State Polytechnic",
    "atu.edu.gh": "Accra Technical University",
    "ashesi.edu.gh": "Ashesi University",
    "gbuc.edu.gh": "Ghana Baptist University College",
    "central.edu.gh": "Central University College",
    "ghanacu.org": "Ghana Christian University College",
    "myuct.ac.za": "University of Cape Town",
    "nmmu.ac.za": "Nelson Mandela University",
    "uniwest.ac.za": "North-West University",
}

LOOK_ALIKES = (
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
    "no address",
)


async def create_user(
    identity: Identity, email: str, *, user_id: UUID | None = None, key: str = SERVICE_ROLE_KEY, **more: Any
) -> httpx.Response:
    metadata = {"referral_token": more.pop("referral_token")} if "referral_token" in more else {}
    user = {"id": str(user_id or uuid4()), "email": email, "user_metadata": metadata, **more}
    return await identity.client.post(
        "/functions/v1/create-user", json={"user": user}, headers={"Authorization": f"Bearer {key}"}
    )


async def created(identity: Identity, email: str, **more: Any) -> dict[str, Any]:
    answer = await create_user(identity, email, **more)
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


async def referral_token_of(identity: Identity, email: str) -> str:
    tokens = await identity.log_in(email)
    answer = await identity.get("/api/referrals/current", token=tokens["accessToken"])
    return str(answer.json()["data"]["token"])


async def referral_count_of(identity: Identity, email: str) -> int:
    tokens = await identity.log_in(email)
    answer = await identity.get("/api/referrals/current", token=tokens["accessToken"])
    return int(answer.json()["data"]["count"])


async def test_the_student_of_each_of_twenty_universities_lands_on_the_right_campus(identity: Identity) -> None:
    assert len(UNIVERSITIES) == 20
    for domain, name in UNIVERSITIES.items():
        data = await created(identity, f"Fresher@students.{domain.upper()}")
        campus = await identity.get(f"/api/campuses/{data['campusId']}")
        assert campus.json()["data"]["name"] == name
    told = await identity.service.published("identity.campus_changed.v1")
    assert sorted(event["name"] for event in told) == sorted(UNIVERSITIES.values())


async def test_a_sign_up_uses_the_same_rule(identity: Identity) -> None:
    await identity.sign_up("fresher@ashesi.edu.gh")
    tokens = await identity.log_in("fresher@ashesi.edu.gh")
    profile = (await identity.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]
    campus = (await identity.get(f"/api/campuses/{profile['campusId']}")).json()["data"]
    assert campus["name"] == "Ashesi University"


async def test_a_look_alike_is_a_user_without_a_campus(identity: Identity) -> None:
    for email in LOOK_ALIKES:
        assert (email, (await created(identity, email))["campusId"]) == (email, None)
    assert await identity.count("campuses") == 0


async def test_it_answers_the_shape_of_the_contract(identity: Identity) -> None:
    user_id = uuid4()
    data = await created(identity, "tola@unilag.edu.ng", user_id=user_id, phone="not a number")
    assert data["profileId"] == str(user_id)
    assert data["role"] == "buyer"
    assert data["referral"] == {"applied": False, "rewardMinor": 0}
    said = (await identity.service.published("identity.user_provisioned.v1"))[0]
    assert said["userId"] == str(user_id)
    assert said["referral"] == {"applied": False, "rewardMinor": 0}
    assert "phone" not in said


async def test_it_is_idempotent_on_the_users_id(identity: Identity) -> None:
    await identity.sign_up("ada@unilag.edu.ng")
    token = await referral_token_of(identity, "ada@unilag.edu.ng")
    user_id = uuid4()
    first = await created(identity, "tola@ui.edu.ng", user_id=user_id)
    second = await created(identity, "other@unn.edu.ng", user_id=user_id, referral_token=token)
    assert second == first
    assert len(await identity.service.published("identity.user_provisioned.v1")) == 2


async def test_a_hundred_parallel_calls_for_one_user_create_and_credit_once(identity: Identity) -> None:
    await identity.sign_up("ada@unilag.edu.ng")
    token = await referral_token_of(identity, "ada@unilag.edu.ng")
    user_id = uuid4()
    answers = await asyncio.gather(
        *(created(identity, "tola@ui.edu.ng", user_id=user_id, referral_token=token) for _ in range(100))
    )
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["referral"] == {"applied": True, "rewardMinor": 50_000}
    said = [
        event
        for event in await identity.service.published("identity.user_provisioned.v1")
        if event["userId"] == str(user_id)
    ]
    assert len(said) == 1
    assert said[0]["referral"]["rewardMinor"] == 50_000
    assert await referral_count_of(identity, "ada@unilag.edu.ng") == 1


async def test_students_of_one_new_campus_at_once_make_one_campus(identity: Identity) -> None:
    answers = await asyncio.gather(*(created(identity, f"s{number}@ashesi.edu.gh") for number in range(20)))
    assert len({answer["campusId"] for answer in answers}) == 1
    assert len(await identity.service.published("identity.campus_changed.v1")) == 1


async def test_a_referral_is_never_applied_for_ones_own_mailbox(identity: Identity) -> None:
    await identity.sign_up("ada.obi@gmail.com")
    token = await referral_token_of(identity, "ada.obi@gmail.com")
    for spelling in ("adaobi+more@gmail.com", "a.d.a.o.b.i@googlemail.com"):
        data = await created(identity, spelling, referral_token=token)
        assert data["referral"] == {"applied": False, "rewardMinor": 0, "reason": "own_token"}
    assert await referral_count_of(identity, "ada.obi@gmail.com") == 0


async def test_one_mailbox_is_rewarded_once_under_all_its_spellings(identity: Identity) -> None:
    await identity.sign_up("ada@unilag.edu.ng")
    token = await referral_token_of(identity, "ada@unilag.edu.ng")
    spellings = [f"tola+{number}@ui.edu.ng" for number in range(20)]
    answers = await asyncio.gather(*(created(identity, email, referral_token=token) for email in spellings))
    assert [answer["referral"]["applied"] for answer in answers].count(True) == 1
    assert await referral_count_of(identity, "ada@unilag.edu.ng") == 1


async def test_an_unknown_referral_token_never_fails_the_sign_up(identity: Identity) -> None:
    data = await created(identity, "tola@unilag.edu.ng", referral_token="nobody's")
    assert data["referral"] == {"applied": False, "rewardMinor": 0, "reason": "unknown_token"}


async def test_a_wrong_service_key_opens_nothing(identity: Identity) -> None:
    for key in ("wrong", SERVICE_ROLE_KEY[:-1], SERVICE_ROLE_KEY + "x", SERVICE_ROLE_KEY.upper(), "\u00e9", ""):
        answer = await identity.client.post(
            "/functions/v1/create-user",
            json={"user": {"id": str(uuid4()), "email": "a@unilag.edu.ng", "user_metadata": {}}},
            headers={"Authorization": f"Bearer {key}".encode()},
        )
        assert (key, answer.status_code, answer.json()["code"]) == (key, 401, "AUTH_UNAUTHORIZED")
    assert await identity.count("profiles") == 0


async def test_the_current_and_the_previous_service_key_both_open_it(identity: Identity) -> None:
    for key in (SERVICE_ROLE_KEY, PREVIOUS_SERVICE_ROLE_KEY):
        assert (await create_user(identity, "a@unilag.edu.ng", key=key)).status_code == 200


async def test_a_persons_token_does_not_open_the_function(identity: Identity) -> None:
    await identity.load_demo()
    tokens = await identity.demo_log_in("ADMIN")
    answer = await create_user(identity, "a@unilag.edu.ng", key=tokens["accessToken"])
    assert answer.status_code == 401
    nobody = await identity.post("/functions/v1/create-user", {})
    assert nobody.status_code == 401


async def test_a_body_of_another_shape_changes_nothing(identity: Identity) -> None:
    bodies: list[dict[str, Any]] = [
        {"id": "1", "email": "a@unilag.edu.ng"},
        {"id": str(uuid4())},
        {"id": str(uuid4()), "email": "a@unilag.edu.ng", "role": "platform_admin"},
        {"id": str(uuid4()), "email": "a@unilag.edu.ng", "user_metadata": {"roles": ["platform_admin"]}},
    ]
    for user in bodies:
        answer = await identity.client.post(
            "/functions/v1/create-user", json={"user": user}, headers={"Authorization": f"Bearer {SERVICE_ROLE_KEY}"}
        )
        assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION_FAILED")
    assert await identity.count("profiles") == 0
