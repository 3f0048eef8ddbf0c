"""Granted and revoked roles: where they hold, who may change them, the last administrator."""

import asyncio
from dataclasses import replace
from functools import partial
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio

from contracts import demo
from identity.domain.errors import CannotAppoint, LastAdmin, NoLongerAdmin
from identity.domain.staff import ADMIN
from identity.use_cases.staff.appoint_admin import appoint_admin
from identity.use_cases.staff.revoke_role import revoke_role
from identity.use_cases.staff.suspend_user import suspend_user
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, STEP_UP_REQUIRED, UNAUTHORIZED, error_of

from .conftest import USERS, IdentityApp
from .staff_steps import REVOKED, TESTING, StaffAdministration


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    return StaffAdministration(app)


async def test_a_granted_role_holds_from_the_next_token_on_and_ends_no_session(staff: StaffAdministration) -> None:
    token, refresh_token = await staff.sign_in("BUYER")
    response = await staff.grant("BUYER", "campus_admin", campusId=str(demo.IBADAN.id))
    assert (response.status_code, response.json()["data"]["status"]) == (200, "granted"), response.text
    refreshed = await staff.app.post("/api/auth/refresh", {"refreshToken": refresh_token})
    verifier = staff.app.runtime.verifier
    before = await verifier.caller_of(token)
    after = await verifier.caller_of(refreshed.json()["data"]["accessToken"])
    assert (before.roles, before.campus_id) == ({"buyer"}, demo.LAGOS.id)
    assert (after.roles, after.campus_id) == ({"buyer", "campus_admin"}, demo.IBADAN.id)
    assert await staff.app.published(REVOKED) == []
    [event] = await staff.app.published("identity.profile_changed.v1")
    assert (event["userId"], event["staffRoles"]) == (str(USERS["BUYER"].id), ["campus_admin"])
    shown = (await staff.app.get(f"/api/staff/{USERS['BUYER'].id}", token=await staff.token("ADMIN"))).json()
    assert (shown["data"]["role"], shown["data"]["roles"]) == ("campus_admin", ["buyer", "campus_admin"])
    assert [(held["role"], held["campusId"], held["hubId"]) for held in shown["data"]["offices"]] == [
        ("campus_admin", str(demo.IBADAN.id), None)
    ]
    state = await staff.state()
    again = await staff.grant("BUYER", "campus_admin", campusId=str(demo.IBADAN.id))
    assert (again.status_code, again.json()["data"]) == (200, response.json()["data"])
    assert await staff.state() == state
    assert await staff.actions() == [("ADMIN", "role_granted", "BUYER")]


async def test_a_role_is_held_where_it_belongs_and_nowhere_else(staff: StaffAdministration) -> None:
    lagos, hub, unknown = str(demo.LAGOS.id), str(demo.AKOKA_HUB.id), str(uuid4())
    await staff.app.fetch("UPDATE campuses SET active = false WHERE id = $1", demo.NSUKKA.id)
    state = await staff.state()
    for body, name in (
        ({"role": "campus_admin"}, "campusId"),
        ({"role": "campus_admin", "campusId": unknown}, "campusId"),
        ({"role": "campus_admin", "campusId": str(demo.NSUKKA.id)}, "campusId"),
        ({"role": "campus_admin", "campusId": lagos, "hubId": hub}, "hubId"),
        ({"role": "hub_agent"}, "hubId"),
        ({"role": "hub_agent", "campusId": lagos}, "hubId"),
        ({"role": "hub_agent", "hubId": unknown}, "hubId"),
        ({"role": "hub_agent", "hubId": hub, "campusId": str(demo.IBADAN.id)}, "hubId"),
        ({"role": "support_agent", "campusId": lagos}, "campusId"),
        ({"role": "auditor", "hubId": hub}, "hubId"),
        ({"role": "finance_maker", "campusId": lagos}, "campusId"),
        ({"role": "merchant"}, "role"),
        ({"role": "buyer"}, "role"),
        ({"role": "king"}, "role"),
        ({}, "role"),
        ({"role": "auditor", "userId": unknown}, "userId"),
    ):
        response = await staff.act("grant", "BUYER", body)
        assert error_of(response) == INVALID, body
        assert response.json()["invalid_params"][0]["name"] == name, body
    assert (await staff.act("revoke", "BUYER", {"role": "buyer"})).status_code == 422
    assert (await staff.act("suspend", "BUYER", {"reason": ""})).status_code == 422
    assert await staff.state() == state
    granted = (await staff.grant("BUYER", "hub_agent", hubId=hub)).json()["data"]
    assert (granted["hubId"], granted["campusId"]) == (hub, lagos)
    state = await staff.state()
    for role, place in (
        ("hub_agent", {"hubId": str(demo.MOREMI_HUB.id)}),
        ("campus_admin", {"campusId": str(demo.IBADAN.id)}),
    ):
        assert error_of(await staff.grant("BUYER", role, **place)) == CONFLICT
    assert await staff.state() == state
    assert (await staff.grant("BUYER", "campus_admin", campusId=lagos)).status_code == 200


