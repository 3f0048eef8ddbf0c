"""Prepared grants of powerful roles: approval by a second administrator, expiry, hash."""

import asyncio
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest
import pytest_asyncio

from common.primitives.problems import Conflict
from contracts import demo
from contracts.permissions import MONEY_ROLES, STAFF_ROLES
from identity.domain.errors import NoLongerAdmin
from identity.domain.staff import ADMIN
from identity.use_cases.staff.approve_staff_grant import approve_staff_grant
from identity.use_cases.staff.revoke_role import revoke_role
from identity.use_cases.staff.suspend_user import suspend_user
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, data_of, error_of

from .conftest import USERS, IdentityApp
from .staff_steps import TESTING, StaffAdministration


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    return StaffAdministration(app)


async def test_only_powerful_roles_wait_for_a_second_approver(
    staff: StaffAdministration,
) -> None:
    campuses = {"hub_agent": {"hubId": str(demo.AKOKA_HUB.id)}, "campus_admin": {"campusId": str(demo.LAGOS.id)}}
    assert sorted(MONEY_ROLES) == ["finance_checker", "finance_maker", "ops_oncall", "support_agent"]
    for role in sorted(STAFF_ROLES):
        response = await staff.grant("BUYER", role, **campuses.get(role, {}))
        waits = role in MONEY_ROLES | {ADMIN}
        assert (response.status_code, response.json()["data"]["status"]) == (
            (201, "prepared") if waits else (200, "granted")
        ), role
        assert (role in await staff.roles("BUYER")) is not waits


async def test_a_prepared_grant_becomes_a_role_when_a_second_admin_approves(staff: StaffAdministration) -> None:
    await staff.second_admin()
    grant_id = await staff.prepared("SUPPORT", "finance_maker")
    assert await staff.prepared("SUPPORT", "finance_maker") == grant_id
    assert await staff.roles("SUPPORT") == {"support_agent"}
    shown = data_of(await staff.decide(grant_id, "approve"))
    assert (shown["status"], shown["preparedBy"], shown["decidedBy"]) == (
        "approved",
        str(USERS["ADMIN"].id),
        str(USERS["BUYER2"].id),
    )
    assert await staff.roles("SUPPORT") == {"support_agent", "finance_maker"}
    state = await staff.state()
    assert (await staff.decide(grant_id, "approve")).json()["data"] == shown
    assert error_of(await staff.decide(grant_id, "reject")) == CONFLICT
    assert (await staff.grant("SUPPORT", "finance_maker")).json()["data"]["status"] == "granted"
    assert await staff.state() == state
    rejected = await staff.prepared("HUB", "finance_checker")
    assert (await staff.decide(rejected, "reject")).json()["data"]["status"] == "rejected"
    assert (await staff.decide(rejected, "reject")).status_code == 200
    assert error_of(await staff.decide(rejected, "approve")) == CONFLICT
    assert await staff.roles("HUB") == {"hub_agent"}
    assert await staff.prepared("HUB", "finance_checker") != rejected
    assert (await staff.actions())[1:] == [
        ("ADMIN", "role_grant_prepared", "SUPPORT"),
        ("BUYER2", "role_granted", "SUPPORT"),
        ("ADMIN", "role_grant_prepared", "HUB"),
        ("BUYER2", "role_grant_rejected", "HUB"),
        ("ADMIN", "role_grant_prepared", "HUB"),
    ]


async def test_an_approval_names_the_grant_that_was_read(staff: StaffAdministration) -> None:
    await staff.second_admin()
    prepared = (await staff.grant("SUPPORT", "finance_maker")).json()["data"]
    other = (await staff.grant("HUB", "finance_maker")).json()["data"]
    token, path = await staff.token("BUYER2"), f"/api/staff-grants/{prepared['id']}"
    assert (await staff.app.get(path, token=token)).json()["data"]["hash"] == prepared["hash"]
    listed = (await staff.app.get("/api/staff-grants", token=token)).json()["data"]
    assert {grant["hash"] for grant in listed} == {prepared["hash"], other["hash"]}
    state = await staff.state()
    absent = await staff.app.post(f"{path}/approve", {}, token=token)
    assert error_of(absent) == INVALID
    assert [param["name"] for param in absent.json()["invalid_params"]] == ["hash"]
    for wrong in (other["hash"], "0" * 64):
        response = await staff.app.post(f"{path}/approve", {"hash": wrong}, token=token)
        assert error_of(response) == CONFLICT
    assert await staff.state() == state
    await staff.app.fetch_as_owner("UPDATE staff_grants SET role = 'finance_checker' WHERE id = $1", prepared["id"])
    changed = await staff.app.post(f"{path}/approve", {"hash": prepared["hash"]}, token=token)
    assert error_of(changed) == CONFLICT
    assert await staff.roles("SUPPORT") == {"support_agent"}


