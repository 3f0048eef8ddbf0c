"""Roles, rewards and accounts need a confirmed address (contract section 10.1)."""

from typing import Any
from uuid import UUID

import pytest

from common.primitives.ids import new_id
from identity.domain.errors import CannotAppoint
from identity.use_cases.staff.appoint_admin import appoint_admin
from identity.use_cases.staff.ensure_first_admin import ensure_first_admin
from testkit.responses import CONFLICT, data_of, error_of

from .confirmation_steps import AWAITS_PROOF, CONFIRMED, EMAIL, RIGHT, log_in, profile_of, prove
from .conftest import PASSWORD, SERVICE_ROLE_KEY, USERS, IdentityApp


async def create_user(app: IdentityApp, email: str, **more: Any) -> dict[str, Any]:
    body = {"user": {"id": str(new_id()), "email": email, **more}}
    return data_of(await app.post("/functions/v1/create-user", body, token=SERVICE_ROLE_KEY))


async def referral_token(app: IdentityApp) -> str:
    await app.load_demo()
    tokens = await app.demo_log_in("BUYER")
    return (await app.get("/api/referrals/current", token=tokens["accessToken"])).json()["data"]["token"]


async def test_a_reward_is_recorded_at_the_sign_up_and_earned_by_the_confirmation(app: IdentityApp) -> None:
    token = await referral_token(app)
    await app.sign_up_unproven(EMAIL, referralToken=token)
    [provisioned] = [event for event in await app.published("identity.user_provisioned.v1") if event["email"] == EMAIL]
    assert (provisioned["emailConfirmed"], provisioned["referral"]["rewardMinor"]) == (False, 50_000)
    assert await app.published(CONFIRMED) == []
    await prove(app, password=PASSWORD)
    [earned] = await app.published(CONFIRMED)
    assert (earned["userId"], earned["referralRewardMinor"]) == (provisioned["userId"], 50_000)


async def test_create_user_reports_a_reward_that_waits_for_the_proof_of_the_address(app: IdentityApp) -> None:
    token = await referral_token(app)
    metadata = {"user_metadata": {"referral_token": token}}
    for email, more, pending in (
        ("a@unilag.edu.ng", {}, True),
        ("b@unilag.edu.ng", {"email_confirmed": True}, False),
    ):
        created = await create_user(app, email, **metadata, **more)
        assert created["referral"] == {"applied": True, "pending": pending, "rewardMinor": 50_000}
    assert (await create_user(app, "c@unilag.edu.ng"))["referral"] == {
        "applied": False,
        "pending": False,
        "rewardMinor": 0,
    }


async def test_create_user_states_whether_the_address_is_confirmed(app: IdentityApp) -> None:
    for email, more, confirmed in (
        ("a@unilag.edu.ng", {}, False),
        ("b@unilag.edu.ng", {"email_confirmed": True}, True),
    ):
        created = await create_user(app, email, **more)
        [row] = await app.fetch(
            "SELECT confirmed_email IS NOT NULL AS it FROM profiles WHERE id = $1", UUID(created["profileId"])
        )
        assert row["it"] is confirmed
    events = await app.published("identity.user_provisioned.v1")
    assert [event["emailConfirmed"] for event in events] == [False, True]


async def admin_of(app: IdentityApp) -> str:
    await app.load_demo()
    tokens = await app.step_up(await app.demo_log_in("ADMIN"), "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    return tokens["accessToken"]


@pytest.mark.parametrize("role", ["auditor", "finance_maker"])
async def test_a_staff_role_is_granted_only_to_a_confirmed_address(app: IdentityApp, role: str) -> None:
    admin = await admin_of(app)
    user_id = await app.sign_up_unproven(EMAIL)
    assert error_of(await app.post(f"/api/staff/{user_id}/grant", {"role": role}, token=admin)) == CONFLICT
    assert await app.count("staff_grants") == 0
    await prove(app, password=PASSWORD)
    granted = await app.post(f"/api/staff/{user_id}/grant", {"role": role}, token=admin)
    assert granted.status_code in (200, 201)


async def test_grant_admin_appoints_only_a_confirmed_address(app: IdentityApp) -> None:
    database, now = app.dependencies.database, app.clock.now()
    await app.sign_up_unproven(EMAIL)
    with pytest.raises(CannotAppoint, match="not confirmed"):
        await appoint_admin(database, EMAIL, now=now)
    await prove(app, password=PASSWORD)
    assert "platform_admin" in await appoint_admin(database, EMAIL, now=now)


async def test_the_first_administrator_signs_in_after_the_confirmation(app: IdentityApp) -> None:
    dependencies = app.dependencies
    await ensure_first_admin(
        dependencies.database,
        dependencies.passwords,
        dependencies.provisioning,
        "root@campus.example",
        PASSWORD,
        now=app.clock.now(),
    )
    assert await log_in(app, PASSWORD, "root@campus.example") == AWAITS_PROOF
    tokens = await prove(app, "root@campus.example", password=PASSWORD)
    assert "platform_admin" in (await profile_of(app, tokens))["roles"]
    assert await log_in(app, PASSWORD, "root@campus.example") == RIGHT


async def test_demo_accounts_are_confirmed_also_those_of_an_older_release(app: IdentityApp) -> None:
    await app.load_demo()
    await app.fetch("UPDATE profiles SET confirmed_email = NULL, confirmed_phone = NULL")
    await app.load_demo()
    for user in USERS.values():
        tokens = await app.demo_log_in(user.name)
        profile = await profile_of(app, tokens)
        assert (profile["emailConfirmed"], profile["phoneConfirmed"]) == (True, True)
    events = await app.published("identity.profile_changed.v1")
    assert [event["phoneConfirmed"] for event in events] == [True] * len(USERS)
