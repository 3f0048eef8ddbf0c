"""The gateway rejects our key: one alert, nothing is sent, and no account is reported missing."""

from datetime import timedelta

import pytest

from payouts.domain.dispatch import LEASE
from payouts.timers import observe_balance_once, process_due_transfers_once
from testkit.responses import error_of
from testkit.sandbox import GATEWAY_KEY, Sandbox

from .conftest import OPENING_BALANCE_MINOR, Scenario

DISPATCH_KEY = "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"
OTHER_KEY = "7a1c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"


async def use_keys(sandbox: Sandbox, *keys):
    assert (await sandbox.client.put("/control/gateway-keys", json={"keys": list(keys)})).status_code == 200


@pytest.fixture
async def rejected(sandbox: Sandbox):
    await use_keys(sandbox, "sk_another")
    return sandbox


async def alerts(scenario: Scenario, kind="raised"):
    published = await scenario.published(f"operations.alert_{kind}.v1")
    return [alert for alert in published if alert["dedupKey"] == "payouts:gateway-key:paystack"]


async def work(scenario: Scenario):
    dependencies = scenario.dependencies
    scenario.clock.advance(LEASE + timedelta(seconds=1))
    await scenario.work("payouts.transfers")
    return await process_due_transfers_once(dependencies.database, dependencies.gateways, scenario.clock)


async def observe(scenario: Scenario):
    dependencies = scenario.dependencies
    await observe_balance_once(dependencies.database, dependencies.gateway, scenario.clock)


async def test_bank_details_are_unavailable_and_never_no_such_account(scenario: Scenario, rejected) -> None:
    vendor = await scenario.vendor()
    for _ in range(3):
        assert error_of(await scenario.put_bank_details(vendor)) == (503, "INTERNAL_ERROR")
    assert await scenario.fetch("SELECT id FROM bank_detail_versions") == []
    [alert] = await alerts(scenario)
    assert (alert["severity"], alert["runbook"]) == ("SEV-1", "gateway-key-rejected")


async def test_payouts_pause_until_the_gateway_accepts_the_key(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(100_000)
    payout_id = await scenario.payout(vendor, 10_000)
    await sandbox.faults(transfer_call={"error_before": True, "times": 1})
    await scenario.dispatch(DISPATCH_KEY)
    await use_keys(sandbox, "sk_another")
    await scenario.work("payouts.transfers")
    assert [await work(scenario) for _ in range(8)] == [0] * 8
    # No exception per payout: the fault is the operator's, and its alert is one.
    assert await scenario.fetch("SELECT id FROM payout_exceptions") == []
    assert len(await alerts(scenario)) == 1
    assert error_of(await scenario.dispatch(OTHER_KEY)) == (503, "INTERNAL_ERROR")
    await observe(scenario)
    assert await alerts(scenario, "cleared") == []

    await use_keys(sandbox, GATEWAY_KEY)
    await observe(scenario)
    await observe(scenario)
    assert len(await alerts(scenario, "cleared")) == 1
    assert await work(scenario) == 1
    await sandbox.settle_transfer(await reference_of(scenario, payout_id), "succeed")
    [transfer] = await sandbox.transfers()
    assert (transfer["amount"], transfer["status"]) == (10_000, "success")
    assert await sandbox.balance_minor() == OPENING_BALANCE_MINOR - 10_000


async def reference_of(scenario: Scenario, payout_id):
    return (await scenario.read_payout(payout_id))["transferReference"]


async def test_a_dispatch_with_a_response_ends_the_pause(scenario: Scenario, rejected) -> None:
    vendor = await scenario.vendor()
    await scenario.put_bank_details(vendor)
    assert len(await alerts(scenario)) == 1
    await use_keys(rejected, GATEWAY_KEY)
    assert (await scenario.put_bank_details(vendor)).json()["data"]["verified"] is True
    await scenario.release(vendor, 100_000)
    await scenario.payout(vendor, 10_000)
    assert (await scenario.dispatch(DISPATCH_KEY)).json()["data"]["submitted"] == 1
    assert len(await alerts(scenario, "cleared")) == 1
