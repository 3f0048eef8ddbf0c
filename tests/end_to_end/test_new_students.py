"""New students of every country: their campus, the one who brought them, and the reward in the ledger
(contract section 10).
"""

import asyncio
import json
from importlib.resources import files
from typing import Any
from uuid import uuid4

from operations.journey import Marketplace

from .conftest import Users

ENTRIES = json.loads((files("identity") / "data" / "university-domains.json").read_text(encoding="utf-8"))
REWARD_MINOR = 50_000


def twenty_universities() -> dict[str, str]:
    """Mail domain and name of five universities of each of the four countries, spread over the list."""
    chosen = {}
    for country in ("GH", "KE", "NG", "ZA"):
        entries = [entry for entry in ENTRIES if entry["alpha2"] == country]
        chosen |= {entry["domains"][0]: entry["name"] for entry in entries[3 :: len(entries) // 5][:5]}
    return chosen


async def create_user(market: Marketplace, user: dict[str, Any]) -> dict[str, Any]:
    key = {"Authorization": f"Bearer {market.secrets['SERVICE_ROLE_KEY']}"}
    response = await market.http.post("/functions/v1/create-user", json={"user": user}, headers=key)
    assert response.status_code == 200, response.text
    return response.json()["data"]


async def new_student(market: Marketplace, **more: Any):
    return await market.sign_up(f"student.{uuid4().hex}@unilag.edu.ng", "Ngozi Eze", "+2348031234567", **more)


async def test_the_student_of_each_of_twenty_universities_lands_on_the_right_campus(market: Marketplace) -> None:
    universities = twenty_universities()
    assert len(universities) == 20
    created = await asyncio.gather(
        *(create_user(market, {"id": str(uuid4()), "email": f"Fresher@student.{domain}"}) for domain in universities)
    )
    names = {campus["id"]: campus["name"] for campus in await market.get("/api/campuses", params={"limit": 100})}
    assert [names[student["campusId"]] for student in created] == list(universities.values())
    assert all(student["referral"] == {"applied": False, "pending": False, "rewardMinor": 0} for student in created)


async def test_a_hundred_parallel_calls_for_one_student_credit_fifty_thousand_kobo(market: Marketplace) -> None:
    friend = await new_student(market)
    token = (await market.get("/api/referrals/current", friend))["token"]
    student = await new_student(market, referral_token=token)
    profile = await market.get("/api/profiles/current", student)
    user = {"id": profile["id"], "email": student.email, "user_metadata": {"referral_token": token}}
    created = await asyncio.gather(*(create_user(market, user) for _ in range(100)))
    assert all(response == created[0] for response in created)
    assert created[0] == {
        "profileId": profile["id"],
        "role": "buyer",
        "campusId": profile["campusId"],
        "referral": {"applied": True, "pending": False, "rewardMinor": REWARD_MINOR},
    }

    async def credited() -> int | None:
        return (await market.get("/api/rewards/balance", student))["balanceMinor"] or None

    assert await market.until("the reward", credited, 60) == REWARD_MINOR
    assert await market.get("/api/referrals/current", friend) == {"token": token, "count": 1}
    assert (await market.get("/api/rewards/balance", friend))["balanceMinor"] == 0


async def test_a_hundred_students_at_once_with_one_token_are_credited_once_each(
    market: Marketplace, users: Users
) -> None:
    async def paid_out() -> int:
        for page in range(1, 101):
            accounts = await market.get("/api/ledger/accounts", users.auditor, params={"limit": 100, "page": page})
            for account in accounts:
                if account["account"] == "referral_expense":
                    return account["balanceMinor"]
            if not accounts:
                break
        return 0

    friend = await new_student(market)
    token = (await market.get("/api/referrals/current", friend))["token"]
    before = await paid_out()
    students = [
        {
            "id": str(uuid4()),
            "email": f"fresher{number}@{uuid4().hex}.ui.edu.ng",
            "user_metadata": {"referral_token": token},
            "email_confirmed": True,
        }
        for number in range(100)
    ]
    created = await asyncio.gather(*(create_user(market, student) for student in students * 2))
    assert all(
        response["referral"] == {"applied": True, "pending": False, "rewardMinor": REWARD_MINOR} for response in created
    )
    assert (await market.get("/api/referrals/current", friend))["count"] == 100

    async def all_credited() -> bool | None:
        return await paid_out() >= before + 100 * REWARD_MINOR or None

    assert await market.until("the rewards of a hundred", all_credited, 60)
    assert await paid_out() == before + 100 * REWARD_MINOR


async def test_a_student_who_goes_is_known_nowhere_and_their_address_is_free(market: Marketplace) -> None:
    student = await new_student(market)
    wrong = await go(market, student, "not the password")
    assert (wrong.status_code, wrong.json()["invalid_params"][0]["name"]) == (422, "password")
    ended = await go(market, student, market.secrets["DEMO_PASSWORD"])
    assert ended.status_code == 202, ended.text

    async def signed_out() -> bool | None:
        return (await market.http.get("/api/profiles/current", headers=student.headers)).status_code == 401 or None

    assert await market.until("the erasure", signed_out, 60)
    credentials = {"email": student.email, "password": market.secrets["DEMO_PASSWORD"]}
    assert (await market.http.post("/api/auth/login", json=credentials)).status_code == 401
    again = await market.sign_up(student.email, "Ngozi Eze", "+2348031234567")
    assert (await market.get("/api/profiles/current", again))["id"] != ended.json()["data"]["userId"]


async def go(market: Marketplace, student, password: str):
    return await market.http.request(
        "DELETE", "/api/profiles/current", json={"password": password}, headers=student.headers
    )
