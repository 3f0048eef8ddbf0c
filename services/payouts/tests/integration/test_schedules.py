"""Payouts that are asked for because their day has come: once for each period, whatever happens to the workers."""

import asyncio
from datetime import timedelta

import pytest

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from contracts.identity import VendorSuspended
from payouts.app import SERVICE
from payouts.timers import request_scheduled_payouts
from payouts.use_cases.schedules.request_scheduled_payout import request_scheduled_payout

from .test_suspended_vendors import news
from .test_wallet import refunded

DAILY = {"frequency": "daily"}


async def put(story, vendor, body, *, stepped_up=True, of=None):
    return await story.service.client.put(
        f"/api/vendors/{of or vendor.id}/payout-schedule",
        json=body,
        headers=story.service.headers(vendor.owner, **vendor.claims(stepped_up=stepped_up)),
    )


async def schedule_of(story, vendor):
    headers = story.service.headers(vendor.owner, **vendor.claims())
    return (await story.service.client.get(f"/api/vendors/{vendor.id}/payout-schedule", headers=headers)).json()["data"]


async def run(story, minimum_minor=1):
    return await request_scheduled_payouts(story.service.runtime.database, minimum_minor, story.clock)


async def decisions(story, vendor):
    return await story.service.fetch("SELECT * FROM scheduled_payouts WHERE vendor_id = $1 ORDER BY period", vendor.id)


async def test_sixty_days_ask_once_for_each_day_that_had_something(story, clock):
    vendor, weekly = await story.ready_vendor(1_000), await story.ready_vendor(1_000)
    assert (await put(story, vendor, {**DAILY, "minimumMinor": 100})).json()["data"][
        "nextAt"
    ] == "2026-01-01T05:00:00.000Z"
    # The first of January of 2026 is a Thursday.
    answer = (await put(story, weekly, {"frequency": "weekly", "weekday": "wednesday"})).json()["data"]
    assert answer["nextAt"] == "2026-01-07T05:00:00.000Z"
    for day in range(60):
        clock.advance(timedelta(hours=4, minutes=59))
        assert await run(story) == 0
        clock.advance(timedelta(minutes=1))
        assert await run(story) == (1 if day % 7 != 6 else 2)
        assert await run(story) == 0
        clock.advance(timedelta(hours=19))
        if day % 2:
            await story.release(vendor, 300)
    decided = await decisions(story, vendor)
    assert [row["outcome"] for row in decided] == ["requested", "skipped"] + ["requested", "skipped"] * 29
    assert {row["reason"] for row in decided} == {None, "below_minimum"}
    assert len({row["period"] for row in decided}) == 60
    assert [row["outcome"] for row in await decisions(story, weekly)] == ["requested"] + ["skipped"] * 7
    payouts = await story.service.fetch(
        "SELECT * FROM payout_requests WHERE vendor_id = $1 ORDER BY created_at", vendor.id
    )
    assert [row["amount"] for row in payouts] == [1_000] + [300] * 29
    assert {(row["status"], row["requested_by"]) for row in payouts} == {("pending", vendor.owner)}
    assert (await story.wallet(vendor))["availableMinor"] == 300
    assert len(await story.service.published("payouts.payout_requested.v1")) == 31
    latest = (await schedule_of(story, vendor))["latest"]
    assert (latest["period"], latest["outcome"], latest["reason"]) == ("2026-03-01", "skipped", "below_minimum")


async def test_two_workers_at_once_ask_once(story, clock):
    vendors = [await story.ready_vendor(1_000) for _ in range(3)]
    for vendor in vendors:
        assert (await put(story, vendor, DAILY)).status_code == 200
    clock.advance(timedelta(days=1))
    assert sum(await asyncio.gather(*(run(story) for _ in range(4)))) == 3
    for vendor in vendors:
        assert [row["outcome"] for row in await decisions(story, vendor)] == ["requested"]
        wallet = await story.wallet(vendor)
        assert (wallet["availableMinor"], wallet["inTransitMinor"]) == (0, 1_000)


async def test_a_worker_that_dies_before_its_commit_leaves_the_period_to_the_next(story, clock):
    vendor = await story.ready_vendor(1_000)
    await put(story, vendor, DAILY)
    clock.advance(timedelta(days=1))

    class Died(Exception):
        pass

    with pytest.raises(Died):
        async with story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            assert await request_scheduled_payout(uow, 1, clock.now())
            raise Died
    assert (await decisions(story, vendor), await story.service.published("payouts.payout_requested.v1")) == ([], [])
    assert (await story.wallet(vendor))["availableMinor"] == 1_000
    assert await run(story) == 1
    assert [row["outcome"] for row in await decisions(story, vendor)] == ["requested"]


