"""Scheduled payouts are requested once for each period, whatever happens to the workers."""

import asyncio
from datetime import timedelta

import pytest

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import VendorSuspended
from payouts.app import SERVICE
from payouts.use_cases.schedules.request_scheduled_payout import request_scheduled_payout
from testkit.responses import STEP_UP_REQUIRED, error_of, invalid_field_of

from .conftest import Scenario
from .steps import DAILY, escrow_refunded, put_schedule, run_schedules, scheduled_payouts, vendor_event


async def schedule_of(scenario: Scenario, vendor):
    headers = scenario.headers(vendor.owner, **vendor.claims())
    return (await scenario.client.get(f"/api/vendors/{vendor.id}/payout-schedule", headers=headers)).json()["data"]


async def test_a_daily_schedule_requests_one_payout_for_each_day_with_money(
    scenario: Scenario, clock: ManualClock
) -> None:
    vendor, weekly = await scenario.ready_vendor(1_000), await scenario.ready_vendor(1_000)
    assert (await put_schedule(scenario, vendor, {**DAILY, "minimumMinor": 100})).json()["data"][
        "nextAt"
    ] == "2026-01-01T05:00:00.000Z"
    # The first of January of 2026 is a Thursday.
    response = (await put_schedule(scenario, weekly, {"frequency": "weekly", "weekday": "wednesday"})).json()["data"]
    assert response["nextAt"] == "2026-01-07T05:00:00.000Z"
    for day in range(60):
        clock.advance(timedelta(hours=4, minutes=59))
        assert await run_schedules(scenario) == 0
        clock.advance(timedelta(minutes=1))
        assert await run_schedules(scenario) == (1 if day % 7 != 6 else 2)
        assert await run_schedules(scenario) == 0
        clock.advance(timedelta(hours=19))
        if day % 2:
            await scenario.release(vendor, 300)
    decided = await scheduled_payouts(scenario, vendor)
    assert [row["outcome"] for row in decided] == ["requested", "skipped"] + ["requested", "skipped"] * 29
    assert {row["reason"] for row in decided} == {None, "below_minimum"}
    assert len({row["period"] for row in decided}) == 60
    assert [row["outcome"] for row in await scheduled_payouts(scenario, weekly)] == ["requested"] + ["skipped"] * 7
    payouts = await scenario.fetch("SELECT * FROM payout_requests WHERE vendor_id = $1 ORDER BY created_at", vendor.id)
    assert [row["amount"] for row in payouts] == [1_000] + [300] * 29
    assert {(row["status"], row["requested_by"]) for row in payouts} == {("pending", vendor.owner)}
    assert (await scenario.wallet(vendor))["availableMinor"] == 300
    assert len(await scenario.published("payouts.payout_requested.v1")) == 31
    latest = (await schedule_of(scenario, vendor))["latest"]
    assert (latest["period"], latest["outcome"], latest["reason"]) == ("2026-03-01", "skipped", "below_minimum")


async def test_concurrent_workers_request_a_scheduled_payout_once(scenario: Scenario, clock: ManualClock) -> None:
    vendors = [await scenario.ready_vendor(1_000) for _ in range(3)]
    for vendor in vendors:
        assert (await put_schedule(scenario, vendor, DAILY)).status_code == 200
    clock.advance(timedelta(days=1))
    assert sum(await asyncio.gather(*(run_schedules(scenario) for _ in range(4)))) == 3
    for vendor in vendors:
        assert [row["outcome"] for row in await scheduled_payouts(scenario, vendor)] == ["requested"]
        wallet = await scenario.wallet(vendor)
        assert (wallet["availableMinor"], wallet["inTransitMinor"]) == (0, 1_000)


async def test_a_period_whose_worker_died_is_decided_by_the_next_worker(scenario: Scenario, clock: ManualClock) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await put_schedule(scenario, vendor, DAILY)
    clock.advance(timedelta(days=1))

    class Died(Exception):
        pass

    with pytest.raises(Died):
        async with scenario.unit_of_work() as uow:
            assert await request_scheduled_payout(uow, 1, clock.now())
            raise Died
    assert (await scheduled_payouts(scenario, vendor), await scenario.published("payouts.payout_requested.v1")) == (
        [],
        [],
    )
    assert (await scenario.wallet(vendor))["availableMinor"] == 1_000
    assert await run_schedules(scenario) == 1
    assert [row["outcome"] for row in await scheduled_payouts(scenario, vendor)] == ["requested"]


async def test_a_week_of_downtime_requests_one_payout(scenario: Scenario, clock: ManualClock) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await put_schedule(scenario, vendor, DAILY)
    clock.advance(timedelta(days=7, hours=7))
    [timer] = [loop for loop in SERVICE.loops(scenario.dependencies) if loop.name == "request-scheduled-payouts"]
    assert await timer.run_once() == 1
    [decided] = await scheduled_payouts(scenario, vendor)
    assert (str(decided["period"]), decided["outcome"]) == ("2026-01-08", "requested")
    assert (await schedule_of(scenario, vendor))["nextAt"] == "2026-01-09T05:00:00.000Z"


