"""A vendor's commission is changed by two platform_admins (contract section 5.5)."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio

from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, data_of, error_of

from .conftest import USERS, IdentityApp
from .staff_steps import StaffAdministration
from .steps import CHANGES, Platform


@pytest_asyncio.fixture
async def platform(app: IdentityApp) -> Platform:
    await app.load_demo()
    staff = StaffAdministration(app)
    await staff.second_admin()
    return Platform(staff)


async def test_a_commission_applies_after_the_approval_of_a_second_admin(platform: Platform) -> None:
    vendor = data_of(await platform.patch(250))
    change = vendor["commissionChange"]
    assert (vendor["commissionBasisPoints"], change["commissionBasisPoints"]) == (None, 250)
    assert (await platform.commission(), await platform.published()) == (None, [])

    shown = data_of(await platform.approve(change))
    assert (shown["status"], shown["hash"]) == ("approved", change["hash"])
    assert (shown["preparedBy"], shown["decidedBy"]) == (str(USERS["ADMIN"].id), str(USERS["BUYER2"].id))
    assert await platform.commission() == 250
    [event] = await platform.published()
    assert event["commissionBasisPoints"] == 250
    state = await platform.state()
    assert (await platform.approve(change)).json()["data"] == shown
    assert error_of(await platform.reject(change)) == CONFLICT
    assert (await platform.patch(250)).json()["data"].get("commissionChange") is None
    assert await platform.state() == state


async def test_null_is_the_default_of_the_platform(platform: Platform) -> None:
    await platform.approve(await platform.prepared(0))
    assert await platform.commission() == 0
    await platform.approve(await platform.prepared(None))
    assert await platform.commission() is None


async def test_neither_the_maker_nor_the_owner_decides(platform: Platform) -> None:
    change = await platform.prepared(250)
    await platform.app.fetch(
        "INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, 'platform_admin', now())", USERS["VENDOR"].id
    )
    state = await platform.state()
    for by in ("ADMIN", "VENDOR"):
        for response in (await platform.approve(change, by), await platform.reject(change, by)):
            assert error_of(response) == FORBIDDEN, by
    assert await platform.state() == state


async def test_an_approval_names_the_change_that_was_read(platform: Platform) -> None:
    rejected = await platform.prepared(100)
    await platform.reject(rejected)
    change = await platform.prepared(10_000)
    state = await platform.state()
    path = f"{CHANGES}/{change['id']}/approve"
    absent = await platform.send("POST", path, {}, "BUYER2")
    assert (absent.status_code, [param["name"] for param in absent.json()["invalid_params"]]) == (422, ["hash"])
    assert error_of(await platform.send("POST", path, {"hash": rejected["hash"]}, "BUYER2")) == CONFLICT
    assert await platform.state() == state


async def test_a_vendor_has_at_most_one_pending_change(platform: Platform) -> None:
    responses = await asyncio.gather(*(platform.patch(250) for _ in range(5)))
    assert len({response.json()["data"]["commissionChange"]["id"] for response in responses}) == 1
    assert error_of(await platform.patch(300)) == CONFLICT
    assert error_of(await platform.patch(250, "BUYER2")) == CONFLICT
    listed = (await platform.send("GET", f"{CHANGES}?status=prepared", None, "BUYER2")).json()
    assert (len(listed["data"]), listed["meta"]["total"]) == (1, 1)


async def test_a_rejected_change_keeps_the_commission_and_is_prepared_anew(platform: Platform) -> None:
    change = await platform.prepared(250)
    rejected = await platform.reject(change)
    assert (rejected.json()["data"]["status"], rejected.json()["data"]["rejectionReason"]) == ("rejected", "too low")
    assert (await platform.reject(change)).status_code == 200
    assert error_of(await platform.approve(change)) == CONFLICT
    assert await platform.commission() is None
    assert (await platform.prepared(250))["id"] != change["id"]


async def test_a_change_expires_after_a_week(platform: Platform) -> None:
    change = await platform.prepared(250)
    platform.app.clock.advance(timedelta(days=7))
    platform.staff._tokens.clear()
    assert error_of(await platform.approve(change)) == CONFLICT
    assert error_of(await platform.reject(change)) == CONFLICT
    shown = await platform.send("GET", f"{CHANGES}/{change['id']}", None, "ADMIN")
    assert shown.json()["data"]["status"] == "expired"
    assert (await platform.prepared(300))["id"] != change["id"]
    assert await platform.commission() is None


async def test_the_changes_of_a_suspended_admin_are_rejected(platform: Platform) -> None:
    change = await platform.prepared(250)
    assert (await platform.staff.act("suspend", "ADMIN", by="BUYER2")).status_code == 200
    shown = await platform.send("GET", f"{CHANGES}/{change['id']}", None, "BUYER2")
    assert shown.json()["data"]["status"] == "rejected"
    assert error_of(await platform.approve(change)) == CONFLICT


async def test_of_approval_and_rejection_at_once_one_holds(platform: Platform) -> None:
    change = await platform.prepared(250)
    await platform.staff.token("BUYER2")
    decided = await asyncio.gather(
        *(decide(change) for decide in (platform.approve, platform.reject) for _ in range(5))
    )
    statuses = [response.status_code for response in decided]
    assert {tuple(statuses[:5]), tuple(statuses[5:])} == {(200,) * 5, (409,) * 5}
    assert (await platform.commission() == 250) is (statuses[0] == 200)
    assert len(await platform.published()) == (1 if statuses[0] == 200 else 0)


async def test_the_endpoints_of_commission_changes_are_guarded(platform: Platform) -> None:
    change, aal1 = await platform.prepared(250), await platform.staff.token("BUYER2", stepped_up=False)
    state = await platform.state()
    for verb in ("approve", "reject"):
        path = f"{CHANGES}/{change['id']}/{verb}"
        assert error_of(await platform.app.post(path, {"hash": change["hash"]}, token=aal1)) == (
            403,
            "AUTH_AAL2_REQUIRED",
        )
        for by in ("CAMPUS", "AUDITOR", "CHECKER", "VENDOR"):
            assert error_of(await platform.send("POST", path, {}, by)) == FORBIDDEN, by
        absent = await platform.send(
            "POST", f"{CHANGES}/{uuid4()}/{verb}", {"hash": "x"} if verb == "approve" else {}, "BUYER2"
        )
        assert error_of(absent) == NOT_FOUND
    for path in (CHANGES, f"{CHANGES}/{change['id']}"):
        for by, status in (("AUDITOR", 200), ("BUYER2", 200), ("CAMPUS", 403), ("BUYER", 403)):
            assert (await platform.send("GET", path, None, by)).status_code == status, (path, by)
    stale = await platform.patch(1, **{"If-Match": '"99"'})
    assert error_of(stale) == CONFLICT
    assert await platform.state() == state


async def test_the_database_rejects_a_commission_of_one_user(platform: Platform) -> None:
    change = await platform.prepared(250)
    with pytest.raises(asyncpg.RestrictViolationError):
        await platform.app.fetch("UPDATE vendors SET commission_basis_points = 250 RETURNING 1")
    with pytest.raises(asyncpg.CheckViolationError, match="commission_changes_by_two"):
        await platform.app.fetch(
            (
                "UPDATE commission_changes SET status = 'approved', decided_by = prepared_by, decided_at = now() "
                "WHERE id = $1 RETURNING 1"
            ),
            change["id"],
        )
