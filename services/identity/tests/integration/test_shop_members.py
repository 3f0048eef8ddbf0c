"""Members of a shop: invited by mail address, with their role in the token, removed at once (decision 206)."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio

from common.auth.caller import Caller
from common.primitives.problems import Unauthorized
from contracts import demo
from identity.domain.shop_members import INVITATION_LIFE, MEMBERS_MAX
from identity.store.accounts import find_authorization_profile
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, STEP_UP_REQUIRED, data_of, error_of

from .conftest import USERS, IdentityApp
from .staff_steps import REVOKED, TESTING, StaffAdministration
from .steps import APPLICATION
from .steps import PATH as APPLICATIONS

MEMBERS = "/api/shop-members"
INVITATIONS = "/api/shop-invitations"


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    # The demo's own packer.
    await app.fetch("DELETE FROM shop_members")
    return StaffAdministration(app)


async def send(staff: StaffAdministration, method: str, path: str, by: str, body: Any = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {await staff.token(by)}"}
    return await staff.app.client.request(method, path, json=body, headers=headers)


async def invite(staff: StaffAdministration, name: str, role: str = "packer", *, by: str = "VENDOR") -> httpx.Response:
    return await send(staff, "POST", INVITATIONS, by, {"email": USERS[name].email, "role": role})


async def accept(staff: StaffAdministration, invitation_id: str, name: str) -> httpx.Response:
    return await send(staff, "POST", f"{INVITATIONS}/{invitation_id}/accept", name)


async def join(staff: StaffAdministration, name: str = "BUYER", role: str = "packer") -> dict[str, Any]:
    """Return the membership of a user of Ada's shop."""
    invitation = data_of(await invite(staff, name, role), 201)
    member: dict[str, Any] = data_of(await accept(staff, invitation["id"], name))
    return member


async def caller_after(staff: StaffAdministration, name: str) -> Caller:
    """Return the caller of a new session."""
    access_token, _ = await staff.sign_in(name)
    return await staff.app.runtime.verifier.caller_of(access_token)


async def published_roles(staff: StaffAdministration) -> list[Any]:
    """Return the roles in Ada's shop that were published of the user, oldest first."""
    events = await staff.app.published("identity.shop_member_changed.v1")
    about = (str(USERS["BUYER"].id), str(demo.ADA.id))
    return [event.get("role") for event in events if (event["userId"], event["vendorId"]) == about]


async def listed(staff: StaffAdministration, path: str, by: str) -> list[Any]:
    return [one["email"] for one in data_of(await send(staff, "GET", path, by))]


async def test_an_invited_user_joins_the_shop(staff: StaffAdministration) -> None:
    invitation = data_of(await invite(staff, "BUYER"), 201)
    assert (invitation["businessName"], invitation["role"], invitation["isForCaller"]) == (
        demo.ADA.business_name,
        "packer",
        False,
    )
    [shown] = data_of(await send(staff, "GET", INVITATIONS, "BUYER"))
    assert shown == {**invitation, "isForCaller": True}
    [event] = await staff.app.published("identity.shop_invitation_sent.v1")
    assert (event["userId"], event["invitationId"]) == (str(USERS["BUYER"].id), invitation["id"])
    member = data_of(await accept(staff, invitation["id"], "BUYER"))
    assert (member["userId"], member["addedBy"]) == (str(USERS["BUYER"].id), str(USERS["VENDOR"].id))
    assert await listed(staff, MEMBERS, "VENDOR") == [USERS["BUYER"].email]
    assert await listed(staff, MEMBERS, "BUYER") == [USERS["BUYER"].email]
    assert await listed(staff, INVITATIONS, "BUYER") == []
    assert error_of(await accept(staff, invitation["id"], "BUYER")) == NOT_FOUND
    assert [action for _, action, _ in await staff.actions()] == ["shop_member_invited", "shop_member_joined"]


