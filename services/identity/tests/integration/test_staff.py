"""Staff: granted and revoked roles, approval by a second user, suspension, and the audit trail."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest
import pytest_asyncio

from common.auth.caller import ServiceItself
from common.auth.issuers import FederatedIdentity
from common.primitives.problems import Conflict, Unauthorized
from contracts import demo
from contracts.permissions import MONEY_ROLES, STAFF_ROLES
from identity.app import LocalUserLookup
from identity.domain.authorization_profile import SignIn
from identity.domain.errors import CannotAppoint, LastAdmin, NoLongerAdmin
from identity.domain.staff import ADMIN
from identity.store import accounts, sessions
from identity.use_cases.sessions.issue_tokens import issue_tokens
from identity.use_cases.staff.appoint_admin import appoint_admin
from identity.use_cases.staff.approve_staff_grant import approve_staff_grant
from identity.use_cases.staff.revoke_role import revoke_role
from identity.use_cases.staff.suspend_user import suspend_user

from .conftest import DEMO_PASSWORD, PASSWORD, USERS, IdentityApp
from .responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, STEP_UP_REQUIRED, UNAUTHORIZED, data_of, error_of

REVOKED = "identity.session_revoked.v1"
TESTING = ServiceItself("a test")


@dataclass
class StaffAdministration:
    """The demo's users at the staff endpoints. BUYER2 is the second administrator."""

    app: IdentityApp
    _tokens: dict[tuple[str, bool], str] = field(default_factory=dict)

    async def token(self, name: str, *, stepped_up: bool = True) -> str:
        """A token of a stored session of this user; it skips the cost of a password."""
        if (name, stepped_up) not in self._tokens:
            self._tokens[name, stepped_up] = (await self.sign_in(name, stepped_up=stepped_up))[0]
        return self._tokens[name, stepped_up]

    async def sign_in(self, name: str, *, stepped_up: bool = False) -> tuple[str, str]:
        """Access and refresh token of a new session."""
        dependencies, now = self.app.dependencies, self.app.clock.now()
        sign_in = SignIn(uuid4(), now)
        async with dependencies.database.unit_of_work(acting_as=TESTING) as uow:
            await sessions.record_session(uow, USERS[name].id, sign_in)
            profile = await accounts.find_authorization_profile(uow, USERS[name].id)
            shown = sign_in.stepped_up("totp", None, now) if stepped_up else sign_in
            signed = await issue_tokens(
                uow, dependencies.signing_keys, profile, shown, issuer=dependencies.issuer, now=now
            )
        return signed.access_token, signed.refresh_token

    async def caller(self, name: str) -> Any:
        return await self.app.service.runtime.verifier.caller_of(await self.token(name))

    async def act(self, verb: str, name: str | UUID, body: Any = None, *, by: str = "ADMIN") -> httpx.Response:
        user_id = name if isinstance(name, UUID) else USERS[name].id
        return await self.app.post(f"/api/staff/{user_id}/{verb}", body, token=await self.token(by))

    async def grant(self, name: str | UUID, role: str, *, by: str = "ADMIN", **place: Any) -> httpx.Response:
        return await self.act("grant", name, {"role": role, **place}, by=by)

    async def prepared(self, name: str, role: str) -> str:
        response = await self.grant(name, role)
        assert (response.status_code, response.json()["data"]["status"]) == (201, "prepared"), response.text
        return response.json()["data"]["id"]

    async def decide(self, grant_id: str | UUID, verb: str, *, by: str = "BUYER2") -> httpx.Response:
        token, body = await self.token(by), {}
        if verb == "approve":
            shown = await self.app.get(f"/api/staff-grants/{grant_id}", token=token)
            body = {"hash": shown.json()["data"]["hash"] if shown.status_code == 200 else "0" * 64}
        return await self.app.post(f"/api/staff-grants/{grant_id}/{verb}", body, token=token)

    async def second_admin(self) -> None:
        await appoint_admin(self.app.dependencies.database, USERS["BUYER2"].email, now=self.app.clock.now())

    async def roles(self, name: str) -> set[str]:
        rows = await self.app.service.fetch("SELECT role FROM role_grants WHERE user_id = $1", USERS[name].id)
        return {row["role"] for row in rows}

    async def actions(self) -> list[tuple[str | None, str, str]]:
        """Actor, action and subject of each recorded action by their names, oldest first."""
        names = {user.id: name for name, user in USERS.items()}
        rows = await self.app.service.fetch("SELECT actor_id, act, subject_id FROM staff_acts ORDER BY id")
        return [(names.get(row["actor_id"]), row["act"], names.get(row["subject_id"], "?")) for row in rows]

    async def state(self) -> list[Any]:
        """Everything that a change of staff writes."""
        return [
            await self.app.service.fetch(statement)
            for statement in (
                "SELECT * FROM role_grants ORDER BY user_id, role",
                "SELECT * FROM staff_grants ORDER BY id",
                "SELECT * FROM suspensions ORDER BY user_id",
                "SELECT * FROM staff_acts ORDER BY id",
                "SELECT id FROM sessions WHERE ended_at IS NOT NULL ORDER BY id",
                "SELECT id FROM outbox ORDER BY position",
            )
        ]


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    return StaffAdministration(app)


