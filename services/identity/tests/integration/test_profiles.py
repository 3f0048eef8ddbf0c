"""Profiles and sign-ups under a race (contract sections 1 and 10)."""

import asyncio
from typing import Any

import httpx
import pytest

from contracts.permissions import PERMISSIONS_BY_ROLE
from identity.app import SERVICE
from testkit.responses import invalid_field_of

from .conftest import IdentityApp


async def change(app: IdentityApp, token: str, body: dict[str, Any], if_match: str | None = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}", **({"If-Match": if_match} if if_match else {})}
    return await app.client.patch("/api/profiles/current", json=body, headers=headers)


async def user(app: IdentityApp, email: str = "tola@unilag.edu.ng") -> str:
    """Return the access token of a new user."""
    await app.sign_up(email)
    return str((await app.log_in(email))["accessToken"])


async def test_two_sign_ups_of_one_address_at_once_make_one_account(app: IdentityApp) -> None:
    spellings = ["tola@unilag.edu.ng", " Tola@UNILAG.edu.ng", "TOLA@unilag.edu.ng\n"] * 3
    user_ids = await asyncio.gather(*(app.sign_up(email) for email in spellings))
    assert len(set(user_ids)) == len(spellings)
    assert await app.count("accounts") == await app.count("profiles") == 1
    events = await app.published("identity.user_provisioned.v1")
    assert [event["email"] for event in events] == ["tola@unilag.edu.ng"]
    tokens = await app.log_in("tola@unilag.edu.ng")
    profile = (await app.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]
    assert profile["id"] in {str(user_id) for user_id in user_ids}


async def test_a_profile_shows_what_the_token_of_the_request_permits(app: IdentityApp) -> None:
    token = await user(app)
    profile = (await app.get("/api/profiles/current", token=token)).json()["data"]
    assert (profile["permissions"], profile["vendorId"]) == (sorted(PERMISSIONS_BY_ROLE["buyer"]), None)
    changed = (await change(app, token, {"fullName": "Tola A"})).json()["data"]
    assert changed["permissions"] == profile["permissions"]


async def test_of_many_changes_of_one_revision_one_succeeds(app: IdentityApp) -> None:
    token = await user(app)
    responses = await asyncio.gather(
        *(change(app, token, {"fullName": f"Name {number}"}, '"1"') for number in range(10))
    )
    assert sorted(response.status_code for response in responses) == [200] + [409] * 9
    assert {response.json()["code"] for response in responses if response.status_code == 409} == {
        "CONCURRENCY_CONFLICT"
    }
    winner = next(response.json()["data"] for response in responses if response.status_code == 200)
    assert (await app.get("/api/profiles/current", token=token)).json()["data"] == winner
    assert winner["revision"] == 2
    assert len(await app.published("identity.profile_changed.v1")) == 1


async def test_changes_without_a_revision_are_all_applied_and_published_in_order(app: IdentityApp) -> None:
    token = await user(app)
    responses = await asyncio.gather(*(change(app, token, {"fullName": f"Name {number}"}) for number in range(10)))
    by_revision = {response.json()["data"]["revision"]: response.json()["data"]["fullName"] for response in responses}
    assert sorted(by_revision) == list(range(2, 12))
    rows = await app.fetch(
        "SELECT sequence, convert_from(payload, 'UTF8')::json->>'fullName' AS name FROM outbox "
        "WHERE type = 'identity.profile_changed.v1' ORDER BY sequence"
    )
    # The first event of the user, with sequence 1, was the sign-up.
    assert [(row["sequence"], row["name"]) for row in rows] == sorted(by_revision.items())


async def test_a_number_can_be_removed_and_an_invalid_one_is_rejected(app: IdentityApp) -> None:
    token = await user(app)
    assert (await change(app, token, {"phone": "0803 123 4567"})).json()["data"]["phone"] == "+2348031234567"
    for phone in ("12", "call me", "+999123456789", "", "0" * 41, 8031234567, ["08031234567"]):
        assert invalid_field_of(await change(app, token, {"phone": phone, "fullName": "Changed"})) == (422, "phone")
    kept = (await app.get("/api/profiles/current", token=token)).json()["data"]
    assert (kept["phone"], kept["fullName"], kept["revision"]) == ("+2348031234567", "Test Person", 2)
    assert (await change(app, token, {"phone": None, "revision": 2})).json()["data"]["phone"] is None
    events = await app.published("identity.profile_changed.v1")
    assert [event.get("phone") for event in events] == ["+2348031234567", None]


async def test_a_campus_follows_from_the_address_and_cannot_be_chosen(app: IdentityApp) -> None:
    token = await user(app, "tola@gmail.com")
    await app.sign_up("ada@unilag.edu.ng")
    campus_id = (await app.get("/api/campuses")).json()["data"][0]["id"]
    assert invalid_field_of(await change(app, token, {"campusId": campus_id})) == (422, "campusId")
    assert (await app.get("/api/profiles/current", token=token)).json()["data"]["campusId"] is None


async def test_all_profiles_are_published_again_as_they_are(
    app: IdentityApp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("identity.use_cases.accounts.publish_profiles.BATCH_PROFILES", 2)
    user_ids = [await app.sign_up(f"user{number}@unilag.edu.ng") for number in range(3)]
    await app.fetch(
        "UPDATE profiles SET email = '', mailbox = '', phone = NULL, full_name = NULL, confirmed_email = NULL, "
        "referral_token = 'erased:' || id, erased_at = now() WHERE id = $1 RETURNING 1",
        user_ids[0],
    )
    await SERVICE.commands["publish-profiles"](app.dependencies)
    events = await app.published("identity.profile_changed.v1")
    assert capsys.readouterr().out == "published 2 profiles\n"
    assert sorted(event["userId"] for event in events) == sorted(str(user_id) for user_id in user_ids[1:])
    assert {event["email"] for event in events} == {"user1@unilag.edu.ng", "user2@unilag.edu.ng"}
