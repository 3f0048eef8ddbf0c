"""Profiles and sign-ups under a race (contract sections 1 and 10)."""

import asyncio
from typing import Any

import httpx

from .conftest import Identity


async def change(identity: Identity, token: str, body: dict[str, Any], if_match: str | None = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}", **({"If-Match": if_match} if if_match else {})}
    return await identity.client.patch("/api/profiles/current", json=body, headers=headers)


async def user(identity: Identity, email: str = "tola@unilag.edu.ng") -> str:
    """The access token of somebody new."""
    await identity.sign_up(email)
    return str((await identity.log_in(email))["accessToken"])


async def test_two_sign_ups_of_one_address_at_once_make_one_account(identity: Identity) -> None:
    spellings = ["tola@unilag.edu.ng", " Tola@UNILAG.edu.ng", "TOLA@unilag.edu.ng\n"] * 3
    user_ids = await asyncio.gather(*(identity.sign_up(email) for email in spellings))
    assert len(set(user_ids)) == len(spellings)
    assert await identity.count("accounts") == await identity.count("profiles") == 1
    said = await identity.service.published("identity.user_provisioned.v1")
    assert [event["email"] for event in said] == ["tola@unilag.edu.ng"]
    tokens = await identity.log_in("tola@unilag.edu.ng")
    profile = (await identity.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]
    assert profile["id"] in {str(user_id) for user_id in user_ids}


async def test_of_many_changes_of_one_revision_one_wins(identity: Identity) -> None:
    token = await user(identity)
    answers = await asyncio.gather(
        *(change(identity, token, {"fullName": f"Name {number}"}, '"1"') for number in range(10))
    )
    assert sorted(response.status_code for response in answers) == [200] + [409] * 9
    assert {response.json()["code"] for response in answers if response.status_code == 409} == {"CONCURRENCY_CONFLICT"}
    winner = next(response.json()["data"] for response in answers if response.status_code == 200)
    assert (await identity.get("/api/profiles/current", token=token)).json()["data"] == winner
    assert winner["revision"] == 2
    assert len(await identity.service.published("identity.profile_changed.v1")) == 1


async def test_changes_without_a_revision_all_happen_and_are_told_in_their_order(identity: Identity) -> None:
    token = await user(identity)
    answers = await asyncio.gather(*(change(identity, token, {"fullName": f"Name {number}"}) for number in range(10)))
    by_revision = {response.json()["data"]["revision"]: response.json()["data"]["fullName"] for response in answers}
    assert sorted(by_revision) == list(range(2, 12))
    rows = await identity.service.fetch(
        "SELECT sequence, convert_from(payload, 'UTF8')::json->>'fullName' AS name FROM outbox "
        "WHERE type = 'identity.profile_changed.v1' ORDER BY sequence"
    )
    # The first news of the person, with sequence 1, was that they exist.
    assert [(row["sequence"], row["name"]) for row in rows] == sorted(by_revision.items())


async def test_a_number_can_be_taken_away_and_a_bad_one_is_refused(identity: Identity) -> None:
    token = await user(identity)
    assert (await change(identity, token, {"phone": "0803 123 4567"})).json()["data"]["phone"] == "+2348031234567"
    for phone in ("12", "call me", "+999123456789", "", "0" * 41, 8031234567, ["08031234567"]):
        response = await change(identity, token, {"phone": phone, "fullName": "Changed"})
        assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, "phone")
    kept = (await identity.get("/api/profiles/current", token=token)).json()["data"]
    assert (kept["phone"], kept["fullName"], kept["revision"]) == ("+2348031234567", "Test Person", 2)
    assert (await change(identity, token, {"phone": None, "revision": 2})).json()["data"]["phone"] is None
    said = await identity.service.published("identity.profile_changed.v1")
    assert [event.get("phone") for event in said] == ["+2348031234567", None]


async def test_a_campus_follows_from_the_address_and_is_nobodys_to_choose(identity: Identity) -> None:
    token = await user(identity, "tola@gmail.com")
    await identity.sign_up("ada@unilag.edu.ng")
    campus_id = (await identity.get("/api/campuses")).json()["data"][0]["id"]
    response = await change(identity, token, {"campusId": campus_id})
    assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (422, "campusId")
    assert (await identity.get("/api/profiles/current", token=token)).json()["data"]["campusId"] is None
