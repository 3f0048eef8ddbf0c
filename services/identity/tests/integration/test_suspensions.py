"""Suspended users sign in by no method."""

import asyncio

import pytest
import pytest_asyncio

from common.auth.issuers import FederatedIdentity
from common.primitives.problems import Unauthorized
from identity.app import LocalUserLookup
from testkit.responses import CONFLICT, UNAUTHORIZED, error_of

from .conftest import DEMO_PASSWORD, PASSWORD, USERS, IdentityApp
from .staff_steps import StaffAdministration


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    return StaffAdministration(app)


async def test_a_suspended_user_cannot_sign_in_by_any_method(staff: StaffAdministration) -> None:
    app, support = staff.app, USERS["SUPPORT"]
    token, refresh_token = await staff.sign_in("SUPPORT")
    wrong = await app.post("/api/auth/login", {"email": support.email, "password": PASSWORD})
    await app.post("/api/auth/password/forgot", {"email": support.email})
    await app.work("identity.codes")
    sent = await app.published("identity.one_time_code_issued.v1")
    assert (await staff.act("suspend", "SUPPORT", {"reason": "Left the company"})).status_code == 200
    assert (await app.get("/api/profiles/current", token=token)).status_code == 401
    for path, body in (
        ("/api/auth/refresh", {"refreshToken": refresh_token}),
        ("/api/auth/login", {"email": support.email, "password": DEMO_PASSWORD}),
    ):
        assert error_of(await app.post(path, body)) == UNAUTHORIZED
    refused = await app.post("/api/auth/login", {"email": support.email, "password": DEMO_PASSWORD})
    event = [{**response.json(), "requestId": ""} for response in (wrong, refused)]
    assert event[0] == event[1]
    failures = await app.fetch("SELECT failures FROM login_failures")
    assert [row["failures"] for row in failures] == [3]
    for path in ("/api/auth/otp", "/api/auth/password/forgot"):
        assert (await app.post(path, {"email": support.email})).status_code == 200
    assert (await app.post("/api/auth/otp", {"phone": support.phone})).status_code == 200
    await app.work("identity.codes")
    assert await app.published("identity.one_time_code_issued.v1") == sent
    live = await app.fetch(
        "SELECT id FROM issued_codes WHERE user_id = $1 AND expires_at > $2", support.id, app.clock.now()
    )
    assert live == []
    federated = FederatedIdentity(
        issuer="https://school.example",
        user_id=support.id,
        session_id=None,
        stepped_up_at=None,
        issued_at=app.clock.now(),
        expires_at=app.clock.now(),
        may_be_staff=True,
        staff_roles=frozenset(),
    )
    with pytest.raises(Unauthorized):
        await LocalUserLookup(app.dependencies.database, app.dependencies.hashes, app.clock).find("", federated)
    state = await staff.state()
    assert (await staff.act("suspend", "SUPPORT", {"reason": "Again"})).json()["data"]["suspensionReason"] == (
        "Left the company"
    )
    assert error_of(await staff.grant("SUPPORT", "auditor")) == CONFLICT
    assert await staff.state() == state
    back = await staff.act("reinstate", "SUPPORT", {"reason": "Came back"})
    assert (back.status_code, back.json()["data"]["suspended"]) == (200, False)
    assert (await staff.act("reinstate", "SUPPORT")).status_code == 200
    tokens = await app.demo_log_in("SUPPORT")
    caller = await app.runtime.verifier.caller_of(tokens["accessToken"])
    assert caller.roles == {"support_agent"}
    assert await staff.actions() == [("ADMIN", "suspended", "SUPPORT"), ("ADMIN", "reinstated", "SUPPORT")]


async def test_a_suspended_member_of_the_staff_is_published_without_roles(staff: StaffAdministration) -> None:
    async def published_roles() -> list[list[str]]:
        events = await staff.app.published("identity.profile_changed.v1")
        return [event["staffRoles"] for event in events if event["userId"] == str(USERS["SUPPORT"].id)]

    earlier = await published_roles()
    await staff.act("suspend", "SUPPORT", {"reason": "Left the company"})
    assert await published_roles() == [*earlier, []]
    await staff.act("reinstate", "SUPPORT")
    assert await published_roles() == [*earlier, [], ["support_agent"]]


async def test_a_sign_in_concurrent_with_a_suspension_creates_no_session(staff: StaffAdministration) -> None:
    _, refresh_token = await staff.sign_in("SUPPORT")
    await staff.token("ADMIN")
    responses = await asyncio.gather(
        *(
            staff.app.post("/api/auth/login", {"email": USERS["SUPPORT"].email, "password": DEMO_PASSWORD})
            for _ in range(4)
        ),
        staff.app.post("/api/auth/refresh", {"refreshToken": refresh_token}),
        staff.act("suspend", "SUPPORT"),
    )
    assert responses[-1].status_code == 200
    assert {response.status_code for response in responses[:-1]} <= {200, 401}
    lasting = await staff.app.fetch(
        "SELECT id FROM sessions WHERE user_id = $1 AND ended_at IS NULL", USERS["SUPPORT"].id
    )
    assert lasting == []
    for response in responses[:-1]:
        if response.status_code == 200:
            token = response.json()["data"]["accessToken"]
            assert (await staff.app.get("/api/profiles/current", token=token)).status_code == 401


async def test_a_changed_name_is_published_without_roles(staff: StaffAdministration) -> None:
    """Its readers keep the roles that they have: none of a user who was suspended at the same moment."""
    headers = {"Authorization": f"Bearer {await staff.token('SUPPORT')}"}
    body = {"fullName": "Sade Support"}
    response = await staff.app.client.patch("/api/profiles/current", json=body, headers=headers)
    assert response.status_code == 200, response.text
    [*_, event] = await staff.app.published("identity.profile_changed.v1")
    assert (event["fullName"], event.get("staffRoles")) == ("Sade Support", None)