async def test_a_schedule_set_again_keeps_each_due_day_once(scenario: Scenario, clock: ManualClock) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await put_schedule(scenario, vendor, DAILY)
    clock.advance(timedelta(hours=6))
    # Due for an hour, and the worker has not run yet.
    await put_schedule(scenario, vendor, {**DAILY, "minimumMinor": 10})
    assert await run_schedules(scenario) == 1
    await scenario.release(vendor, 500)
    await put_schedule(scenario, vendor, {"frequency": "none"})
    await put_schedule(scenario, vendor, DAILY)
    await scenario.fetch("UPDATE payout_schedules SET due_at = $1 RETURNING 1", clock.now())
    assert await run_schedules(scenario) == 1
    assert [row["available_minor"] for row in await scheduled_payouts(scenario, vendor)] == [1_000]
    assert (await scenario.wallet(vendor))["availableMinor"] == 500
    await put_schedule(scenario, vendor, {"frequency": "none"})
    clock.advance(timedelta(days=9))
    assert await run_schedules(scenario) == 0


async def test_a_skipped_day_records_its_reason(scenario: Scenario, clock: ManualClock) -> None:
    vendor, unverified = await scenario.ready_vendor(1_000), await scenario.vendor()
    await scenario.release(unverified, 1_000)
    for each in (vendor, unverified):
        await put_schedule(scenario, each, DAILY)
    await scenario.payout(vendor, 900)
    await scenario.receive(escrow_refunded(vendor, 300))
    clock.advance(timedelta(days=1))
    assert await run_schedules(scenario) == 2
    await scenario.release(vendor, 1_000)
    await scenario.receive(vendor_event(VendorSuspended, vendor, reason="Complaints"))
    clock.advance(timedelta(days=1))
    assert await run_schedules(scenario, minimum_minor=2_000) == 2
    assert [row["reason"] for row in await scheduled_payouts(scenario, vendor)] == [
        "debt_outstanding",
        "vendor_suspended",
    ]
    assert {row["reason"] for row in await scheduled_payouts(scenario, unverified)} == {"bank_details_unverified"}
    assert await scenario.fetch("SELECT 1 FROM payout_requests WHERE vendor_id = $1", unverified.id) == []
    assert (await scenario.put_bank_details(unverified)).json()["data"]["verified"] is True
    clock.advance(timedelta(days=1))
    await run_schedules(scenario, minimum_minor=2_000)
    assert [row["reason"] for row in await scheduled_payouts(scenario, unverified)][-1] == "below_minimum"


SENSELESS = [
    {},
    {"frequency": "monthly"},
    {"frequency": "weekly"},
    {"frequency": "daily", "weekday": "monday"},
    {"frequency": "none", "weekday": "monday"},
    {"frequency": "weekly", "weekday": "Monday"},
    {"frequency": "daily", "minimumMinor": 0},
    {"frequency": "daily", "minimumMinor": "5"},
    {"frequency": "daily", "dueAt": "2026-01-01T00:00:00Z"},
]


async def test_an_invalid_schedule_is_422(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    for body in SENSELESS:
        assert (await put_schedule(scenario, vendor, body)).status_code == 422, body
    assert (await schedule_of(scenario, vendor))["frequency"] == "none"


async def test_only_the_own_vendor_with_a_second_factor_changes_a_schedule(scenario: Scenario) -> None:
    vendor, other = await scenario.vendor(), await scenario.vendor()
    assert error_of(await put_schedule(scenario, vendor, DAILY, stepped_up=False)) == STEP_UP_REQUIRED
    assert (await put_schedule(scenario, other, DAILY, of=vendor.id)).status_code == 404
    headers = scenario.headers(other.owner, **other.claims())
    response = await scenario.client.get(f"/api/vendors/{vendor.id}/payout-schedule", headers=headers)
    assert response.status_code == 404
    assert (await schedule_of(scenario, vendor)) == {
        "vendorId": str(vendor.id), "frequency": "none", "weekday": None, "minimumMinor": None, "nextAt": None,
        "updatedAt": None, "latest": None,
    }  # fmt: skip
    object.__setattr__(scenario.dependencies.settings, "payout_minimum_minor", 200)
    assert invalid_field_of(await put_schedule(scenario, vendor, {**DAILY, "minimumMinor": 199})) == (
        422,
        "minimumMinor",
    )
    auditor = scenario.headers(new_id(), roles=("auditor",))
    path = "/api/vendors/{}/payout-schedule"
    assert (await scenario.client.get(path.format(vendor.id), headers=auditor)).status_code == 200
    assert (await scenario.client.get(path.format(new_id()), headers=auditor)).status_code == 404


async def test_skipped_periods_are_purged_after_a_year_except_the_latest(
    scenario: Scenario, clock: ManualClock
) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await put_schedule(scenario, vendor, DAILY)
    for _ in range(4):
        clock.advance(timedelta(days=1))
        await run_schedules(scenario)
    assert [row["outcome"] for row in await scheduled_payouts(scenario, vendor)] == [
        "requested",
        "skipped",
        "skipped",
        "skipped",
    ]
    clock.advance(timedelta(days=362))
    assert await scenario.remove_old() == 0
    clock.advance(timedelta(days=2))
    assert await scenario.remove_old() == 2
    assert [row["outcome"] for row in await scheduled_payouts(scenario, vendor)] == ["requested", "skipped"]
    assert (await schedule_of(scenario, vendor))["latest"]["outcome"] == "skipped"
