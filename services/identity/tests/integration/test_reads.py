"""Profiles, referrals, campuses, hubs and vendors (contract sections 1 and 10)."""

from typing import Any
from uuid import uuid4

import pytest_asyncio

from contracts import demo
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, UNAUTHORIZED, error_of, invalid_field_of

from .conftest import IdentityApp


@pytest_asyncio.fixture
async def campus(app: IdentityApp) -> IdentityApp:
    """Return the service with the demo data."""
    await app.load_demo()
    return app


async def walk(app: IdentityApp, path: str, **params: Any) -> list[str]:
    """Return the ids of a cursor list, page by page."""
    ids: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(20):
        body = (await app.get(path, limit=1, **params, **cursor)).json()
        assert len(body["data"]) <= 1
        ids += [entry["id"] for entry in body["data"]]
        if not body["meta"]["has_more"]:
            assert body["meta"]["next_cursor"] is None
            return ids
        cursor = {"cursor": body["meta"]["next_cursor"]}
    raise AssertionError("the walk does not end")


async def test_a_walk_by_cursor_gives_every_item_once(campus: IdentityApp) -> None:
    assert await walk(campus, "/api/campuses") == [str(entry.id) for entry in demo.CAMPUSES]
    assert await walk(campus, f"/api/campuses/{demo.LAGOS.id}/hubs") == [str(hub.id) for hub in demo.HUBS]
    assert await walk(campus, f"/api/campuses/{demo.IBADAN.id}/hubs") == []
    assert await walk(campus, "/api/vendors") == [str(vendor.id) for vendor in demo.VENDORS]
    assert await walk(campus, "/api/vendors", campusId=str(demo.LAGOS.id)) == [str(v.id) for v in demo.VENDORS]
    assert await walk(campus, "/api/vendors", campusId=str(demo.IBADAN.id)) == []


async def test_vendors_are_listed_by_their_ids(campus: IdentityApp) -> None:
    first, second = demo.VENDORS[:2]
    assert await walk(campus, "/api/vendors", id=[str(second.id), str(uuid4())]) == [str(second.id)]
    token = (await campus.demo_log_in("VENDOR"))["accessToken"]
    found = await campus.get("/api/vendors", token=token, status="active", id=[str(first.id)])
    assert [one["id"] for one in found.json()["data"]] == [str(first.id)]
    cursor = (await campus.get("/api/vendors", limit=1)).json()["meta"]["next_cursor"]
    refused = await campus.get("/api/vendors", cursor=cursor, id=[str(first.id)])
    assert invalid_field_of(refused) == (422, "cursor")


async def test_a_campus_created_while_paging_neither_hides_nor_repeats_another(campus: IdentityApp) -> None:
    first = (await campus.get("/api/campuses", limit=2)).json()
    campus.next_period()
    await campus.sign_up("fresher@ashesi.edu.gh")
    rest = (await campus.get("/api/campuses", limit=100, cursor=first["meta"]["next_cursor"])).json()
    seen = [entry["id"] for entry in first["data"] + rest["data"]]
    assert len(seen) == len(set(seen)) == 4
    assert {str(entry.id) for entry in demo.CAMPUSES} <= set(seen)


async def test_a_foreign_or_changed_cursor_is_rejected(campus: IdentityApp) -> None:
    cursor = (await campus.get("/api/campuses", limit=1)).json()["meta"]["next_cursor"]
    tokens = await campus.demo_log_in("BUYER")
    responses = [
        await campus.get("/api/vendors", cursor=cursor),
        await campus.get("/api/campuses", cursor=cursor[:-2] + "AA"),
        await campus.get("/api/campuses", cursor="x" * 40),
        await campus.get("/api/campuses", cursor=cursor, token=tokens["accessToken"]),
    ]
    for response in responses:
        assert invalid_field_of(response) == (422, "cursor")


async def test_a_limit_out_of_range_is_rejected(app: IdentityApp) -> None:
    for path in ("/api/campuses", "/api/vendors"):
        for limit in ("0", "101", "-1", "x"):
            assert invalid_field_of(await app.get(path, limit=limit)) == (422, "limit")


async def test_campus_hub_and_vendor_show_their_public_shape(campus: IdentityApp) -> None:
    entry = (await campus.get(f"/api/campuses/{str(demo.LAGOS.id).upper()}")).json()["data"]
    assert (entry["id"], entry["name"], entry["active"]) == (str(demo.LAGOS.id), demo.LAGOS.name, True)
    hubs = (await campus.get(f"/api/campuses/{demo.LAGOS.id}/hubs")).json()["data"]
    assert [(hub["campusId"], hub["name"], hub["address"], hub["deliveryFeeMinor"]) for hub in hubs] == [
        (str(hub.campus_id), hub.name, hub.address, hub.delivery_fee_minor) for hub in demo.HUBS
    ]
    vendor = (await campus.get(f"/api/vendors/{demo.ADA.id}")).json()["data"]
    public = {"id", "businessName", "campusId", "category", "description", "createdAt", "away", "openingHours"}
    assert vendor.keys() == public
    assert vendor["businessName"] == demo.ADA.business_name


