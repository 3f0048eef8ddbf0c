"""API keys: shown once, limited to their creator's permissions, and ended at once (decision 201)."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from common.auth.api_keys import KEY_TOKEN_PATH, is_api_key
from common.auth.caller import Caller
from common.primitives.clock import iso
from common.primitives.problems import Unauthorized
from contracts import demo
from identity.domain.api_keys import LIVE_KEYS_MAX
from identity.timers import warn_of_expiring_keys_once
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, STEP_UP_REQUIRED, data_of, error_of

from .conftest import USERS, IdentityApp
from .staff_steps import REVOKED, TESTING, StaffAdministration

KEYS = "/api/api-keys"
SHOP_SCOPES = ["shop_orders:read", "shop_products:write"]


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    return StaffAdministration(app)


def body_of(staff: StaffAdministration, **changed: Any) -> dict[str, Any]:
    expires_at = iso(staff.app.clock.now() + timedelta(days=30))
    return {"name": "Stock", "scopes": SHOP_SCOPES, "expiresAt": expires_at, **changed}


async def create(staff: StaffAdministration, by: str = "VENDOR", **changed: Any) -> dict[str, Any]:
    return data_of(await staff.app.post(KEYS, body_of(staff, **changed), token=await staff.token(by)), 201)


async def rejection(staff: StaffAdministration, by: str = "VENDOR", **changed: Any) -> Any:
    return error_of(await staff.app.post(KEYS, body_of(staff, **changed), token=await staff.token(by)))


async def exchange(staff: StaffAdministration, key: str, source: str = "192.0.2.7") -> str | None:
    return data_of(await staff.app.post(KEY_TOKEN_PATH, {"key": key}, source=source))["token"]


async def caller_of(staff: StaffAdministration, key: str) -> Caller:
    token = await exchange(staff, key)
    assert token is not None
    return await staff.app.runtime.verifier.caller_of(token)


async def make_auditing_admin(staff: StaffAdministration) -> None:
    await staff.app.fetch(
        "INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, 'auditor', now())", USERS["ADMIN"].id
    )


async def test_a_key_is_shown_once_and_stored_as_a_hash(staff: StaffAdministration) -> None:
    created = await create(staff)
    assert is_api_key(created["key"])
    assert created["hint"] == f"cm_live_…{created['key'][-4:]}"
    [listed] = data_of(await staff.app.get(KEYS, token=await staff.token("VENDOR")))
    assert listed == {name: value for name, value in created.items() if name != "key"}
    assert (listed["vendorId"], listed["createdBy"]) == (str(demo.ADA.id), str(USERS["VENDOR"].id))
    [row] = await staff.app.fetch("SELECT * FROM api_keys")
    assert created["key"] not in str(dict(row))
    assert row["key_hash"].hex() not in str(listed)
    assert (await staff.actions())[-1] == ("VENDOR", "api_key_created", "?")
    [event] = await staff.app.published("identity.credentials_changed.v1")
    assert (event["userId"], event["change"]) == (str(USERS["VENDOR"].id), "api_key_created")


async def test_a_key_has_its_shop_and_its_scopes_only(staff: StaffAdministration) -> None:
    created = await create(staff)
    caller = await caller_of(staff, created["key"])
    assert (caller.user_id, caller.session_id) == (UUID(created["id"]), UUID(created["id"]))
    assert (caller.vendor_id, caller.campus_id) == (demo.ADA.id, demo.LAGOS.id)
    assert (caller.key_scopes, caller.permissions) == (frozenset(SHOP_SCOPES), {"orders:fulfil", "catalog:own"})
    assert (caller.roles, caller.withheld, caller.stepped_up_at) == (frozenset(), frozenset(), None)


async def test_a_key_manages_no_keys_and_no_account(staff: StaffAdministration) -> None:
    token = await exchange(staff, (await create(staff))["key"])
    for path in (KEYS, "/api/profiles/current", "/api/auth/sessions"):
        assert error_of(await staff.app.get(path, token=token)) == FORBIDDEN


async def test_a_creator_gives_only_scopes_that_they_hold(staff: StaffAdministration) -> None:
    assert await rejection(staff, "ADMIN") == FORBIDDEN
    assert await rejection(staff, "ADMIN", scopes=["orders:read"]) == FORBIDDEN
    assert await rejection(staff, "VENDOR", scopes=["orders:read"]) == FORBIDDEN
    assert await rejection(staff, "BUYER") == FORBIDDEN
    assert await rejection(staff, "MAKER", scopes=["payouts:read"]) == FORBIDDEN
    assert await rejection(staff, scopes=["shop_orders:read", "orders:read"]) == INVALID
    without_factor = await staff.token("VENDOR", stepped_up=False)
    assert error_of(await staff.app.post(KEYS, body_of(staff), token=without_factor)) == STEP_UP_REQUIRED


async def test_a_key_of_the_platform_has_what_its_creator_has_now(staff: StaffAdministration) -> None:
    await make_auditing_admin(staff)
    created = await create(staff, "ADMIN", scopes=["orders:read", "ledger:read"])
    assert created["vendorId"] is None
    caller = await caller_of(staff, created["key"])
    assert (caller.vendor_id, caller.permissions) == (None, {"orders:read", "ledger:read"})
    await staff.app.fetch("DELETE FROM role_grants WHERE user_id = $1 AND role = 'auditor'", USERS["ADMIN"].id)
    assert await exchange(staff, created["key"]) is None


async def test_an_invalid_key_is_refused(staff: StaffAdministration) -> None:
    for changed in (
        {"scopes": []},
        {"scopes": ["shop_orders:read", "shop_orders:read"]},
        {"scopes": ["wallet:own"]},
        {"name": " "},
        {"networks": ["192.0.2.1/24"]},
        {"networks": ["2001:db8::/65"]},
        {"networks": ["the office"]},
        {"expiresAt": "2026-09-01T08:00:00Z"},
        {"expiresAt": "2027-09-02T08:00:01Z"},
    ):
        assert (changed, await rejection(staff, **changed)) == (changed, INVALID)
    assert await staff.app.count("api_keys") == 0


async def test_an_owner_has_at_most_20_live_keys(staff: StaffAdministration) -> None:
    created = [await create(staff) for _ in range(LIVE_KEYS_MAX)]
    assert await rejection(staff) == CONFLICT
    await staff.app.client.delete(
        f"{KEYS}/{created[0]['id']}", headers={"Authorization": f"Bearer {await staff.token('VENDOR')}"}
    )
    await create(staff)


async def test_a_key_is_accepted_from_its_networks_only(staff: StaffAdministration) -> None:
    key = (await create(staff, networks=["192.0.2.0/24", "2001:db8::/48"]))["key"]
    for source, is_accepted in (
        ("192.0.2.9", True),
        ("192.0.3.9", False),
        ("2001:db8:0:7::/64", True),
        ("2001:db9::/64", False),
        ("", False),
    ):
        assert (await exchange(staff, key, source) is not None) is is_accepted


async def delete(staff: StaffAdministration, key_id: str, by: str) -> Any:
    headers = {"Authorization": f"Bearer {await staff.token(by)}"}
    return await staff.app.client.delete(f"{KEYS}/{key_id}", headers=headers)


async def test_a_revoked_key_and_its_tokens_end_at_once(staff: StaffAdministration) -> None:
    first, second = await create(staff), await create(staff)
    token = await exchange(staff, first["key"])
    assert token is not None
    assert error_of(await delete(staff, first["id"], "VENDOR2")) == NOT_FOUND
    for _ in range(2):
        assert (await delete(staff, first["id"], "VENDOR")).status_code == 204
    with pytest.raises(Unauthorized):
        await staff.app.runtime.verifier.caller_of(token)
    assert await exchange(staff, first["key"]) is None
    assert await exchange(staff, second["key"]) is not None
    [revoked] = await staff.app.published(REVOKED)
    assert (revoked["userId"], revoked["sessionId"]) == (first["id"], first["id"])
    assert [action for _, action, _ in await staff.actions()].count("api_key_revoked") == 1
    assert (await delete(staff, second["id"], "ADMIN")).status_code == 204


async def test_an_unknown_and_an_expired_key_have_no_token(staff: StaffAdministration) -> None:
    key = (await create(staff))["key"]
    assert await exchange(staff, f"{key[:-1]}x") is None
    staff.app.clock.advance(timedelta(days=30))
    assert await exchange(staff, key) is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vendors SET status = 'suspended' WHERE id = $1",
        "INSERT INTO suspensions (user_id, suspended_by, suspended_at) "
        "SELECT owner_user_id, gen_random_uuid(), now() FROM vendors WHERE id = $1",
        "DELETE FROM role_grants WHERE user_id = (SELECT owner_user_id FROM vendors WHERE id = $1)",
    ],
)
async def test_a_key_ends_with_the_rights_of_its_shop(staff: StaffAdministration, statement: str) -> None:
    key = (await create(staff))["key"]
    assert await exchange(staff, key) is not None
    await staff.app.fetch(statement, demo.ADA.id)
    assert await exchange(staff, key) is None


async def test_the_last_use_is_recorded_by_the_minute(staff: StaffAdministration) -> None:
    key = (await create(staff))["key"]
    used = []
    for seconds in (0, 59, 1):
        staff.app.clock.advance(timedelta(seconds=seconds))
        await exchange(staff, key)
        used.append((await staff.app.fetch("SELECT last_used_at FROM api_keys"))[0]["last_used_at"])
    assert used == [used[0], used[0], used[0] + timedelta(minutes=1)]


async def test_the_creator_is_warned_once_before_a_key_expires(staff: StaffAdministration) -> None:
    created, revoked = await create(staff), await create(staff)
    await delete(staff, revoked["id"], "VENDOR")
    assert await warn_of_expiring_keys_once(staff.app.dependencies) == 0
    staff.app.clock.advance(timedelta(days=16))
    assert [await warn_of_expiring_keys_once(staff.app.dependencies) for _ in range(2)] == [1, 0]
    [event] = await staff.app.published("identity.api_key_expiring.v1")
    assert (event["userId"], event["keyId"], event["name"]) == (str(USERS["VENDOR"].id), created["id"], "Stock")


async def test_callers_read_the_keys_of_their_own_shop(staff: StaffAdministration) -> None:
    await make_auditing_admin(staff)
    created = [
        await create(staff),
        await create(staff, "VENDOR2"),
        await create(staff, "ADMIN", scopes=["orders:read"]),
    ]
    seen = {}
    for name in ("VENDOR", "VENDOR2", "ADMIN"):
        listed = data_of(await staff.app.get(KEYS, token=await staff.token(name)))
        seen[name] = [[one["id"] for one in created].index(key["id"]) for key in listed]
    assert seen == {"VENDOR": [0], "VENDOR2": [1], "ADMIN": [2, 1, 0]}
    async with staff.app.dependencies.database.unit_of_work(acting_as=TESTING) as uow:
        assert await uow.fetch_value("SELECT count(*) FROM api_keys") == len(created)