async def test_a_granted_role_holds_from_the_next_token_on_and_ends_no_session(staff: StaffAdministration) -> None:
    token, refresh_token = await staff.sign_in("BUYER")
    response = await staff.grant("BUYER", "campus_admin", campusId=str(demo.IBADAN.id))
    assert (response.status_code, response.json()["data"]["status"]) == (200, "granted"), response.text
    refreshed = await staff.app.post("/api/auth/refresh", {"refreshToken": refresh_token})
    verifier = staff.app.service.runtime.verifier
    before = await verifier.caller_of(token)
    after = await verifier.caller_of(refreshed.json()["data"]["accessToken"])
    assert (before.roles, before.campus_id) == ({"buyer"}, demo.LAGOS.id)
    assert (after.roles, after.campus_id) == ({"buyer", "campus_admin"}, demo.IBADAN.id)
    assert await staff.app.service.published(REVOKED) == []
    [event] = await staff.app.service.published("identity.profile_changed.v1")
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
    await staff.app.service.fetch("UPDATE campuses SET active = false WHERE id = $1", demo.NSUKKA.id)
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


async def test_only_powerful_roles_wait_for_a_second_approver(
    staff: StaffAdministration,
) -> None:
    campuses = {"hub_agent": {"hubId": str(demo.AKOKA_HUB.id)}, "campus_admin": {"campusId": str(demo.LAGOS.id)}}
    assert sorted(MONEY_ROLES) == ["finance_checker", "finance_maker", "ops_oncall"]
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
    await staff.app.service.fetch_as_owner(
        "UPDATE staff_grants SET role = 'finance_checker' WHERE id = $1", prepared["id"]
    )
    changed = await staff.app.post(f"{path}/approve", {"hash": prepared["hash"]}, token=token)
    assert error_of(changed) == CONFLICT
    assert await staff.roles("SUPPORT") == {"support_agent"}


async def test_nobody_approves_a_grant_to_themselves(staff: StaffAdministration) -> None:
    grant_id = await staff.prepared("BUYER2", ADMIN)
    await staff.second_admin()
    state = await staff.state()
    for verb in ("approve", "reject"):
        assert error_of(await staff.decide(grant_id, verb)) == FORBIDDEN
    assert await staff.state() == state


async def test_a_prepared_grant_lives_a_day(staff: StaffAdministration) -> None:
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


async def test_a_powerful_role_needs_a_second_factor_that_stands(staff: StaffAdministration) -> None:
    await staff.second_admin()
    grant_id = await staff.prepared("BUYER", "finance_maker")
    state = await staff.state()
    assert error_of(await staff.decide(grant_id, "approve")) == CONFLICT
    assert await staff.state() == state
    assert (await staff.grant("BUYER", "support_agent")).status_code == 200


async def test_conflicting_roles_are_never_held_by_one_user(staff: StaffAdministration) -> None:
    await staff.second_admin()
    for name, role in (
        ("MAKER", "finance_checker"),
        ("CHECKER", "finance_maker"),
        ("MAKER", ADMIN),
        ("OPS", ADMIN),
        ("BUYER2", "finance_maker"),
        ("BUYER2", "ops_oncall"),
    ):
        state = await staff.state()
        assert error_of(await staff.grant(name, role)) == CONFLICT, (name, role)
        assert await staff.state() == state
    # Both prepared while neither was held: the second approval sees the first, also at the same moment.
    grants = [await staff.prepared("SUPPORT", role) for role in ("finance_maker", "finance_checker", ADMIN)]
    await staff.token("BUYER2")
    responses = await asyncio.gather(*(staff.decide(grant_id, "approve") for grant_id in grants))
    assert sorted(response.status_code for response in responses) == [200, 409, 409]
    assert len(await staff.roles("SUPPORT")) == 2
    for role in ("finance_checker", ADMIN):
        with pytest.raises(asyncpg.UniqueViolationError):
            await staff.app.service.fetch(
                "INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, $2, now())", USERS["MAKER"].id, role
            )


async def test_a_revoked_role_ends_every_token_from_before(staff: StaffAdministration) -> None:
    token, refresh_token = await staff.sign_in("SUPPORT")
    response = await staff.act("revoke", "SUPPORT", {"role": "support_agent"})
    assert response.status_code == 200, response.text
    assert (response.json()["data"]["roles"], response.json()["data"]["offices"]) == ([], [])
    events = await staff.app.service.published(REVOKED)
    assert {"userId", "notBefore"} in [set(entry) for entry in events]
    assert {entry["userId"] for entry in events} == {str(USERS["SUPPORT"].id)}
    [event] = await staff.app.service.published("identity.profile_changed.v1")
    assert (event["userId"], event["staffRoles"]) == (str(USERS["SUPPORT"].id), [])
    assert (await staff.app.get("/api/profiles/current", token=token)).status_code == 401
    refused = await staff.app.post("/api/auth/refresh", {"refreshToken": refresh_token})
    assert error_of(refused) == UNAUTHORIZED
    again = await staff.app.demo_log_in("SUPPORT")
    caller = await staff.app.service.runtime.verifier.caller_of(again["accessToken"])
    assert caller.roles == frozenset()
    state = await staff.state()
    assert (await staff.act("revoke", "SUPPORT", {"role": "support_agent"})).status_code == 200
    assert await staff.state() == state
    assert await staff.actions() == [("ADMIN", "role_revoked", "SUPPORT")]