async def test_callers_without_the_permission_change_nothing(staff: StaffAdministration) -> None:
    verbs = ("grant", "revoke", "suspend", "reinstate")
    grant_id = await staff.prepared("SUPPORT", "finance_maker")
    tokens = {name: await staff.token(name) for name in ("BUYER", "AUDITOR", "CAMPUS", "CHECKER", "ADMIN")}
    aal1 = await staff.token("ADMIN", stepped_up=False)
    state = await staff.state()
    paths = [f"/api/staff/{USERS['HUB'].id}/{verb}" for verb in verbs]
    paths += [f"/api/staff-grants/{grant_id}/{verb}" for verb in ("approve", "reject")]
    for path in paths:
        assert error_of(await staff.app.post(path, {"unknown": 1})) == UNAUTHORIZED
        for name in ("BUYER", "AUDITOR", "CAMPUS", "CHECKER"):
            response = await staff.app.post(path, {"unknown": 1}, token=tokens[name])
            assert error_of(response) == FORBIDDEN, (name, path)
        response = await staff.app.post(path, {"unknown": 1}, token=aal1)
        assert error_of(response) == STEP_UP_REQUIRED, path
        assert error_of(await staff.app.post(path, {"unknown": 1}, token=tokens["ADMIN"])) == (
            422,
            "VALIDATION_FAILED",
        )
    for response in (
        await staff.grant(uuid4(), "auditor"),
        await staff.act("revoke", uuid4(), {"role": "auditor"}),
        await staff.act("suspend", uuid4()),
        await staff.act("reinstate", uuid4()),
        await staff.decide(uuid4(), "approve", by="ADMIN"),
        await staff.decide(uuid4(), "reject", by="ADMIN"),
        await staff.app.get(f"/api/staff/{uuid4()}", token=tokens["ADMIN"]),
        await staff.app.get(f"/api/staff-grants/{uuid4()}", token=tokens["ADMIN"]),
    ):
        assert error_of(response) == NOT_FOUND
    for response in (
        await staff.grant("ADMIN", "auditor"),
        await staff.grant("ADMIN", "finance_maker"),
        await staff.decide(grant_id, "approve", by="ADMIN"),
        await staff.decide(grant_id, "reject", by="ADMIN"),
    ):
        assert error_of(response) == FORBIDDEN
    for path in ("/api/staff", f"/api/staff/{USERS['HUB'].id}", "/api/staff-grants", "/api/staff-acts"):
        assert (await staff.app.get(path)).status_code == 401
        assert error_of(await staff.app.get(path, token=tokens["CAMPUS"])) == FORBIDDEN
        assert (await staff.app.get(path, token=tokens["AUDITOR"])).status_code == 200
    assert await staff.state() == state


async def test_conflicting_roles_are_never_held_by_one_user(staff: StaffAdministration) -> None:
    await staff.second_admin()
    for name, role in (
        ("MAKER", "finance_checker"),
        ("CHECKER", "finance_maker"),
        ("MAKER", ADMIN),
        ("OPS", ADMIN),
        ("SUPPORT", ADMIN),
        ("BUYER2", "finance_maker"),
        ("BUYER2", "ops_oncall"),
    ):
        state = await staff.state()
        assert error_of(await staff.grant(name, role)) == CONFLICT, (name, role)
        assert await staff.state() == state
    # Both prepared while neither was held: the second approval sees the first, also at the same moment.
    grants = [await staff.prepared("AUDITOR", role) for role in ("finance_maker", "finance_checker", ADMIN)]
    await staff.token("BUYER2")
    responses = await asyncio.gather(*(staff.decide(grant_id, "approve") for grant_id in grants))
    assert sorted(response.status_code for response in responses) == [200, 409, 409]
    assert len(await staff.roles("AUDITOR")) == 2
    for role in ("finance_checker", ADMIN):
        with pytest.raises(asyncpg.UniqueViolationError):
            await staff.app.fetch(
                "INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, $2, now())", USERS["MAKER"].id, role
            )


