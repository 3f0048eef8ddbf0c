"""A vendor gives up a remainder that is smaller than the smallest transfer (decision 46)."""

import asyncio
from datetime import timedelta

import pytest

from common.primitives.ids import new_id
from contracts.identity import ErasureRequested, VendorSuspended
from operations.audit.invariants import INVARIANTS
from payouts.timers import check_releases_once
from testkit.responses import FORBIDDEN, error_of

from .conftest import Scenario

MINIMUM_MINOR = 10_000
REMAINDER_MINOR = 9_999
DISPATCH_KEY = "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"


@pytest.fixture(autouse=True)
def gateway_minimum(scenario: Scenario) -> None:
    """Set the smallest transfer of the real gateway."""
    object.__setattr__(scenario.dependencies.gateway, "transfer_minimum_minor", MINIMUM_MINOR)


async def waive(scenario: Scenario, vendor, amount_minor):
    headers = scenario.headers(vendor.owner, **vendor.claims())
    body = {"amountMinor": amount_minor}
    return await scenario.client.post("/api/wallets/current/waiver", json=body, headers=headers)


async def open_matters(scenario: Scenario, vendor):
    await scenario.receive(ErasureRequested(user_id=vendor.owner, request_id=new_id(), vendor_id=vendor.id))
    return (await scenario.published("payouts.erasure_judged.v1"))[-1].get("openMatters", [])


async def test_a_waived_remainder_ends_the_erasures_last_obligation(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    await scenario.release(vendor, REMAINDER_MINOR)
    assert await open_matters(scenario, vendor) == ["wallet_remainder"]
    assert (await scenario.wallet(vendor))["transferMinimumMinor"] == MINIMUM_MINOR
    response = await waive(scenario, vendor, REMAINDER_MINOR)
    assert (response.status_code, response.json()["data"]["availableMinor"]) == (200, 0)
    line = (await scenario.statement(vendor))[0]
    assert (line["kind"], line["netMinor"], line["balanceMinor"]) == ("waiver", -REMAINDER_MINOR, 0)
    assert await scenario.balance("waived_balances") == -REMAINDER_MINOR
    assert await scenario.balance(f"wallet:{vendor.id}") == 0
    assert await open_matters(scenario, vendor) == []
    async with scenario.connected("admin") as connection:
        for invariant in INVARIANTS:
            if invariant.service == "payouts":
                assert await connection.fetch(invariant.offending) == [], invariant.rule


async def test_a_waiver_keeps_the_wallet_covered_by_its_releases(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(REMAINDER_MINOR)
    assert (await waive(scenario, vendor, REMAINDER_MINOR)).status_code == 200
    await scenario.release(vendor, 50_000)
    scenario.clock.advance(timedelta(days=2))
    await scenario.payout(vendor, 50_000)
    dependencies = scenario.dependencies
    assert await check_releases_once(dependencies.database, scenario.clock) == 1
    assert await scenario.fetch("SELECT 1 FROM payout_exceptions") == []
    assert (await scenario.dispatch(DISPATCH_KEY)).json()["data"]["submitted"] == 1


@pytest.mark.parametrize("amount_minor", [REMAINDER_MINOR - 1, REMAINDER_MINOR + 1])
async def test_a_waiver_names_the_whole_remainder(scenario: Scenario, amount_minor: int) -> None:
    vendor = await scenario.vendor()
    await scenario.release(vendor, REMAINDER_MINOR)
    response = await waive(scenario, vendor, amount_minor)
    assert response.status_code == 422
    assert "the whole remainder, 9999 kobo" in response.json()["detail"]
    assert (await scenario.wallet(vendor))["availableMinor"] == REMAINDER_MINOR


async def test_an_amount_that_a_payout_can_pay_is_never_waived(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    await scenario.release(vendor, MINIMUM_MINOR)
    assert await open_matters(scenario, vendor) == ["wallet_balance"]
    response = await waive(scenario, vendor, MINIMUM_MINOR)
    assert response.status_code == 409
    assert "request one" in response.json()["detail"]


async def test_a_remainder_is_not_waived_while_more_money_may_arrive(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(MINIMUM_MINOR + REMAINDER_MINOR)
    await scenario.payout(vendor, MINIMUM_MINOR)
    await scenario.hold(vendor, 700)
    response = await waive(scenario, vendor, REMAINDER_MINOR)
    assert response.status_code == 409
    assert "wallet_locked, pending_payouts" in response.json()["detail"]
    assert (await scenario.wallet(vendor))["availableMinor"] == REMAINDER_MINOR


async def test_a_suspended_vendor_waives_nothing(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    await scenario.release(vendor, REMAINDER_MINOR)
    names = {"business_name": "Ada's", "legal_name": vendor.legal_name, "reason": "Complaints"}
    suspended = VendorSuspended(vendor_id=vendor.id, owner_user_id=vendor.owner, campus_id=new_id(), **names)
    await scenario.receive(suspended, sequence=9)
    assert (await waive(scenario, vendor, REMAINDER_MINOR)).status_code == 409
    assert (await scenario.wallet(vendor))["availableMinor"] == REMAINDER_MINOR


async def test_no_other_user_waives_a_vendors_remainder(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    await scenario.release(vendor, REMAINDER_MINOR)
    body = {"amountMinor": REMAINDER_MINOR}
    for role in ("finance_maker", "finance_checker", "support_agent"):
        headers = scenario.headers(new_id(), roles=(role,), stepped_up=True)
        response = await scenario.client.post("/api/wallets/current/waiver", json=body, headers=headers)
        assert error_of(response) == FORBIDDEN
    other = await scenario.vendor()
    assert (await waive(scenario, other, REMAINDER_MINOR)).status_code == 422


async def test_of_two_concurrent_waivers_one_is_applied(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    await scenario.release(vendor, REMAINDER_MINOR)
    responses = await asyncio.gather(*(waive(scenario, vendor, REMAINDER_MINOR) for _ in range(2)))
    assert sorted(response.status_code for response in responses) == [200, 422]
    assert await scenario.balance("waived_balances") == -REMAINDER_MINOR
