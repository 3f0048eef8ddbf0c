"""Hub agents, appointed and dismissed by the admin of their campus."""

from typing import Any

import httpx
import pytest_asyncio

from contracts import demo
from identity.domain.errors import NoLongerCampusAdmin
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, STEP_UP_REQUIRED, data_of, error_of

from .conftest import USERS, IdentityApp
from .staff_steps import REVOKED, StaffAdministration

AGENTS = f"/api/hubs/{demo.AKOKA_HUB.id}/agents"
OTHER_HUB = f"/api/hubs/{demo.MOREMI_HUB.id}/agents"
REASON = {"reason": "She works at the gate."}


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    return StaffAdministration(app)


async def appoint(
    staff: StaffAdministration, name: str, *, path: str = AGENTS, by: str = "CAMPUS", **body: Any
) -> httpx.Response:
    sent = {"email": USERS[name].email, **REASON, **body}
    return await staff.app.post(path, sent, token=await staff.token(by))


async def dismiss(staff: StaffAdministration, name: str, *, path: str = AGENTS, by: str = "CAMPUS") -> httpx.Response:
    return await staff.app.post(f"{path}/{USERS[name].id}/dismiss", REASON, token=await staff.token(by))


async def listed(staff: StaffAdministration) -> set[str]:
    return {agent["email"] for agent in data_of(await staff.app.get(AGENTS, token=await staff.token("CAMPUS")))}


async def test_an_appointed_agent_is_listed_until_dismissed(staff: StaffAdministration) -> None:
    agent = data_of(await appoint(staff, "BUYER"), 201)
    assert (agent["userId"], agent["appointedBy"]) == (str(USERS["BUYER"].id), str(USERS["CAMPUS"].id))
    assert data_of(await appoint(staff, "BUYER"), 201) == agent
    assert await staff.roles("BUYER") == {"buyer", "hub_agent"}
    assert await listed(staff) == {USERS["HUB"].email, USERS["BUYER"].email}
    left = data_of(await dismiss(staff, "BUYER"))
    assert [one["email"] for one in left] == [USERS["HUB"].email]
    assert await staff.roles("BUYER") == {"buyer"}
    assert [event["userId"] for event in await staff.app.published(REVOKED)] == [str(USERS["BUYER"].id)]
    assert error_of(await dismiss(staff, "BUYER")) == NOT_FOUND
    assert (await staff.actions())[-2:] == [("CAMPUS", "role_granted", "BUYER"), ("CAMPUS", "role_revoked", "BUYER")]
    rows = await staff.app.fetch("SELECT detail FROM staff_acts ORDER BY id DESC LIMIT 2")
    assert [row["detail"]["reason"] for row in rows] == [REASON["reason"]] * 2


async def test_the_token_of_an_agent_names_their_hub(staff: StaffAdministration) -> None:
    await appoint(staff, "BUYER")
    assert (await staff.caller("BUYER")).hub_id == demo.AKOKA_HUB.id
    await dismiss(staff, "BUYER")
    access_token, _ = await staff.sign_in("BUYER")
    assert (await staff.app.runtime.verifier.caller_of(access_token)).hub_id is None


async def test_only_the_admin_of_the_campus_appoints(staff: StaffAdministration) -> None:
    state = await staff.state()
    for by in ("BUYER", "HUB", "ADMIN", "SUPPORT"):
        assert error_of(await appoint(staff, "BUYER2", by=by)) == FORBIDDEN
        assert error_of(await dismiss(staff, "HUB", by=by)) == FORBIDDEN
    without_factor = await staff.token("CAMPUS", stepped_up=False)
    response = await staff.app.post(AGENTS, {"email": USERS["BUYER"].email, **REASON}, token=without_factor)
    assert error_of(response) == STEP_UP_REQUIRED
    assert await staff.state() == state


async def test_a_hub_of_another_campus_is_forbidden(staff: StaffAdministration) -> None:
    hub_id = await staff.app.fetch(
        "INSERT INTO hubs (id, campus_id, name, address, delivery_fee_minor, created_at) "
        "VALUES (gen_random_uuid(), $1, 'Ibadan', 'Gate', 0, now()) RETURNING id",
        demo.IBADAN.id,
    )
    path = f"/api/hubs/{hub_id[0]['id']}/agents"
    assert error_of(await appoint(staff, "BUYER", path=path)) == FORBIDDEN
    assert error_of(await dismiss(staff, "HUB", path=path)) == FORBIDDEN
    assert error_of(await staff.app.get(path, token=await staff.token("CAMPUS"))) == FORBIDDEN


async def test_an_unfit_appointee_is_refused(staff: StaffAdministration) -> None:
    state = await staff.state()
    unknown = await appoint(staff, "BUYER", email="unknown@campus.example")
    assert (error_of(unknown), unknown.json()["invalid_params"][0]["name"]) == (INVALID, "email")
    assert error_of(await appoint(staff, "CAMPUS")) == FORBIDDEN
    assert error_of(await appoint(staff, "HUB", path=OTHER_HUB)) == CONFLICT
    assert error_of(await dismiss(staff, "HUB", path=OTHER_HUB)) == NOT_FOUND
    assert await staff.state() == state


async def test_an_admin_whose_role_was_revoked_appoints_no_more(staff: StaffAdministration) -> None:
    token = await staff.token("CAMPUS")
    await staff.app.fetch("DELETE FROM role_grants WHERE user_id = $1 RETURNING 1", USERS["CAMPUS"].id)
    response = await staff.app.post(AGENTS, {"email": USERS["BUYER"].email, **REASON}, token=token)
    assert (error_of(response), response.json()["detail"]) == (CONFLICT, NoLongerCampusAdmin.detail)