async def test_a_suspended_user_cannot_sign_in_by_any_method(staff: StaffAdministration) -> None:
    app, support = staff.app, USERS["SUPPORT"]
    token, refresh_token = await staff.sign_in("SUPPORT")
    wrong = await app.post("/api/auth/login", {"email": support.email, "password": PASSWORD})
    await app.post("/api/auth/password/forgot", {"email": support.email})
    await app.service.work("identity.codes")
    sent = await app.service.published("identity.one_time_code_issued.v1")
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
    failures = await app.service.fetch("SELECT failures FROM login_failures")
    assert [row["failures"] for row in failures] == [3]
    for path in ("/api/auth/otp", "/api/auth/password/forgot"):
        assert (await app.post(path, {"email": support.email})).status_code == 200
    assert (await app.post("/api/auth/otp", {"phone": support.phone})).status_code == 200
    await app.service.work("identity.codes")
    assert await app.service.published("identity.one_time_code_issued.v1") == sent
    live = await app.service.fetch(
        "SELECT id FROM one_time_codes WHERE user_id = $1 AND expires_at > $2", support.id, app.clock.now()
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
    caller = await app.service.runtime.verifier.caller_of(tokens["accessToken"])
    assert caller.roles == {"support_agent"}
    assert await staff.actions() == [("ADMIN", "suspended", "SUPPORT"), ("ADMIN", "reinstated", "SUPPORT")]


async def test_a_sign_in_concurrent_with_a_suspension_leaves_no_session(staff: StaffAdministration) -> None:
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
    lasting = await staff.app.service.fetch(
        "SELECT id FROM sessions WHERE user_id = $1 AND ended_at IS NULL", USERS["SUPPORT"].id
    )
    assert lasting == []
    for response in responses[:-1]:
        if response.status_code == 200:
            token = response.json()["data"]["accessToken"]
            assert (await staff.app.get("/api/profiles/current", token=token)).status_code == 401


async def test_the_last_admin_stays_and_nobody_decides_about_themselves(staff: StaffAdministration) -> None:
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
        left = await staff.app.service.fetch(
            "SELECT user_id FROM role_grants WHERE role = $1 AND user_id NOT IN (SELECT user_id FROM suspensions)",
            ADMIN,
        )
        assert len(left) == 1
        await staff.app.service.fetch("DELETE FROM suspensions")
        await staff.app.service.fetch(
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
    await staff.app.service.fetch("DELETE FROM role_grants WHERE role = 'auditor'")
    grant_id = await staff.prepared("SUPPORT", "finance_maker")
    assert (await staff.act("suspend", "ADMIN", by="BUYER2")).status_code == 200
    shown = await staff.app.get(f"/api/staff-grants/{grant_id}", token=await staff.token("BUYER2"))
    assert shown.json()["data"]["status"] == "rejected"
    assert error_of(await staff.decide(grant_id, "approve")) == CONFLICT


async def test_a_change_that_dies_before_its_commit_leaves_nothing(staff: StaffAdministration) -> None:
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


async def test_an_auditor_reads_closed_campuses_and_hubs(staff: StaffAdministration) -> None:
    for table, place in (("campuses", demo.LAGOS.id), ("hubs", demo.MOREMI_HUB.id)):
        await staff.app.service.fetch(f"UPDATE {table} SET active = false WHERE id = $1", place)
    for path in (f"/api/campuses/{demo.LAGOS.id}", f"/api/hubs/{demo.MOREMI_HUB.id}"):
        for name, status in (("AUDITOR", 200), ("BUYER", 404), ("MAKER", 404)):
            assert (await staff.app.get(path, token=await staff.token(name))).status_code == status


async def test_the_audit_trail_is_append_only_and_written_in_ones_own_name(staff: StaffAdministration) -> None:
    await staff.prepared("SUPPORT", "finance_maker")
    database = staff.app.dependencies.database
    for statement in ("UPDATE staff_acts SET act = 'nothing'", "DELETE FROM staff_acts", "TRUNCATE staff_acts"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await staff.app.service.fetch(statement)
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


async def test_the_database_rejects_a_grant_by_one_user_alone(staff: StaffAdministration) -> None:
    grant_id = await staff.prepared("SUPPORT", "finance_maker")
    for decider in (USERS["ADMIN"].id, USERS["SUPPORT"].id):
        with pytest.raises(asyncpg.CheckViolationError):
            await staff.app.service.fetch(
                "UPDATE staff_grants SET status = 'approved', decided_by = $2, decided_at = now() WHERE id = $1",
                UUID(grant_id),
                decider,
            )
    assert issubclass(NoLongerAdmin, Conflict)