async def test_the_token_of_a_packer_names_the_shop_apart_from_a_vendor(staff: StaffAdministration) -> None:
    await join(staff)
    caller = await caller_after(staff, "BUYER")
    assert (caller.roles, caller.vendor_id, caller.packing_vendor_id) == ({"buyer", "shop_packer"}, None, demo.ADA.id)
    assert caller.permissions == {"orders:place", "orders:pack", "work:read"}
    access_token, _ = await staff.sign_in("BUYER")
    profile = data_of(await staff.app.get("/api/profiles/current", token=access_token))
    assert (profile["role"], profile["packingVendorId"], profile["vendorId"]) == (
        "shop_packer",
        str(demo.ADA.id),
        None,
    )


async def test_a_manager_has_the_shop_without_its_money(staff: StaffAdministration) -> None:
    await join(staff, role="manager")
    caller = await caller_after(staff, "BUYER")
    assert (caller.vendor_id, caller.owned_vendor_id, caller.packing_vendor_id) == (demo.ADA.id, None, None)
    assert caller.permissions == {"orders:place", "catalog:own", "flash_sales:keep", "orders:fulfil", "work:read"}
    token, _ = await staff.sign_in("BUYER", stepped_up=True)
    for path, body in ((INVITATIONS, {"email": "x@unilag.edu.ng", "role": "packer"}), ("/api/api-keys", {})):
        assert error_of(await staff.app.post(path, body, token=token)) == FORBIDDEN


async def test_only_the_owner_invites_with_a_second_factor(staff: StaffAdministration) -> None:
    for name in ("BUYER2", "SUPPORT", "ADMIN"):
        assert error_of(await invite(staff, "BUYER", by=name)) == FORBIDDEN
    without_factor = await staff.token("VENDOR", stepped_up=False)
    body = {"email": USERS["BUYER"].email, "role": "packer"}
    assert error_of(await staff.app.post(INVITATIONS, body, token=without_factor)) == STEP_UP_REQUIRED
    await join(staff)
    path = f"{MEMBERS}/{USERS['BUYER'].id}"
    response = await staff.app.client.patch(
        path, json={"role": "manager"}, headers={"Authorization": f"Bearer {without_factor}"}
    )
    assert error_of(response) == STEP_UP_REQUIRED


async def test_an_unproven_address_gives_nothing(staff: StaffAdministration) -> None:
    await staff.token("BUYER")
    invitation = data_of(await invite(staff, "BUYER"), 201)
    assert error_of(await accept(staff, invitation["id"], "BUYER2")) == NOT_FOUND
    await staff.app.fetch("UPDATE profiles SET confirmed_email = NULL WHERE id = $1", USERS["BUYER"].id)
    assert await listed(staff, INVITATIONS, "BUYER") == []
    assert error_of(await accept(staff, invitation["id"], "BUYER")) == NOT_FOUND
    await staff.app.fetch("UPDATE profiles SET confirmed_email = email WHERE id = $1", USERS["BUYER"].id)
    data_of(await accept(staff, invitation["id"], "BUYER"))
    await staff.app.fetch("UPDATE profiles SET confirmed_email = NULL WHERE id = $1", USERS["BUYER"].id)
    async with staff.app.dependencies.database.unit_of_work(acting_as=TESTING) as uow:
        profile = await find_authorization_profile(uow, USERS["BUYER"].id)
    assert (profile.roles, profile.packing_vendor_id) == (("buyer",), None)


async def test_an_address_without_an_account_is_invited_in_the_same_way(staff: StaffAdministration) -> None:
    body = {"email": "New.Packer@unilag.edu.ng", "role": "packer"}
    invitation = data_of(await send(staff, "POST", INVITATIONS, "VENDOR", body), 201)
    assert await staff.app.published("identity.shop_invitation_sent.v1") == []
    user_id = await staff.app.sign_up("new.packer@unilag.edu.ng")
    token, _ = await staff.sign_in(user_id)
    data_of(await staff.app.post(f"{INVITATIONS}/{invitation['id']}/accept", token=token))
    assert await listed(staff, MEMBERS, "VENDOR") == ["new.packer@unilag.edu.ng"]