async def test_no_user_approves_a_grant_to_themselves(staff: StaffAdministration) -> None:
    grant_id = await staff.prepared("BUYER2", ADMIN)
    await staff.second_admin()
    state = await staff.state()
    for verb in ("approve", "reject"):
        assert error_of(await staff.decide(grant_id, verb)) == FORBIDDEN
    assert await staff.state() == state


async def test_a_prepared_grant_expires_after_a_day(staff: StaffAdministration) -> None:
    await staff.second_admin()
    grant_id = await staff.prepared("SUPPORT", "finance_maker")
    staff.app.clock.advance(timedelta(hours=24))
    staff._tokens.clear()
    state = await staff.state()
    for verb in ("approve", "reject"):
        assert error_of(await staff.decide(grant_id, verb)) == CONFLICT
    assert await staff.state() == state
    admin = await staff.token("ADMIN")
    for status, ids in (("expired", [grant_id]), ("prepared", [])):
        listed = await staff.app.get("/api/staff-grants", token=admin, status=status)
        assert [grant["id"] for grant in listed.json()["data"]] == ids
    second = await staff.prepared("SUPPORT", "finance_maker")
    assert second != grant_id
    assert error_of(await staff.decide(grant_id, "approve")) == CONFLICT
    assert (await staff.decide(second, "approve")).status_code == 200
    listed = await staff.app.get("/api/staff-grants", token=admin, userId=str(USERS["SUPPORT"].id), order="asc")
    assert [grant["status"] for grant in listed.json()["data"]] == ["expired", "approved"]


async def test_a_powerful_role_needs_a_confirmed_second_factor(staff: StaffAdministration) -> None:
    await staff.second_admin()
    grant_id = await staff.prepared("BUYER", "finance_maker")
    state = await staff.state()
    assert error_of(await staff.decide(grant_id, "approve")) == CONFLICT
    assert await staff.state() == state
    assert (await staff.grant("BUYER", "auditor")).status_code == 200


async def test_twenty_grants_at_once_are_one_and_so_is_its_decision(staff: StaffAdministration) -> None:
    await staff.second_admin()
    await asyncio.gather(staff.token("ADMIN"), staff.token("BUYER2"))
    prepared = await asyncio.gather(*(staff.grant("SUPPORT", "finance_maker") for _ in range(20)))
    granted = await asyncio.gather(*(staff.grant("HUB", "auditor") for _ in range(10)))
    assert {response.status_code for response in prepared} == {201}
    assert {response.status_code for response in granted} == {200}
    (grant_id,) = {response.json()["data"]["id"] for response in prepared}
    decided = await asyncio.gather(*(staff.decide(grant_id, verb) for verb in ("approve", "reject") for _ in range(5)))
    statuses = [response.status_code for response in decided]
    assert {tuple(statuses[:5]), tuple(statuses[5:])} == {(200,) * 5, (409,) * 5}
    assert ("finance_maker" in await staff.roles("SUPPORT")) is (statuses[0] == 200)
    assert len(await staff.actions()) == 4


async def test_pending_decisions_of_a_removed_admin_are_rejected(staff: StaffAdministration) -> None:
    await staff.second_admin()
    await staff.app.fetch("DELETE FROM role_grants WHERE role = 'auditor'")
    grant_id = await staff.prepared("SUPPORT", "finance_maker")
    assert (await staff.act("suspend", "ADMIN", by="BUYER2")).status_code == 200
    shown = await staff.app.get(f"/api/staff-grants/{grant_id}", token=await staff.token("BUYER2"))
    assert shown.json()["data"]["status"] == "rejected"
    assert error_of(await staff.decide(grant_id, "approve")) == CONFLICT


async def test_a_change_killed_before_its_commit_has_no_effect(staff: StaffAdministration) -> None:
    await staff.second_admin()
    shown = (await staff.grant("SUPPORT", "finance_maker")).json()["data"]
    grant_id = UUID(shown["id"])
    first, second = await staff.caller("ADMIN"), await staff.caller("BUYER2")
    state, now = await staff.state(), staff.app.clock.now()
    for change in (
        lambda uow: approve_staff_grant(uow, second, grant_id, shown["hash"], now=now),
        lambda uow: revoke_role(uow, first, USERS["AUDITOR"].id, "auditor", now=now),
        lambda uow: suspend_user(uow, first, USERS["HUB"].id, None, now=now),
    ):
        with pytest.raises(ZeroDivisionError):
            async with staff.app.dependencies.database.unit_of_work(acting_as=TESTING) as uow:
                await change(uow)
                raise ZeroDivisionError
    assert await staff.state() == state


async def test_the_database_rejects_a_grant_by_one_user_alone(staff: StaffAdministration) -> None:
    grant_id = await staff.prepared("SUPPORT", "finance_maker")
    for decider in (USERS["ADMIN"].id, USERS["SUPPORT"].id):
        with pytest.raises(asyncpg.CheckViolationError):
            await staff.app.fetch(
                "UPDATE staff_grants SET status = 'approved', decided_by = $2, decided_at = now() WHERE id = $1",
                UUID(grant_id),
                decider,
            )
    assert issubclass(NoLongerAdmin, Conflict)