async def test_absent_malformed_and_hidden_ids_get_equal_responses(campus: IdentityApp) -> None:
    await campus.fetch("UPDATE campuses SET active = false WHERE id = $1", demo.NSUKKA.id)
    await campus.fetch("UPDATE vendors SET status = 'suspended' WHERE id = $1", demo.BOLA.id)
    for path in ("/api/campuses/{}", "/api/campuses/{}/hubs", "/api/vendors/{}"):
        hidden = demo.BOLA.id if "vendors" in path else demo.NSUKKA.id
        responses = [await campus.get(path.format(value)) for value in (uuid4(), "x", "1", hidden)]
        shown = [{**response.json(), "requestId": None, "instance": None} for response in responses]
        assert {response.status_code for response in responses} == {404}
        assert shown[0]["code"] == "RESOURCE_NOT_FOUND"
        assert all(body == shown[0] for body in shown)


async def test_a_user_changes_their_name_and_number_and_publishes_them(campus: IdentityApp) -> None:
    token = (await campus.demo_log_in("BUYER"))["accessToken"]
    headers = {"Authorization": f"Bearer {token}"}
    response = await campus.client.patch(
        "/api/profiles/current", json={"fullName": " Chidi O. ", "phone": "08031234567"}, headers=headers
    )
    assert response.status_code == 200
    profile = response.json()["data"]
    assert (profile["fullName"], profile["phone"], profile["revision"]) == ("Chidi O.", "+2348031234567", 2)
    assert response.headers["ETag"] == '"2"'
    events = await campus.published("identity.profile_changed.v1")
    assert [(event["userId"], event["fullName"], event["phone"]) for event in events] == [
        (profile["id"], "Chidi O.", "+2348031234567")
    ]
    again = await campus.client.patch("/api/profiles/current", json={"fullName": "Chidi O."}, headers=headers)
    assert again.json()["data"]["revision"] == 2
    assert len(await campus.published("identity.profile_changed.v1")) == 1


async def test_a_stale_revision_is_a_conflict_and_changes_nothing(campus: IdentityApp) -> None:
    token = (await campus.demo_log_in("BUYER"))["accessToken"]
    headers = {"Authorization": f"Bearer {token}"}
    stale = [
        await campus.client.patch(
            "/api/profiles/current", json={"fullName": "X"}, headers={**headers, "If-Match": '"7"'}
        ),
        await campus.client.patch("/api/profiles/current", json={"fullName": "X", "revision": 7}, headers=headers),
    ]
    for response in stale:
        assert error_of(response) == CONFLICT
    malformed = await campus.client.patch(
        "/api/profiles/current", json={"fullName": "X"}, headers={**headers, "If-Match": "1"}
    )
    assert invalid_field_of(malformed) == (422, "If-Match")
    assert (await campus.get("/api/profiles/current", token=token)).json()["data"]["fullName"] == "Chidi Okafor"


async def test_fields_that_a_user_may_not_change_are_rejected(campus: IdentityApp) -> None:
    token = (await campus.demo_log_in("BUYER"))["accessToken"]
    changes: list[dict[str, Any]] = [{"email": "x@y.com"}, {"roles": ["auditor"]}, {"fullName": None}, {"fullName": ""}]
    for change in changes:
        response = await campus.client.patch(
            "/api/profiles/current", json=change, headers={"Authorization": f"Bearer {token}"}
        )
        assert error_of(response) == INVALID


async def test_a_good_token_without_a_profile_is_forbidden(app: IdentityApp) -> None:
    await app.sign_up("tola@unilag.edu.ng")
    tokens = await app.log_in("tola@unilag.edu.ng")
    await app.fetch("DELETE FROM role_grants")
    await app.fetch("DELETE FROM refresh_tokens")
    await app.fetch("DELETE FROM sessions")
    await app.fetch("DELETE FROM accounts")
    await app.fetch("DELETE FROM profiles")
    for path in ("/api/profiles/current", "/api/referrals/current"):
        assert error_of(await app.get(path, token=tokens["accessToken"])) == FORBIDDEN


async def test_no_profile_is_read_without_a_token(app: IdentityApp) -> None:
    for path in ("/api/profiles/current", "/api/referrals/current"):
        assert error_of(await app.get(path)) == UNAUTHORIZED
