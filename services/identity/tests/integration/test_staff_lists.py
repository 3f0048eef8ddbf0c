"""Lists of staff and the audit trail."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio

from common.database import trail
from common.primitives.clock import iso
from contracts import demo
from contracts.permissions import STAFF_ROLES
from identity.app import action_trail_command
from identity.use_cases.signing_keys.rotate_keys import rotate_keys
from testkit.responses import FORBIDDEN, INVALID, STEP_UP_REQUIRED, data_of, error_of

from .conftest import USERS, IdentityApp
from .staff_steps import StaffAdministration


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    return StaffAdministration(app)


async def test_the_lists_are_paged_sorted_and_filtered(staff: StaffAdministration) -> None:
    token = await staff.token("AUDITOR")
    await staff.act("suspend", "BUYER", {"reason": "Fraud"})
    await staff.act("suspend", "HUB")
    await staff.act("reinstate", "HUB")

    async def names(**params: Any) -> list[str]:
        response = await staff.app.get("/api/staff", token=token, **params)
        assert response.status_code == 200, response.text
        by_id = {str(user.id): name for name, user in USERS.items()}
        return [by_id[member["id"]] for member in response.json()["data"]]

    members = [user.name for user in demo.USERS if set(user.roles) & STAFF_ROLES]
    assert sorted(await names()) == sorted([*members, "BUYER"])
    assert await names(suspended="true") == ["BUYER"]
    assert await names(role="auditor") == ["AUDITOR"]
    assert sorted(await names(campusId=str(demo.LAGOS.id))) == ["CAMPUS", "HUB"]
    # A user with a first role is found by the exact address.
    assert await names(email=f" {USERS['BUYER2'].email.upper()} ") == ["BUYER2"]
    assert await names(email="nobody@unilag.edu.ng") == []
    assert await names(email=USERS["BUYER2"].email, role="auditor") == []
    assert await names(page=2, limit=4, order="asc") == (await names(order="asc"))[4:8]
    response = (await staff.app.get("/api/staff", token=token, limit=4)).json()
    assert (response["meta"]["total"], response["meta"]["total_pages"]) == (9, 3)
    assert {member["hasSecondFactor"] for member in response["data"]} <= {True, False}
    actions = await staff.app.get(
        "/api/staff-acts", token=token, subjectId=str(USERS["HUB"].id), actorId=str(USERS["ADMIN"].id), order="asc"
    )
    assert [act["act"] for act in actions.json()["data"]] == ["suspended", "reinstated"]
    for path, params in (
        ("/api/staff", {"role": "buyer"}),
        ("/api/staff", {"sort": "email"}),
        ("/api/staff-grants", {"status": "open"}),
        ("/api/staff-acts", {"actorId": "me"}),
        ("/api/staff-acts", {"page": "101", "limit": "100"}),
    ):
        assert error_of(await staff.app.get(path, token=token, **params)) == INVALID


async def test_a_command_prints_the_actions_of_a_period(
    staff: StaffAdministration, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await staff.act("suspend", "HUB")
    suspended_at = staff.app.clock.now()
    staff.app.clock.advance(timedelta(minutes=1))
    await staff.act("reinstate", "HUB")
    capsys.readouterr()

    await action_trail_command(staff.app.dependencies, iso(suspended_at), iso(suspended_at))
    [line] = map(json.loads, capsys.readouterr().out.splitlines())
    assert (line["what"], line["detail"]["subject"]) == ("staff act suspended", str(USERS["HUB"].id))
    assert line["detail"]["actor"] == str(USERS["ADMIN"].id)
    period = (iso(suspended_at), iso(staff.app.clock.now()))
    await action_trail_command(staff.app.dependencies, *period)
    assert len(capsys.readouterr().out.splitlines()) == 2

    monkeypatch.setattr(trail, "ROWS_MAX", 1)
    with pytest.raises(SystemExit, match=r"^More than 1 rows: choose a shorter period$"):
        await action_trail_command(staff.app.dependencies, *period)
    with pytest.raises(SystemExit, match="write instants as"):
        await action_trail_command(staff.app.dependencies, "yesterday", period[1])
    assert not capsys.readouterr().out


async def test_an_auditor_reads_closed_campuses_and_hubs(staff: StaffAdministration) -> None:
    for table, place in (("campuses", demo.LAGOS.id), ("hubs", demo.MOREMI_HUB.id)):
        await staff.app.fetch(f"UPDATE {table} SET active = false WHERE id = $1", place)
    for path in (f"/api/campuses/{demo.LAGOS.id}", f"/api/hubs/{demo.MOREMI_HUB.id}"):
        for name, status in (("AUDITOR", 200), ("BUYER", 404), ("MAKER", 404)):
            assert (await staff.app.get(path, token=await staff.token(name))).status_code == status


async def test_the_audit_trail_is_append_only_and_written_in_ones_own_name(staff: StaffAdministration) -> None:
    await staff.prepared("SUPPORT", "finance_maker")
    database = staff.app.dependencies.database
    for statement in ("UPDATE staff_acts SET act = 'nothing'", "DELETE FROM staff_acts", "TRUNCATE staff_acts"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await staff.app.fetch(statement)
        connection = await asyncpg.connect(staff.app.urls.owner.replace("+asyncpg", ""))
        try:
            with pytest.raises(asyncpg.RestrictViolationError):
                await connection.execute(statement)
        finally:
            await connection.close()
    admin, buyer = await staff.caller("ADMIN"), await staff.caller("BUYER")
    write = (
        "INSERT INTO staff_acts (id, actor_id, act, subject_kind, subject_id, detail, created_at) "
        "VALUES ($1, $2, 'suspended', 'person', $2, '{}', now())"
    )
    for actor_id in (buyer.id, None):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.unit_of_work(acting_as=admin) as uow:
                await uow.execute(write, uuid4(), actor_id)
    for table in ("staff_acts", "staff_grants", "staff_members"):
        async with database.unit_of_work(acting_as=buyer) as uow:
            assert await uow.fetch_value(f"SELECT count(*) FROM {table}") == 0
        async with database.unit_of_work(acting_as=admin) as uow:
            assert await uow.fetch_value(f"SELECT count(*) FROM {table}") > 0
    for statement in (
        "SELECT * FROM suspensions",
        "INSERT INTO role_grants (user_id, role, granted_at) VALUES (gen_random_uuid(), 'auditor', now())",
        "DELETE FROM role_grants",
        "UPDATE staff_grants SET status = 'approved'",
        "DELETE FROM staff_grants",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.unit_of_work(acting_as=admin) as uow:
                await uow.execute(statement)


async def test_keys_are_listed_with_their_age_and_without_their_private_half(staff: StaffAdministration) -> None:
    app, path = staff.app, "/api/signing-keys"
    [first] = (await app.get(path, token=await staff.token("ADMIN"))).json()["data"]
    assert (first["status"], first["retiredAt"], first["algorithm"]) == ("current", None, "EdDSA")
    await rotate_keys(app.dependencies.database, app.dependencies.signing_keys, now=app.clock.now())
    response = await app.get(path, token=await staff.token("OPS"))
    shown = response.json()
    assert [(key["kid"] == first["kid"], key["status"]) for key in shown["data"]] == [
        (False, "next"),
        (True, "current"),
    ]
    assert shown["meta"]["total"] == 2
    assert "private" not in response.text
    assert (await app.get(path, token=await staff.token("SUPPORT"))).status_code == 403


@pytest.mark.parametrize("name", ["SUPPORT", "MAKER", "CAMPUS", "OPS"])
async def test_staff_read_the_names_of_their_colleagues(staff: StaffAdministration, name: str) -> None:
    token = await staff.token(name)
    agent, checker, buyer = (USERS[one] for one in ("SUPPORT", "CHECKER", "BUYER"))
    of_role = await staff.app.get("/api/staff-names", token=token, role="support_agent")
    assert of_role.json()["data"] == [{"id": str(agent.id), "name": agent.full_name, "roles": ["support_agent"]}]
    # A user without a staff role has no name here.
    by_id = await staff.app.get("/api/staff-names", token=token, id=[str(checker.id), str(buyer.id)])
    assert [member["name"] for member in by_id.json()["data"]] == [checker.full_name]
    everyone = (await staff.app.get("/api/staff-names", token=token, limit=2, order="asc")).json()
    assert everyone["meta"]["total"] == sum(bool(set(user.roles) & STAFF_ROLES) for user in demo.USERS)
    assert len(everyone["data"]) == 2


async def test_a_suspended_agent_keeps_a_name_and_gets_no_work(staff: StaffAdministration) -> None:
    token = await staff.token("MAKER")
    await staff.act("suspend", "SUPPORT")
    assert (await staff.app.get("/api/staff-names", token=token, role="support_agent")).json()["data"] == []
    by_id = await staff.app.get("/api/staff-names", token=token, id=str(USERS["SUPPORT"].id))
    assert [member["name"] for member in by_id.json()["data"]] == [USERS["SUPPORT"].full_name]


@pytest.mark.parametrize("name", ["BUYER", "VENDOR", "HUB"])
async def test_others_read_no_names_of_staff(staff: StaffAdministration, name: str) -> None:
    assert (await staff.app.get("/api/staff-names", token=await staff.token(name))).status_code == 403


async def test_members_of_staff_read_their_own_actions_and_no_others(staff: StaffAdministration) -> None:
    await staff.act("suspend", "BUYER", {"reason": "Fraud"})
    path = "/api/staff-acts/current"
    own = (await staff.app.get(path, token=await staff.token("ADMIN"))).json()["data"]
    assert (own[0]["service"], own[0]["act"]) == ("identity", "suspended")
    assert own[0]["subjectId"] == str(USERS["BUYER"].id)
    assert (await staff.app.get(path, token=await staff.token("ADMIN"), before=own[-1]["createdAt"])).json()[
        "data"
    ] == []
    assert (await staff.app.get(path, token=await staff.token("SUPPORT"))).json()["data"] == []
    assert (await staff.app.get(path, token=await staff.token("BUYER2"))).status_code == 403


async def test_staff_see_others_only_with_a_second_factor_and_themselves_without(staff: StaffAdministration) -> None:
    once = await staff.token("ADMIN", stepped_up=False)
    for path in ("/api/staff", f"/api/staff/{USERS['SUPPORT'].id}", "/api/work"):
        assert error_of(await staff.app.get(path, token=once)) == STEP_UP_REQUIRED
    # Roles first: a missing permission is no matter of factors.
    assert (
        error_of(await staff.app.get("/api/staff", token=await staff.token("SUPPORT", stepped_up=False))) == FORBIDDEN
    )
    own = (await staff.app.get("/api/profiles/current", token=once)).json()["data"]
    assert (own["roles"], own["permissions"], own["secondFactorRequired"]) == (["platform_admin"], [], True)
    _, refresh = await staff.sign_in("ADMIN", stepped_up=True)
    staff.app.clock.advance(timedelta(hours=5))
    renewed = data_of(await staff.app.post("/api/auth/refresh", {"refreshToken": refresh}))["accessToken"]
    assert (await staff.app.get("/api/staff", token=renewed)).status_code == 200
    path = f"/api/staff/{USERS['SUPPORT'].id}/suspend"
    assert error_of(await staff.app.post(path, {"reason": "x"}, token=renewed)) == STEP_UP_REQUIRED
