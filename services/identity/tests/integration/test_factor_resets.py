"""A user's lost second factors are reset by two people after a waiting time (contract section 5.5, decision 194)."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest
import pytest_asyncio

from identity.domain.factor_resets import RESET_LIFE, RESET_WAIT
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, STEP_UP_REQUIRED, data_of, error_of, invalid_field_of

from .conftest import USERS, IdentityApp
from .staff_steps import StaffAdministration

RESETS = "/api/factor-resets"
REASON = "Called back on the number of record"


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    made = StaffAdministration(app)
    await made.second_admin()
    return made


async def prepare(staff: StaffAdministration, name: str = "MAKER", by: str = "SUPPORT") -> httpx.Response:
    body = {"userId": str(USERS[name].id), "reason": REASON}
    return await staff.app.post(RESETS, body, token=await staff.token(by))


async def decide(
    staff: StaffAdministration, reset: dict[str, Any], by: str = "ADMIN", verb: str = "approve"
) -> httpx.Response:
    body = {"hash": reset["hash"]} if verb == "approve" else {}
    return await staff.app.post(f"{RESETS}/{reset['id']}/{verb}", body, token=await staff.token(by))


def wait(staff: StaffAdministration, by: timedelta = RESET_WAIT) -> None:
    """Let the time pass, and the tokens with it."""
    staff.app.clock.advance(by)
    staff._tokens.clear()


async def factors(staff: StaffAdministration, name: str = "MAKER") -> int:
    rows = await staff.app.fetch("SELECT 1 FROM totp_factors WHERE user_id = $1", USERS[name].id)
    return len(rows)


async def hold(staff: StaffAdministration, name: str, role: str) -> None:
    """Let the user hold a role, without a grant."""
    await staff.app.fetch(
        "INSERT INTO role_grants (user_id, role, granted_at) VALUES ($1, $2, now())", USERS[name].id, role
    )


async def changes(staff: StaffAdministration) -> list[str]:
    return [event["change"] for event in await staff.app.published("identity.credentials_changed.v1")]


async def test_a_reset_removes_the_factors_and_ends_the_sessions(staff: StaffAdministration) -> None:
    reset = data_of(await prepare(staff), 201)
    assert (reset["status"], reset["preparedBy"]) == ("prepared", str(USERS["SUPPORT"].id))
    assert data_of(await prepare(staff), 201) == reset
    assert await changes(staff) == ["factor_reset_prepared"]
    early = await decide(staff, reset)
    assert (error_of(early), reset["waitsUntil"] in early.json()["detail"]) == (CONFLICT, True)
    wait(staff)
    lost = await staff.token("MAKER")
    assert (await factors(staff), (await staff.app.get("/api/profiles/current", token=lost)).status_code) == (1, 200)
    shown = data_of(await decide(staff, reset))
    assert (shown["status"], shown["decidedBy"]) == ("approved", str(USERS["ADMIN"].id))
    assert (await factors(staff), (await staff.app.get("/api/profiles/current", token=lost)).status_code) == (0, 401)
    assert await staff.app.fetch("SELECT 1 FROM recovery_codes WHERE user_id = $1", USERS["MAKER"].id) == []
    assert data_of(await decide(staff, reset)) == shown
    assert await changes(staff) == ["factor_reset_prepared", "factors_reset"]
    assert await staff.roles("MAKER") == {"finance_maker"}
    trail = [(by, act) for by, act, subject in await staff.actions() if subject == "MAKER"]
    assert trail[-2:] == [("SUPPORT", "factor_reset_prepared"), ("ADMIN", "factor_reset_approved")]


async def test_neither_the_maker_nor_the_subject_decides(staff: StaffAdministration) -> None:
    assert error_of(await prepare(staff, "SUPPORT")) == FORBIDDEN
    own = data_of(await prepare(staff, "ADMIN"), 201)
    made = data_of(await prepare(staff), 201)
    for verb in ("approve", "reject"):
        for by in ("SUPPORT", "AUDITOR", "CHECKER", "BUYER"):
            assert error_of(await decide(staff, made, by, verb)) == FORBIDDEN, by
    await hold(staff, "SUPPORT", "platform_admin")
    wait(staff)
    for verb in ("approve", "reject"):
        assert "your own second factors" in (await decide(staff, own, "ADMIN", verb)).json()["detail"]
        assert "who prepared" in (await decide(staff, made, "SUPPORT", verb)).json()["detail"]
    assert (await factors(staff, "ADMIN"), await factors(staff)) == (1, 1)
    assert data_of(await decide(staff, own, "BUYER2"))["status"] == "approved"


async def test_a_factor_that_is_used_since_stops_the_reset(staff: StaffAdministration) -> None:
    reset = data_of(await prepare(staff), 201)
    await staff.app.fetch(
        "UPDATE totp_factors SET last_used_at = $2 WHERE user_id = $1", USERS["MAKER"].id, staff.app.clock.now()
    )
    wait(staff)
    refused = await decide(staff, reset)
    assert (error_of(refused), "not lost" in refused.json()["detail"]) == (CONFLICT, True)
    assert data_of(await decide(staff, reset, verb="reject"))["status"] == "rejected"
    assert error_of(await decide(staff, reset)) == CONFLICT
    assert await factors(staff) == 1


async def test_a_reset_expires_and_ends_with_its_maker(staff: StaffAdministration) -> None:
    reset = data_of(await prepare(staff), 201)
    await hold(staff, "BUYER", "support_agent")
    assert error_of(await prepare(staff, by="BUYER")) == CONFLICT
    assert (await staff.act("suspend", "SUPPORT")).status_code == 200
    assert error_of(await decide(staff, reset, verb="approve")) == CONFLICT
    again = data_of(await prepare(staff, by="BUYER"), 201)
    wait(staff, RESET_LIFE)
    assert error_of(await decide(staff, again, "BUYER2")) == CONFLICT
    shown = await staff.app.get(f"{RESETS}/{again['id']}", token=await staff.token("AUDITOR"))
    assert data_of(shown)["status"] == "expired"
    assert data_of(await prepare(staff, by="BUYER"), 201)["id"] != again["id"]


async def test_the_endpoints_of_resets_are_guarded(staff: StaffAdministration) -> None:
    assert error_of(await prepare(staff, "BUYER")) == CONFLICT
    token = await staff.token("SUPPORT")
    unknown = {"userId": str(uuid4()), "reason": REASON}
    assert error_of(await staff.app.post(RESETS, unknown, token=token)) == NOT_FOUND
    short = {"userId": str(USERS["MAKER"].id), "reason": "lost"}
    assert invalid_field_of(await staff.app.post(RESETS, short, token=token)) == (422, "reason")
    for by in ("CAMPUS", "CHECKER", "AUDITOR", "BUYER", "ADMIN"):
        assert error_of(await prepare(staff, by=by)) == FORBIDDEN, by
    reset = data_of(await prepare(staff), 201)
    for by, path, body in (
        ("SUPPORT", RESETS, unknown),
        ("ADMIN", f"{RESETS}/{reset['id']}/approve", {"hash": reset["hash"]}),
        ("ADMIN", f"{RESETS}/{reset['id']}/reject", {}),
    ):
        aal1 = await staff.token(by, stepped_up=False)
        assert error_of(await staff.app.post(path, body, token=aal1)) == STEP_UP_REQUIRED
    for by, status in (("SUPPORT", 200), ("ADMIN", 200), ("AUDITOR", 200), ("MAKER", 403), ("BUYER", 403)):
        assert (await staff.app.get(RESETS, token=await staff.token(by))).status_code == status, by
    other = await staff.app.post(
        f"{RESETS}/{reset['id']}/approve", {"hash": "0" * 64}, token=await staff.token("ADMIN")
    )
    assert error_of(other) == CONFLICT


async def test_a_reset_waits_for_an_admin_whom_it_does_not_concern(staff: StaffAdministration) -> None:
    made = data_of(await prepare(staff), 201)
    own = data_of(await prepare(staff, "ADMIN"), 201)
    filters = {"awaiting": "approval", "order": "asc"}
    for by, found in (("ADMIN", [made["id"]]), ("BUYER2", [made["id"], own["id"]])):
        headers = {"Authorization": f"Bearer {await staff.token(by)}"}
        listed = data_of(await staff.app.client.get(RESETS, params=filters, headers=headers))
        assert [one["id"] for one in listed] == found


async def test_the_database_rejects_a_reset_by_one_user(staff: StaffAdministration) -> None:
    reset = data_of(await prepare(staff), 201)
    for decider, rule in (("prepared_by", "factor_resets_by_two"), ("user_id", "factor_resets_by_others")):
        with pytest.raises(asyncpg.CheckViolationError, match=rule):
            await staff.app.fetch(
                f"UPDATE factor_resets SET status = 'approved', decided_by = {decider}, decided_at = now() "
                "WHERE id = $1 RETURNING 1",
                reset["id"],
            )