async def test_an_invitation_expires_after_seven_days(staff: StaffAdministration) -> None:
    invitation = data_of(await invite(staff, "BUYER"), 201)
    staff.app.clock.advance(INVITATION_LIFE)
    access_token, _ = await staff.sign_in("BUYER")
    path = f"{INVITATIONS}/{invitation['id']}/accept"
    assert error_of(await staff.app.post(path, token=access_token)) == CONFLICT
    assert await staff.app.count("shop_members") == 0


@pytest.mark.parametrize(("name", "action"), [("BUYER", "declined"), ("VENDOR", "withdrawn")])
async def test_an_invitation_is_declined_or_withdrawn(staff: StaffAdministration, name: str, action: str) -> None:
    invitation = data_of(await invite(staff, "BUYER"), 201)
    path = f"{INVITATIONS}/{invitation['id']}"
    for foreign in ("BUYER2", "VENDOR2", "ADMIN"):
        assert error_of(await send(staff, "DELETE", path, foreign)) == NOT_FOUND
    assert (await send(staff, "DELETE", path, name)).status_code == 204
    assert error_of(await send(staff, "DELETE", path, name)) == NOT_FOUND
    assert error_of(await accept(staff, invitation["id"], "BUYER")) == NOT_FOUND
    assert (await staff.actions())[-1][1] == f"shop_invitation_{action}"


async def test_a_new_invitation_replaces_that_of_the_same_address(staff: StaffAdministration) -> None:
    first = data_of(await invite(staff, "BUYER"), 201)
    second = data_of(await invite(staff, "BUYER", "manager"), 201)
    assert error_of(await accept(staff, first["id"], "BUYER")) == NOT_FOUND
    assert data_of(await accept(staff, second["id"], "BUYER"))["role"] == "manager"


async def test_an_account_works_for_one_shop_or_owns_one(staff: StaffAdministration) -> None:
    own = data_of(await invite(staff, "VENDOR2"), 201)
    assert error_of(await accept(staff, own["id"], "VENDOR2")) == CONFLICT
    assert error_of(await invite(staff, "VENDOR")) == INVALID
    await join(staff)
    other = data_of(await invite(staff, "BUYER", by="VENDOR2"), 201)
    assert error_of(await accept(staff, other["id"], "BUYER")) == CONFLICT
    applied = await staff.app.post(APPLICATIONS, APPLICATION, token=await staff.token("BUYER"))
    assert error_of(applied) == CONFLICT


async def test_an_application_of_a_member_is_not_approved(staff: StaffAdministration) -> None:
    applied = data_of(await staff.app.post(APPLICATIONS, APPLICATION, token=await staff.token("BUYER")), 201)
    await join(staff)
    decided = await send(staff, "POST", f"{APPLICATIONS}/{applied['id']}/approve", "CAMPUS")
    assert error_of(decided) == CONFLICT
    rows = await staff.app.fetch("SELECT FROM vendors WHERE owner_user_id = $1", USERS["BUYER"].id)
    assert rows == []


async def test_a_removed_member_has_no_access_at_once(staff: StaffAdministration) -> None:
    await join(staff)
    live, _ = await staff.sign_in("BUYER")
    path = f"{MEMBERS}/{USERS['BUYER'].id}"
    for foreign in ("VENDOR2", "BUYER2", "ADMIN"):
        assert error_of(await send(staff, "DELETE", path, foreign)) == NOT_FOUND
    assert (await send(staff, "DELETE", path, "VENDOR")).status_code == 204
    with pytest.raises(Unauthorized):
        await staff.app.runtime.verifier.caller_of(live)
    assert {event["userId"] for event in await staff.app.published(REVOKED)} == {str(USERS["BUYER"].id)}
    assert error_of(await send(staff, "DELETE", path, "VENDOR")) == NOT_FOUND
    assert await published_roles(staff) == ["packer", None]
    staff.app.clock.advance(timedelta(seconds=1))
    assert (await caller_after(staff, "BUYER")).roles == {"buyer"}