async def test_a_revoked_role_ends_every_token_from_before(staff: StaffAdministration) -> None:
    token, refresh_token = await staff.sign_in("SUPPORT")
    response = await staff.act("revoke", "SUPPORT", {"role": "support_agent"})
    assert response.status_code == 200, response.text
    assert (response.json()["data"]["roles"], response.json()["data"]["offices"]) == ([], [])
    events = await staff.app.published(REVOKED)
    assert {"userId", "notBefore"} in [set(entry) for entry in events]
    assert {entry["userId"] for entry in events} == {str(USERS["SUPPORT"].id)}
    [event] = await staff.app.published("identity.profile_changed.v1")
    assert (event["userId"], event["staffRoles"]) == (str(USERS["SUPPORT"].id), [])
    assert (await staff.app.get("/api/profiles/current", token=token)).status_code == 401
    refused = await staff.app.post("/api/auth/refresh", {"refreshToken": refresh_token})
    assert error_of(refused) == UNAUTHORIZED
    again = await staff.app.demo_log_in("SUPPORT")
    caller = await staff.app.runtime.verifier.caller_of(again["accessToken"])
    assert caller.roles == frozenset()
    state = await staff.state()
    assert (await staff.act("revoke", "SUPPORT", {"role": "support_agent"})).status_code == 200
    assert await staff.state() == state
    assert await staff.actions() == [("ADMIN", "role_revoked", "SUPPORT")]


async def test_the_last_admin_stays_and_no_user_decides_about_themselves(staff: StaffAdministration) -> None:
    state = await staff.state()
    for response in (await staff.act("revoke", "ADMIN", {"role": ADMIN}), await staff.act("suspend", "ADMIN")):
        assert error_of(response) == CONFLICT
    assert await staff.state() == state
    await staff.second_admin()
    state = await staff.state()
    for response in (await staff.act("revoke", "ADMIN", {"role": ADMIN}), await staff.act("suspend", "ADMIN")):
        assert error_of(response) == FORBIDDEN
    assert await staff.state() == state
    # A suspended admin is none: the other one is the last again.
    assert (await staff.act("suspend", "BUYER2")).status_code == 200
    assert error_of(await staff.act("suspend", "ADMIN")) == CONFLICT


async def test_of_two_admins_who_remove_each_other_at_once_one_stays(staff: StaffAdministration) -> None:
    database, now = staff.app.dependencies.database, staff.app.clock.now()
    await staff.second_admin()
    first, second = await staff.caller("ADMIN"), await staff.caller("BUYER2")
    for removing in (
        lambda uow, caller, other: revoke_role(uow, caller, other, ADMIN, now=now),
        lambda uow, caller, other: suspend_user(uow, caller, other, None, now=now),
    ):
        outcomes = await asyncio.gather(
            database.transact(acting_as=TESTING, work=partial(removing, caller=first, other=second.id)),
            database.transact(acting_as=TESTING, work=partial(removing, caller=second, other=first.id)),
            return_exceptions=True,
        )
        assert len([outcome for outcome in outcomes if isinstance(outcome, NoLongerAdmin)]) == 1
        left = await staff.app.fetch(
            "SELECT user_id FROM role_grants WHERE role = $1 AND user_id NOT IN (SELECT user_id FROM suspensions)",
            ADMIN,
        )
        assert len(left) == 1
        await staff.app.fetch("DELETE FROM suspensions")
        await staff.app.fetch(
            "INSERT INTO role_grants (user_id, role, granted_at) SELECT id, $1, now() FROM profiles "
            "WHERE id = ANY ($2::uuid[]) ON CONFLICT DO NOTHING",
            ADMIN,
            [first.id, second.id],
        )


async def test_an_admin_by_another_issuer_cannot_remove_the_last_of_ours(staff: StaffAdministration) -> None:
    foreign = replace(await staff.caller("AUDITOR"), issuer="https://school.example")
    async with staff.app.dependencies.database.unit_of_work(acting_as=TESTING) as uow:
        with pytest.raises(LastAdmin):
            await revoke_role(uow, foreign, USERS["ADMIN"].id, ADMIN, now=staff.app.clock.now())


async def test_grant_admin_appoints_the_second_admin_and_records_it(staff: StaffAdministration) -> None:
    database, now = staff.app.dependencies.database, staff.app.clock.now()
    assert "from the next token on" in await appoint_admin(database, " Buyer2@unilag.edu.ng ", now=now)
    state = await staff.state()
    assert "already" in await appoint_admin(database, USERS["BUYER2"].email, now=now)
    await staff.act("suspend", "HUB")
    for email in ("nobody@unilag.edu.ng", USERS["MAKER"].email, USERS["OPS"].email, USERS["HUB"].email):
        with pytest.raises(CannotAppoint):
            await appoint_admin(database, email, now=now)
    assert (await staff.state())[0] == state[0]
    rows = (await staff.app.get("/api/staff-acts", token=await staff.token("ADMIN"), act="role_granted")).json()
    assert [(row["actorId"], row["subjectId"], row["detail"]) for row in rows["data"]] == [
        (None, str(USERS["BUYER2"].id), {"role": ADMIN, "by": "operator"})
    ]
