"""The gateway's fees: covered by the balance before a batch is sent, and posted as the gateway reports them."""

from datetime import timedelta

import pytest

from contracts.payments import TransferSucceeded
from payouts.timers import process_due_transfers_once
from testkit.sandbox import Sandbox

from .conftest import OPENING_BALANCE_MINOR, Scenario

KEY = "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"
OTHER_KEY = "7a1c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"
AMOUNT = 600_000
FEE = 2_500


@pytest.fixture
async def charging(sandbox: Sandbox):
    await sandbox.configure(transfer_fees="standard")
    return sandbox


async def sent(scenario: Scenario):
    vendor = await scenario.ready_vendor(1_000_000)
    payout_id = await scenario.payout(vendor, AMOUNT)
    [transfer] = (await scenario.dispatch(KEY)).json()["data"]["transfers"]
    return payout_id, transfer["reference"]


def success(reference, fee_minor):
    return TransferSucceeded(
        reference=reference, transfer_code="TRF_1", amount_minor=AMOUNT, currency="NGN", status="success",
        gateway_event_id="7", occurred_at="2026-01-01T00:00:00.000Z", fee_minor=fee_minor,
    )  # fmt: skip


async def poll(scenario: Scenario, days):
    dependencies = scenario.dependencies
    scenario.clock.advance(timedelta(days=days, seconds=1))
    await process_due_transfers_once(dependencies.database, dependencies.gateways, scenario.clock)


async def booked(scenario: Scenario):
    return await scenario.balance("transfer_fees"), await scenario.balance("gateway_cash")


async def test_a_fee_is_booked_once_with_the_webhook_that_reports_it(scenario: Scenario, charging) -> None:
    _, reference = await sent(scenario)
    await charging.settle_transfer(reference, "succeed")
    assert await booked(scenario) == (0, 0)
    for sequence in range(3):
        await scenario.receive(success(reference, FEE), sequence=sequence + 1)
    assert await booked(scenario) == (FEE, -AMOUNT - FEE)
    assert await charging.balance_minor() == OPENING_BALANCE_MINOR - AMOUNT - FEE


async def test_a_fee_that_no_webhook_reports_is_booked_by_the_later_query(scenario: Scenario, charging) -> None:
    _, reference = await sent(scenario)
    await charging.settle_transfer(reference, "succeed")
    await scenario.receive(success(reference, None))
    assert await booked(scenario) == (0, -AMOUNT)
    await poll(scenario, 1)
    assert await booked(scenario) == (FEE, -AMOUNT - FEE)


async def test_a_reversal_returns_the_fee_that_the_gateway_returned(scenario: Scenario, charging) -> None:
    _, reference = await sent(scenario)
    await charging.settle_transfer(reference, "succeed")
    await scenario.receive(success(reference, FEE))
    await charging.settle_transfer(reference, "reverse")
    await poll(scenario, 1)
    assert await booked(scenario) == (0, -AMOUNT)
    # A late webhook of the success does not post it again.
    await scenario.receive(success(reference, FEE), sequence=9)
    assert await booked(scenario) == (0, -AMOUNT)


async def test_a_batch_whose_fees_are_not_covered_is_stopped(scenario: Scenario, charging) -> None:
    vendor = await scenario.ready_vendor(2 * OPENING_BALANCE_MINOR)
    await scenario.payout(vendor, OPENING_BALANCE_MINOR - 4_999)
    stopped = (await scenario.dispatch(KEY)).json()["data"]
    assert [line["reason"] for line in stopped["skipped"]] == ["balance_insufficient"]
    [exception] = await scenario.fetch("SELECT cause, detail FROM payout_exceptions")
    assert exception["cause"] == "balance_insufficient"
    assert "fees of 5000 kobo" in exception["detail"]
    assert await charging.transfers() == []


async def test_a_payout_below_the_gateways_minimum_is_refused(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(100_000)
    object.__setattr__(scenario.dependencies.gateway, "transfer_minimum_minor", 10_000)
    refused = await scenario.request_payout(vendor, 9_999)
    assert refused.status_code == 422
    assert "10000 kobo" in refused.text
    assert (await scenario.request_payout(vendor, 10_000)).status_code == 201