async def test_a_week_of_downtime_asks_once_for_its_last_day(story, clock):
    vendor = await story.ready_vendor(1_000)
    await put(story, vendor, DAILY)
    clock.advance(timedelta(days=7, hours=7))
    [timer] = [loop for loop in SERVICE.loops(story.service.dependencies) if loop.name == "scheduled-payouts"]
    assert await timer.run_once() == 1
    [decided] = await decisions(story, vendor)
    assert (str(decided["period"]), decided["outcome"]) == ("2026-01-08", "requested")
    assert (await schedule_of(story, vendor))["nextAt"] == "2026-01-09T05:00:00.000Z"


async def test_a_schedule_set_again_neither_loses_a_due_day_nor_asks_twice(story, clock):
    vendor = await story.ready_vendor(1_000)
    await put(story, vendor, DAILY)
    clock.advance(timedelta(hours=6))
    # Due since an hour, and the worker has not come by yet.
    await put(story, vendor, {**DAILY, "minimumMinor": 10})
    assert await run(story) == 1
    await story.release(vendor, 500)
    await put(story, vendor, {"frequency": "none"})
    await put(story, vendor, DAILY)
    await story.service.fetch("UPDATE payout_schedules SET due_at = $1 RETURNING 1", clock.now())
    assert await run(story) == 1
    assert [row["available_minor"] for row in await decisions(story, vendor)] == [1_000]
    assert (await story.wallet(vendor))["availableMinor"] == 500
    await put(story, vendor, {"frequency": "none"})
    clock.advance(timedelta(days=9))
    assert await run(story) == 0


async def test_a_day_is_skipped_with_its_reason_and_the_next_one_is_tried_again(story, clock):
    vendor, unverified = await story.ready_vendor(1_000), await story.vendor()
    await story.release(unverified, 1_000)
    for each in (vendor, unverified):
        await put(story, each, DAILY)
    await story.payout(vendor, 900)
    await story.service.hear(refunded(vendor, 300))
    clock.advance(timedelta(days=1))
    assert await run(story) == 2
    await story.release(vendor, 1_000)
    await story.service.hear(news(VendorSuspended, vendor, reason="Complaints"))
    clock.advance(timedelta(days=1))
    assert await run(story, minimum_minor=2_000) == 2
    assert [row["reason"] for row in await decisions(story, vendor)] == ["debt_outstanding", "vendor_suspended"]
    assert {row["reason"] for row in await decisions(story, unverified)} == {"bank_details_unverified"}
    assert await story.service.fetch("SELECT 1 FROM payout_requests WHERE vendor_id = $1", unverified.id) == []
    assert (await story.put_bank_details(unverified)).json()["data"]["verified"] is True
    clock.advance(timedelta(days=1))
    await run(story, minimum_minor=2_000)
    assert [row["reason"] for row in await decisions(story, unverified)][-1] == "below_minimum"


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


async def test_a_schedule_that_makes_no_sense_is_422_and_changes_nothing(story):
    vendor = await story.vendor()
    for body in SENSELESS:
        assert (await put(story, vendor, body)).status_code == 422, body
    assert (await schedule_of(story, vendor))["frequency"] == "none"


async def test_a_schedule_is_its_vendors_alone_and_needs_a_second_factor(story):
    vendor, other = await story.vendor(), await story.vendor()
    refused = await put(story, vendor, DAILY, stepped_up=False)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")
    assert (await put(story, other, DAILY, of=vendor.id)).status_code == 404
    headers = story.service.headers(other.owner, **other.claims())
    answer = await story.service.client.get(f"/api/vendors/{vendor.id}/payout-schedule", headers=headers)
    assert answer.status_code == 404
    assert (await schedule_of(story, vendor)) == {
        "vendorId": str(vendor.id), "frequency": "none", "weekday": None, "minimumMinor": None, "nextAt": None,
        "updatedAt": None, "latest": None,
    }  # fmt: skip
    object.__setattr__(story.service.dependencies.settings, "payout_minimum_minor", 200)
    refused = await put(story, vendor, {**DAILY, "minimumMinor": 199})
    assert (refused.status_code, refused.json()["invalid_params"][0]["name"]) == (422, "minimumMinor")
    auditor = story.service.headers(new_id(), roles=("auditor",))
    path = "/api/vendors/{}/payout-schedule"
    assert (await story.service.client.get(path.format(vendor.id), headers=auditor)).status_code == 200
    assert (await story.service.client.get(path.format(new_id()), headers=auditor)).status_code == 404


async def test_periods_without_a_payout_are_forgotten_after_a_year_but_for_the_latest(story, clock):
    vendor = await story.ready_vendor(1_000)
    await put(story, vendor, DAILY)
    for _ in range(4):
        clock.advance(timedelta(days=1))
        await run(story)
    assert [row["outcome"] for row in await decisions(story, vendor)] == ["requested", "skipped", "skipped", "skipped"]
    clock.advance(timedelta(days=362))
    assert await story.service.remove_old() == 0
    clock.advance(timedelta(days=2))
    assert await story.service.remove_old() == 2
    assert [row["outcome"] for row in await decisions(story, vendor)] == ["requested", "skipped"]
    assert (await schedule_of(story, vendor))["latest"]["outcome"] == "skipped"
