"""Vendors that staff suspend and reinstate, and what owner and platform change (contract sections 5 and 10)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest
import pytest_asyncio

from common.auth.caller import Caller
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts import demo
from contracts.orders import VendorSuspensionDecided
from testkit.responses import FORBIDDEN, STEP_UP_REQUIRED, data_of, error_of

from .conftest import USERS, IdentityApp
from .staff_steps import StaffAdministration
from .steps import caller_named

ADA = f"/api/vendors/{demo.ADA.id}"
SUSPENDED, REINSTATED, CHANGED = (f"identity.vendor_{fact}.v1" for fact in ("suspended", "reinstated", "changed"))
IN_FULL = {"ownerUserId", "legalName", "status", "suspensionReason", "commissionBasisPoints", "revision"}


class Staff:
    """Users of the demo data, signed in."""

    def __init__(self, app: IdentityApp, tokens: dict[str, str]) -> None:
        self.app, self.tokens = app, tokens

    async def send(self, method: str, path: str, body: Any, by: str, **headers: str) -> httpx.Response:
        headers["Authorization"] = f"Bearer {self.tokens[by]}"
        return await self.app.client.request(method, path, json=body, headers=headers)

    async def suspend(self, by: str = "CAMPUS", reason: str = "Complaints") -> httpx.Response:
        return await self.send("POST", f"{ADA}/suspend", {"reason": reason}, by)

    async def reinstate(self, by: str = "CAMPUS") -> httpx.Response:
        return await self.send("POST", f"{ADA}/reinstate", {}, by)

    async def patch(self, body: Any, by: str, **headers: str) -> httpx.Response:
        return await self.send("PATCH", ADA, body, by, **headers)

    async def events(self, event_type: str) -> list[dict[str, Any]]:
        return await self.app.published(event_type)

    async def state(self) -> list[Any]:
        return [
            await self.app.fetch(f"SELECT * FROM {table} ORDER BY id") for table in ("vendors", "outbox", "staff_acts")
        ]


@pytest_asyncio.fixture
async def staff(app: IdentityApp) -> Staff:
    await app.load_demo()
    names = ("CAMPUS", "ADMIN", "BUYER", "VENDOR", "VENDOR2")
    appointment = StaffAdministration(app)
    return Staff(app, {name: await appointment.token(name) for name in names})


async def test_a_suspended_vendor_is_hidden_until_its_reinstatement(staff: Staff) -> None:
    shown = data_of(await staff.suspend())
    assert (shown["status"], shown["suspensionReason"], shown["revision"]) == ("suspended", "Complaints", 2)
    assert (await staff.app.get(ADA)).status_code == 404
    listed = (await staff.app.get("/api/vendors")).json()["data"]
    assert [entry["id"] for entry in listed] == [str(demo.BOLA.id)]
    token = staff.tokens["VENDOR"]
    assert (await staff.app.get(ADA, token=token)).json()["data"]["suspensionReason"] == "Complaints"
    for by in ("CAMPUS", "VENDOR", "BUYER"):
        found = (await staff.app.get("/api/vendors", token=staff.tokens[by], status="suspended")).json()["data"]
        assert [entry["id"] for entry in found] == ([] if by == "BUYER" else [str(demo.ADA.id)])
    assert (await staff.reinstate()).json()["data"]["status"] == "active"
    assert (await staff.app.get(ADA)).status_code == 200
    vendor = {
        "vendorId": str(demo.ADA.id),
        "ownerUserId": str(demo.ADA.owner_user_id),
        "businessName": demo.ADA.business_name,
        "legalName": demo.ADA.legal_name,
        "campusId": str(demo.ADA.campus_id),
    }
    assert await staff.events(SUSPENDED) == [{**vendor, "reason": "Complaints"}]
    assert await staff.events(REINSTATED) == [vendor]
    rows = await staff.app.fetch("SELECT sequence FROM outbox WHERE subject = $1 ORDER BY position", str(demo.ADA.id))
    assert [row["sequence"] for row in rows] == [1, 2, 3]


async def test_a_suspended_vendor_still_serves_its_open_orders(staff: Staff) -> None:
    await staff.suspend()
    token = (await staff.app.demo_log_in("VENDOR"))["accessToken"]
    caller = await staff.app.runtime.verifier.caller_of(token)
    assert caller.vendor_id == demo.ADA.id
    caller.must_be_allowed("orders:fulfil")


async def test_suspended_twice_is_suspended_once_and_so_is_reinstated(staff: Staff) -> None:
    await asyncio.gather(*(staff.suspend(reason=f"Reason {number}") for number in range(6)))
    again = await staff.suspend(reason="Another reason")
    [events] = await staff.events(SUSPENDED)
    assert (again.status_code, again.json()["data"]["suspensionReason"]) == (200, events["reason"])
    responses = await asyncio.gather(*(staff.reinstate() for _ in range(6)))
    assert {response.status_code for response in responses} == {200}
    assert len(await staff.events(REINSTATED)) == 1
    trail = await staff.app.fetch("SELECT act, actor_id, subject_id, detail FROM staff_acts ORDER BY id")
    assert [(row["act"], row["actor_id"], row["subject_id"], row["detail"]["reason"]) for row in trail] == [
        ("suspended", USERS["CAMPUS"].id, demo.ADA.id, events["reason"]),
        ("reinstated", USERS["CAMPUS"].id, demo.ADA.id, None),
    ]


async def test_only_staff_of_the_campus_suspend_and_no_member_their_own(staff: Staff) -> None:
    await staff.app.fetch("DELETE FROM role_grants WHERE user_id = $1", USERS["BUYER2"].id)
    for name, campus in (("BUYER2", demo.IBADAN), ("VENDOR", demo.LAGOS)):
        await staff.app.fetch(
            "INSERT INTO role_grants (user_id, role, campus_id, granted_at) VALUES ($1, 'campus_admin', $2, now())",
            USERS[name].id,
            campus.id,
        )
        staff.tokens[name] = await StaffAdministration(staff.app).token(name)
    state = await staff.state()
    for by in ("BUYER2", "VENDOR", "VENDOR2", "BUYER", "ADMIN"):
        for response in (await staff.suspend(by), await staff.reinstate(by)):
            assert error_of(response) == FORBIDDEN
    assert (await staff.app.post(f"{ADA}/suspend", {"reason": "x"})).status_code == 401
    for body in ({}, {"reason": " "}, {"reason": "x" * 501}, {"reason": "x", "status": "suspended"}):
        assert (await staff.send("POST", f"{ADA}/suspend", body, "CAMPUS")).status_code == 422
    assert (await staff.send("POST", f"/api/vendors/{uuid4()}/suspend", {"reason": "x"}, "CAMPUS")).status_code == 404
    assert await staff.state() == state
    # Hidden and absent vendors are the same 404 for the staff of another campus.
    await staff.suspend()
    assert (await staff.reinstate("BUYER2")).status_code == 404


async def test_a_vendor_is_changed_with_a_second_factor_only(staff: Staff) -> None:
    appointment, state = StaffAdministration(staff.app), await staff.state()
    for name, body in (("VENDOR", {"businessName": "Ada's Place"}), ("ADMIN", {"commissionBasisPoints": 100})):
        token = await appointment.token(name, stepped_up=False)
        response = await staff.app.client.patch(ADA, json=body, headers={"Authorization": f"Bearer {token}"})
        assert error_of(response) == STEP_UP_REQUIRED, name
    assert await staff.state() == state


async def test_the_owner_changes_how_the_shop_shows_itself(staff: Staff) -> None:
    response = await staff.patch({"businessName": "Ada's Place", "description": "Soups", "revision": 1}, "VENDOR")
    assert response.status_code == 200, response.text
    assert (await staff.app.get(ADA)).json()["data"]["businessName"] == "Ada's Place"
    [events] = await staff.events(CHANGED)
    assert (events["businessName"], events["legalName"]) == ("Ada's Place", demo.ADA.legal_name)
    # What owners do with their own is no act of staff.
    assert await staff.app.count("staff_acts") == 0
    state = await staff.state()
    assert (await staff.patch({"businessName": "Ada's Place"}, "VENDOR")).status_code == 200
    for body, by, status in (
        ({"legalName": "Another Name"}, "VENDOR", 422),
        ({"status": "active"}, "VENDOR", 422),
        ({"businessName": None}, "VENDOR", 422),
        ({"description": "x" * 2001}, "VENDOR", 422),
        ({"commissionBasisPoints": 0}, "VENDOR", 403),
        ({"commissionBasisPoints": 0, "businessName": "Free"}, "VENDOR", 403),
        ({"businessName": "Mine"}, "VENDOR2", 403),
        ({"businessName": "Mine"}, "ADMIN", 403),
        ({"businessName": "Mine"}, "CAMPUS", 403),
        ({"commissionBasisPoints": 0}, "BUYER", 403),
        ({"commissionBasisPoints": -1}, "ADMIN", 422),
        ({"commissionBasisPoints": 10_001}, "ADMIN", 422),
        ({"commissionBasisPoints": "5"}, "ADMIN", 422),
        ({"commissionBasisPoints": 2.5}, "ADMIN", 422),
        ({"commissionBasisPoints": True}, "ADMIN", 422),
    ):
        assert (await staff.patch(body, by)).status_code == status, (body, by)
    assert await staff.state() == state


async def test_a_shop_is_absent_until_the_time_it_names(staff: Staff) -> None:
    until = staff.app.clock.now() + timedelta(days=3)
    owner = await StaffAdministration(staff.app).token("VENDOR", stepped_up=False)
    staff.tokens["VENDOR"] = owner
    changed = await staff.patch({"away": {"until": until.isoformat(), "message": " Exams "}}, "VENDOR")
    away = {"until": iso(until), "message": "Exams"}
    assert data_of(changed)["away"] == away
    assert data_of(await staff.app.get(ADA))["away"] == away
    [event] = await staff.events(CHANGED)
    assert (event["absentUntil"], event["absenceMessage"]) == (iso(until), "Exams")
    staff.app.clock.advance(timedelta(days=3))
    assert data_of(await staff.app.get(ADA))["away"] is None


async def test_null_ends_an_absence_at_once(staff: Staff) -> None:
    until = iso(staff.app.clock.now() + timedelta(days=3))
    assert data_of(await staff.patch({"away": {"until": until}}, "VENDOR"))["away"] == {"until": until, "message": None}
    assert data_of(await staff.patch({"away": None}, "VENDOR"))["away"] is None
    events = await staff.events(CHANGED)
    assert [event.get("absentUntil") for event in events] == [until, None]
    vendor = {"vendorId": str(demo.ADA.id), "ownerUserId": str(demo.ADA.owner_user_id)}
    assert await staff.events("identity.vendor_away.v1") == [{**vendor, "until": until}]
    assert await staff.events("identity.vendor_returned.v1") == [vendor]


async def test_the_end_of_an_absence_that_was_over_is_not_published(staff: Staff) -> None:
    until = iso(staff.app.clock.now() + timedelta(minutes=3))
    data_of(await staff.patch({"away": {"until": until}}, "VENDOR"))
    staff.app.clock.advance(timedelta(minutes=3))
    data_of(await staff.patch({"away": None}, "VENDOR"))
    assert await staff.events("identity.vendor_returned.v1") == []


async def test_opening_hours_need_no_step_up_and_other_fields_do(staff: Staff) -> None:
    staff.tokens["VENDOR"] = await StaffAdministration(staff.app).token("VENDOR", stepped_up=False)
    hours = [{"day": "mon", "from": "08:00", "to": "12:30"}, {"day": "sat", "from": "20:00", "to": "24:00"}]
    assert data_of(await staff.patch({"openingHours": hours}, "VENDOR"))["openingHours"] == hours
    assert data_of(await staff.app.get(ADA))["openingHours"] == hours
    assert error_of(await staff.patch({"openingHours": [], "category": "food"}, "VENDOR")) == STEP_UP_REQUIRED
    assert data_of(await staff.app.get(ADA))["openingHours"] == hours


async def test_an_absence_and_hours_without_sense_change_nothing(staff: Staff) -> None:
    state, now = await staff.state(), staff.app.clock.now()
    soon = iso(now + timedelta(days=1))
    for body, by, status in (
        ({"away": {"until": iso(now)}}, "VENDOR", 422),
        ({"away": {"until": iso(now + timedelta(days=400))}}, "VENDOR", 422),
        ({"away": {"until": "2030-01-01T00:00:00"}}, "VENDOR", 422),
        ({"away": {"message": "Exams"}}, "VENDOR", 422),
        ({"away": {"until": soon, "message": "x" * 281}}, "VENDOR", 422),
        ({"openingHours": None}, "VENDOR", 422),
        ({"openingHours": [{"day": "monday", "from": "08:00", "to": "09:00"}]}, "VENDOR", 422),
        ({"openingHours": [{"day": "mon", "from": "09:00", "to": "09:00"}]}, "VENDOR", 422),
        ({"openingHours": [{"day": "mon", "from": "9:00", "to": "10:00"}]}, "VENDOR", 422),
        ({"openingHours": [{"day": "mon", "from": "09:00", "to": "10:00"}] * 29}, "VENDOR", 422),
        ({"away": {"until": soon}}, "VENDOR2", 403),
        ({"away": None}, "ADMIN", 403),
        ({"openingHours": []}, "CAMPUS", 403),
    ):
        assert (await staff.patch(body, by)).status_code == status, (body, by)
    assert await staff.state() == state


async def test_only_owner_and_staff_read_a_vendor_in_full(staff: Staff) -> None:
    for by, more in (("VENDOR", True), ("CAMPUS", True), ("ADMIN", True), ("VENDOR2", False), ("BUYER", False)):
        shown = (await staff.app.get(ADA, token=staff.tokens[by])).json()["data"]
        assert shown.keys() & IN_FULL == (IN_FULL if more else set())


async def test_row_policies_hide_private_vendor_fields_from_unfiltered_queries(staff: Staff) -> None:
    database = staff.app.dependencies.database
    everything = {demo.ADA.id, demo.BOLA.id}
    for caller, seen in (
        (caller_named("VENDOR"), {demo.ADA.id}),
        (caller_named("CAMPUS"), everything),
        (caller_named("ADMIN"), everything),
        (caller_named("AUDITOR"), everything),
        (caller_named("BUYER"), set()),
        (caller_named("SUPPORT"), set()),
        (Caller(), set()),
    ):
        async with database.unit_of_work(acting_as=caller) as uow:
            assert {row["id"] for row in await uow.fetch("SELECT id FROM vendors_in_full")} == seen
    for statement in (
        "UPDATE vendors SET status = 'active'",
        "UPDATE vendors_in_full SET commission_basis_points = 0",
        "DELETE FROM vendors_in_full",
        "SELECT legal_name FROM vendors",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.unit_of_work(acting_as=caller_named("VENDOR")) as uow:
                await uow.execute(statement)


async def test_a_decision_on_a_report_suspends_the_vendor_once(staff: Staff) -> None:
    decided = VendorSuspensionDecided(
        vendor_id=demo.ADA.id, report_id=new_id(), reason="Copies of a brand.", decided_by=USERS["CAMPUS"].id
    )
    await staff.app.receive_twice(decided)
    [event] = await staff.events(SUSPENDED)
    assert event["reason"] == "Copies of a brand."
    shown = data_of(await staff.app.get(ADA, token=staff.tokens["CAMPUS"]))
    assert (shown["status"], shown["suspensionReason"]) == ("suspended", "Copies of a brand.")
    actions = await staff.app.fetch("SELECT actor_id FROM staff_acts WHERE subject_id = $1", demo.ADA.id)
    assert [row["actor_id"] for row in actions] == [USERS["CAMPUS"].id]
