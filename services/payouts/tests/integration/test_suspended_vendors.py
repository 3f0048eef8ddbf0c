"""A suspended vendor's payouts are held until it is reinstated (contract section 10)."""

from uuid import UUID

import pytest

from common.primitives.ids import new_id
from contracts.identity import VendorApproved, VendorChanged, VendorReinstated, VendorSuspended
from testkit.responses import CONFLICT, error_of
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .steps import vendor_event

KEYS = [UUID(f"6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f{number:02x}") for number in range(4)]


async def suspend(scenario: Scenario, vendor, **delivery):
    return await scenario.receive(vendor_event(VendorSuspended, vendor, reason="Complaints"), **delivery)


async def reinstate(scenario: Scenario, vendor, **delivery):
    return await scenario.receive(vendor_event(VendorReinstated, vendor), **delivery)


async def is_suspended(scenario: Scenario, vendor):
    [row] = await scenario.fetch("SELECT suspended FROM vendors WHERE id = $1", vendor.id)
    return row["suspended"]


async def test_a_suspended_vendors_payouts_are_neither_requested_nor_sent(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor, other = await scenario.ready_vendor(1_000), await scenario.ready_vendor(1_000)
    held, sent = await scenario.payout(vendor, 400), await scenario.payout(other, 300)
    await suspend(scenario, vendor)
    refused = await scenario.request_payout(vendor, 100)
    assert error_of(refused) == CONFLICT
    assert "suspended" in refused.json()["detail"]
    assert (await scenario.wallet(vendor))["availableMinor"] == 600
    assert len(await scenario.published("payouts.payout_requested.v1")) == 2
    batch = (await scenario.dispatch(KEYS[0])).json()["data"]
    assert [transfer["payoutId"] for transfer in batch["transfers"]] == [sent]
    assert batch["skipped"] == [{"payoutId": held, "reason": "vendor_suspended"}]
    named = (await scenario.dispatch(KEYS[1], payoutIds=[held])).json()["data"]
    assert (named["submitted"], named["skipped"]) == (0, [{"payoutId": held, "reason": "vendor_suspended"}])
    assert len(await sandbox.transfers()) == 1
    await reinstate(scenario, vendor)
    assert (await scenario.request_payout(vendor, 100)).status_code == 201
    assert (await scenario.dispatch(KEYS[2], payoutIds=[held])).json()["data"]["submitted"] == 1


@pytest.mark.parametrize("order", [(2, 3), (3, 2)])
async def test_the_event_with_the_higher_sequence_decides_a_suspension(scenario: Scenario, order) -> None:
    vendor = await scenario.vendor()
    updates = {2: suspend, 3: reinstate}
    for sequence in order:
        await updates[sequence](scenario, vendor, sequence=sequence)
    assert await is_suspended(scenario, vendor) is False
    await suspend(scenario, vendor, sequence=4)
    assert await is_suspended(scenario, vendor) is True


async def test_a_changed_name_neither_ends_a_suspension_nor_makes_it_stale(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    await scenario.receive(vendor_event(VendorChanged, vendor), sequence=3)
    await suspend(scenario, vendor, sequence=2)
    assert await is_suspended(scenario, vendor) is True
    await scenario.receive(vendor_event(VendorChanged, vendor), sequence=4)
    assert await is_suspended(scenario, vendor) is True


async def test_a_suspension_before_the_approval_keeps_its_effect(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    unknown = type(vendor)(new_id(), new_id())
    await suspend(scenario, unknown, sequence=2)
    await scenario.receive(vendor_event(VendorApproved, unknown), sequence=1)
    assert await is_suspended(scenario, unknown) is True


async def test_a_suspension_delivered_again_after_the_reinstatement_changes_nothing(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    first = await suspend(scenario, vendor, sequence=2)
    await reinstate(scenario, vendor, sequence=3)
    await suspend(scenario, vendor, sequence=2, event_id=first.event_id)
    assert await is_suspended(scenario, vendor) is False
