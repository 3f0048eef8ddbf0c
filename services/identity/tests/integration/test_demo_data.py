"""The demo data (architecture section 6; contract section 13.4)."""

from contracts import demo
from contracts.permissions import leading_role

from .conftest import DEMO_SECRET, DEMO_SECRETS, USERS, IdentityApp

TABLES = (
    "campuses",
    "hubs",
    "profiles",
    "role_grants",
    "vendors",
    "shop_members",
    "accounts",
    "totp_factors",
    "outbox",
)


async def test_every_demo_account_logs_in_with_its_roles_campus_and_vendor(app: IdentityApp) -> None:
    await app.load_demo()
    for user in demo.USERS:
        tokens = await app.demo_log_in(user.name)
        assert tokens["mfaRequired"] is (user.name in DEMO_SECRETS)
        caller = await app.runtime.verifier.caller_of(tokens["accessToken"])
        assert caller.user_id == user.id
        assert caller.roles == set(user.roles)
        assert caller.vendor_id == user.vendor_id
        assert caller.packing_vendor_id == user.packing_vendor_id
        assert caller.campus_id == user.campus_id
        profile = (await app.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]
        assert profile["role"] == leading_role(user.roles)


async def test_demo_staff_step_up_with_the_secret_of_the_environment(app: IdentityApp) -> None:
    await app.load_demo()
    stepped = await app.step_up(await app.demo_log_in("MAKER"), DEMO_SECRET)
    assert stepped["aal"] == "aal2"
    caller = await app.runtime.verifier.caller_of(stepped["accessToken"])
    caller.must_have_stepped_up(app.clock.now())
    caller.must_be_allowed("payouts:dispatch")


async def test_loading_publishes_campuses_hubs_users_and_vendors(app: IdentityApp) -> None:
    await app.load_demo()
    campuses = await app.published("identity.campus_changed.v1")
    assert {event["campusId"] for event in campuses} == {str(campus.id) for campus in demo.CAMPUSES}
    hubs = await app.published("identity.hub_changed.v1")
    assert {event["hubId"]: event["deliveryFeeMinor"] for event in hubs} == {
        str(hub.id): hub.delivery_fee_minor for hub in demo.HUBS
    }
    profiles = await app.published("identity.user_provisioned.v1")
    assert {event["userId"] for event in profiles} == {str(user.id) for user in demo.USERS}
    vendors = await app.published("identity.vendor_approved.v1")
    assert {(event["vendorId"], event["ownerUserId"], event["legalName"]) for event in vendors} == {
        (str(vendor.id), str(vendor.owner_user_id), vendor.legal_name) for vendor in demo.VENDORS
    }


async def test_loading_demo_data_twice_changes_nothing(app: IdentityApp) -> None:
    await app.load_demo()
    before = {table: await app.fetch(f"SELECT * FROM {table} ORDER BY 1") for table in TABLES}
    app.next_period()
    await app.load_demo()
    after = {table: await app.fetch(f"SELECT * FROM {table} ORDER BY 1") for table in TABLES}
    assert after == before


async def test_a_demo_account_opened_before_still_finds_its_campus(app: IdentityApp) -> None:
    await app.sign_up("fresher@unilag.edu.ng")
    await app.load_demo()
    tokens = await app.log_in("fresher@unilag.edu.ng")
    caller = await app.runtime.verifier.caller_of(tokens["accessToken"])
    assert caller.campus_id == USERS["BUYER"].campus_id
