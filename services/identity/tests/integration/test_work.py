"""The part of `GET /api/work` that identity counts (contract section 13.6)."""

from datetime import timedelta
from typing import Any

import pytest_asyncio

from contracts import demo
from identity.domain.staff import ADMIN, GRANT_LIFE
from testkit.work import work_of

from .conftest import IdentityApp
from .staff_steps import StaffAdministration
from .steps import Campus, Platform


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> StaffAdministration:
    await app.load_demo()
    made = StaffAdministration(app)
    await made.second_admin()
    return made


async def _work(staff: StaffAdministration, name: str) -> dict[str, dict[str, Any]]:
    return await work_of(staff.app.client, {"Authorization": f"Bearer {await staff.token(name)}"})


async def test_a_grant_waits_for_an_admin_who_neither_prepared_nor_gets_it(staff: StaffAdministration) -> None:
    await staff.prepared("SUPPORT", "finance_maker")
    grant = (await _work(staff, "BUYER2"))["staff_grants_to_approve"]
    shown = (await staff.app.get("/api/staff-grants", token=await staff.token("BUYER2"))).json()["data"]
    assert (grant["count"], grant["respondBy"]) == (1, shown[0]["expiresAt"])
    assert await _work(staff, "ADMIN") == await _work(staff, "AUDITOR") == {}


async def test_no_user_is_shown_their_own_grant_for_approval(app: IdentityApp) -> None:
    await app.load_demo()
    staff = StaffAdministration(app)
    await staff.prepared("BUYER2", ADMIN)
    await staff.second_admin()
    assert await _work(staff, "BUYER2") == {}


async def test_an_expired_grant_waits_for_no_user(staff: StaffAdministration) -> None:
    await staff.prepared("SUPPORT", "finance_maker")
    staff.app.clock.advance(GRANT_LIFE - timedelta(seconds=1))
    later = StaffAdministration(staff.app)
    assert (await _work(later, "BUYER2"))["staff_grants_to_approve"]["count"] == 1
    staff.app.clock.advance(timedelta(seconds=1))
    assert await _work(later, "BUYER2") == {}


async def test_a_commission_change_waits_for_another_admin_than_its_maker(staff: StaffAdministration) -> None:
    platform = Platform(staff)
    change = await platform.prepared(250)
    assert (await _work(staff, "BUYER2"))["commission_changes_to_approve"]["respondBy"] == change["expiresAt"]
    assert await _work(staff, "ADMIN") == {}
    await platform.approve(change)
    assert await _work(staff, "BUYER2") == {}


async def test_an_application_waits_for_the_staff_of_its_campus(staff: StaffAdministration) -> None:
    campus = Campus(staff.app)
    application = await campus.applied("BUYER")
    other = next(place for place in demo.CAMPUSES if place.id != demo.LAGOS.id)
    await campus.applied("CAMPUS")
    await campus.apply("HUB", campusId=str(other.id))
    assert (await _work(staff, "CAMPUS"))["vendor_applications_to_decide"]["count"] == 1
    assert await _work(staff, "AUDITOR") == {}
    await campus.approve(application)
    assert await _work(staff, "CAMPUS") == {}
