"""The day when money reaches the bank, on payouts and wallets."""

from datetime import timedelta
from uuid import uuid4

import pytest

from common.primitives.clock import ManualClock
from testkit.responses import data_of
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import Staff
from .steps import DAILY, put_schedule

# The clock starts on Thursday, 1 January 2026, a holiday; banks work again on Friday and Monday.
FRIDAY, MONDAY, TUESDAY = "2026-01-02", "2026-01-05", "2026-01-06"


def on(day: str) -> dict[str, str | None]:
    return {"day": day, "obstacle": None}


def held_by(obstacle: str) -> dict[str, str | None]:
    return {"day": None, "obstacle": obstacle}


@pytest.fixture
def staff(scenario: Scenario, sandbox: Sandbox) -> Staff:
    return Staff(scenario, sandbox)


async def own_payouts(scenario: Scenario, vendor) -> dict[str, dict]:
    headers = scenario.headers(vendor.owner, **vendor.claims())
    return {row["id"]: row["arrival"] for row in data_of(await scenario.client.get("/api/payouts", headers=headers))}


async def test_a_payout_arrives_two_bank_days_after_its_request(scenario: Scenario, clock: ManualClock) -> None:
    # Bank details cool for a day; the request is of the next one.
    vendor = await scenario.ready_vendor(30_000)
    clock.advance(timedelta(days=1))
    requested = data_of(await scenario.request_payout(vendor, 10_000), 201)
    assert requested["arrival"] == on(TUESDAY)
    assert await own_payouts(scenario, vendor) == {requested["id"]: on(TUESDAY)}
    data_of(await scenario.dispatch(uuid4()))
    assert (await scenario.read_payout(requested["id"]))["arrival"] == on(MONDAY)
    clock.advance(timedelta(days=4))
    assert (await scenario.read_payout(requested["id"]))["arrival"] == held_by("overdue")


async def test_a_held_payout_has_no_day_until_its_release(scenario: Scenario, staff: Staff, clock: ManualClock) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 10_000)
    body = {"reason": "the bank asked for a document"}
    held = data_of(await staff.post(f"/api/payouts/{payout_id}/hold", staff.maker, "finance_maker", body))
    assert held["arrival"] == held_by("held")
    assert await own_payouts(scenario, vendor) == {payout_id: held_by("held")}
    clock.advance(timedelta(days=4))
    released = data_of(await staff.post(f"/api/payouts/{payout_id}/release", staff.maker, "finance_maker", body))
    assert released["arrival"] == on("2026-01-07")


async def test_an_ended_payout_has_no_arrival(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 10_000)
    headers = scenario.headers(vendor.owner, **vendor.claims())
    assert data_of(await scenario.client.post(f"/api/payouts/{payout_id}/cancel", headers=headers))["arrival"] is None


async def test_a_wallet_shows_when_its_available_money_arrives(scenario: Scenario, clock: ManualClock) -> None:
    vendor = await scenario.vendor()
    assert (await scenario.wallet(vendor))["arrival"] is None
    await scenario.release(vendor, 10_000)
    assert (await scenario.wallet(vendor))["arrival"] == held_by("bank_details_unverified")
    ready = await scenario.ready_vendor(10_000)
    clock.advance(timedelta(days=1))
    assert (await scenario.wallet(ready))["arrival"] == on(TUESDAY)
    # The schedule requests it on Wednesday.
    await put_schedule(scenario, ready, {"frequency": "weekly", "weekday": "wednesday"})
    assert (await scenario.wallet(ready))["arrival"] == on("2026-01-09")
    await put_schedule(scenario, ready, {**DAILY, "minimumMinor": 10_001})
    assert (await scenario.wallet(ready))["arrival"] == held_by("below_minimum")
    headers = scenario.maker()
    shown = data_of(await scenario.client.get(f"/api/vendors/{ready.id}/wallet", headers=headers))
    assert shown["arrival"] == held_by("below_minimum")