async def test_a_changed_role_ends_the_sessions_of_the_earlier_one(staff: StaffAdministration) -> None:
    await join(staff)
    live, _ = await staff.sign_in("BUYER")
    path = f"{MEMBERS}/{USERS['BUYER'].id}"
    assert error_of(await send(staff, "PATCH", path, "VENDOR2", {"role": "manager"})) == NOT_FOUND
    [member] = data_of(await send(staff, "PATCH", path, "VENDOR", {"role": "manager"}))
    assert member["role"] == "manager"
    assert await published_roles(staff) == ["packer", "manager"]
    with pytest.raises(Unauthorized):
        await staff.app.runtime.verifier.caller_of(live)
    staff.app.clock.advance(timedelta(seconds=1))
    assert (await caller_after(staff, "BUYER")).vendor_id == demo.ADA.id


async def test_a_suspended_member_has_no_role_for_notices_until_the_reinstatement(staff: StaffAdministration) -> None:
    await join(staff)
    data_of(await staff.act("suspend", "BUYER", {"reason": "Fraud"}))
    assert await published_roles(staff) == ["packer", None]
    # The owner may change a role meanwhile: it has no effect before the reinstatement.
    data_of(await send(staff, "PATCH", f"{MEMBERS}/{USERS['BUYER'].id}", "VENDOR", {"role": "manager"}))
    assert await published_roles(staff) == ["packer", None, None]
    data_of(await staff.act("reinstate", "BUYER"))
    assert await published_roles(staff) == ["packer", None, None, "manager"]


async def test_a_member_ends_their_membership(staff: StaffAdministration) -> None:
    await join(staff)
    assert (await send(staff, "DELETE", f"{MEMBERS}/{USERS['BUYER'].id}", "BUYER")).status_code == 204
    assert await listed(staff, MEMBERS, "VENDOR") == []
    assert (await staff.actions())[-1] == ("BUYER", "shop_member_removed", "BUYER")


async def test_a_shop_has_a_bounded_number_of_members(staff: StaffAdministration) -> None:
    await join(staff)
    for number in range(MEMBERS_MAX - 1):
        await staff.app.fetch(
            "INSERT INTO shop_invitations (id, vendor_id, email, role, invited_by, created_at, expires_at) "
            "VALUES (gen_random_uuid(), $1, $2, 'packer', $3, $4, $5)",
            demo.ADA.id,
            f"packer{number}@unilag.edu.ng",
            USERS["VENDOR"].id,
            staff.app.clock.now(),
            staff.app.clock.now() + INVITATION_LIFE,
        )
    assert error_of(await invite(staff, "BUYER2")) == CONFLICT


async def test_an_acceptance_and_a_withdrawal_at_once_have_one_result(staff: StaffAdministration) -> None:
    invitation = data_of(await invite(staff, "BUYER"), 201)
    accepted, withdrawn = await asyncio.gather(
        accept(staff, invitation["id"], "BUYER"),
        send(staff, "DELETE", f"{INVITATIONS}/{invitation['id']}", "VENDOR"),
    )
    assert sorted((accepted.status_code, withdrawn.status_code)) in ([200, 404], [204, 404])
    assert await staff.app.count("shop_members") == (1 if accepted.status_code == 200 else 0)
    assert await staff.app.count("shop_invitations") == 0


async def test_a_suspended_owner_changes_no_member(staff: StaffAdministration) -> None:
    await join(staff)
    await staff.app.fetch(
        "INSERT INTO suspensions (user_id, suspended_by, suspended_at) VALUES ($1, gen_random_uuid(), now())",
        USERS["VENDOR"].id,
    )
    assert error_of(await invite(staff, "BUYER2")) == CONFLICT
    assert error_of(await send(staff, "DELETE", f"{MEMBERS}/{USERS['BUYER'].id}", "VENDOR")) == CONFLICT
