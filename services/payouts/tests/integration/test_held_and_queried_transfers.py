"""Held attempts, and transfers whose webhook is lost."""

import asyncio
from datetime import timedelta

import pytest

from payouts.domain.dispatch import LEASE
from payouts.timers import process_due_transfers_once
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .dispatch_steps import (
    KEY,
    OTHER_KEY,
    MortalDatabase,
    assert_paid_once,
    dispatch_until_death,
    hold,
    recover,
    recover_in_another_process,
)
from .steps import run_worker_once


async def release_hold(scenario: Scenario, vendor):
    await scenario.fetch("UPDATE vendor_bank_details SET verified = true WHERE vendor_id = $1", vendor.id)
    await scenario.fetch("UPDATE vendors SET suspended = false WHERE id = $1", vendor.id)


@pytest.mark.parametrize("by", ["vendor_suspended", "bank_details_changed"])
async def test_a_reserved_attempt_that_is_held_is_sent_by_a_later_dispatch(
    scenario: Scenario, immediate: Sandbox, by: str
) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    # Dies after the attempt is reserved, and before its submission: find, plan, unsent.
    assert not await dispatch_until_death(scenario, database=MortalDatabase(scenario.database, 3))
    reference = (await scenario.read_payout(payout_id))["transfer"]["reference"]
    await hold(scenario, vendor, by)
    await recover(scenario)
    assert await immediate.transfers() == []
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("pending", "reserved")
    opened = payout["openException"] and payout["openException"]["cause"]
    assert opened == (by if by == "bank_details_changed" else None)
    [line] = await scenario.fetch("SELECT outcome, reason FROM dispatch_lines")
    assert tuple(line) == ("skipped", by)
    again = (await scenario.dispatch(OTHER_KEY)).json()["data"]
    assert again["skipped"] == [{"payoutId": payout_id, "reason": by}]
    await release_hold(scenario, vendor)
    await recover(scenario)
    assert await immediate.transfers() == []
    sent = (await scenario.dispatch("8b1c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")).json()["data"]
    assert [transfer["reference"] for transfer in sent["transfers"]] == [reference]
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


async def test_an_unaccepted_transfer_is_not_sent_again_to_a_suspended_vendor(
    scenario: Scenario, immediate: Sandbox
) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await immediate.faults(transfer_call={"error_before": True, "times": 1})
    await scenario.dispatch(KEY)
    await hold(scenario, vendor, "vendor_suspended")
    await recover(scenario)
    payout = await scenario.read_payout(payout_id)
    assert (payout["transfer"]["status"], payout["openException"]["cause"]) == ("unknown", "unclassified")
    assert await immediate.transfers() == []
    await release_hold(scenario, vendor)
    scenario.clock.advance(timedelta(hours=1))
    await recover(scenario)
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


async def test_a_transfer_with_a_lost_webhook_is_queried(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await scenario.dispatch(KEY)
    reference = (await scenario.read_payout(payout_id))["transferReference"]
    await recover(scenario)
    assert (await scenario.read_payout(payout_id))["transfer"]["status"] == "pending"
    await sandbox.settle_transfer(reference, "succeed")
    scenario.clock.advance(timedelta(hours=1))
    await recover(scenario)
    await assert_paid_once(scenario, sandbox, payout_id, 1_000)


@pytest.mark.parametrize(("days", "rounds"), [(1, 1), (7, 2)])
async def test_a_reversal_with_a_lost_webhook_is_found_by_a_later_query(
    scenario: Scenario, immediate: Sandbox, days: int, rounds: int
) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await scenario.dispatch(KEY)
    reference = (await scenario.read_payout(payout_id))["transferReference"]
    if rounds == 2:
        scenario.clock.advance(timedelta(days=1))
        await run_worker_once(scenario)
    await immediate.settle_transfer(reference, "reverse")
    scenario.clock.advance(timedelta(days=days - (rounds - 1)) - timedelta(minutes=1))
    await run_worker_once(scenario)
    assert (await scenario.read_payout(payout_id))["openException"] is None
    scenario.clock.advance(timedelta(minutes=1))
    await run_worker_once(scenario)
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "reversed")
    assert payout["openException"]["cause"] == "reversed"


async def test_a_paid_transfer_is_not_queried_after_a_week(scenario: Scenario, immediate: Sandbox) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await scenario.dispatch(KEY)
    for days in (1, 6):
        scenario.clock.advance(timedelta(days=days))
        await run_worker_once(scenario)
    assert (await scenario.read_payout(payout_id))["openException"] is None
    assert await scenario.fetch("SELECT id FROM payout_transfers WHERE due_at IS NOT NULL") == []
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


async def test_concurrent_workers_claim_a_due_transfer_once(scenario: Scenario, immediate: Sandbox) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payouts = [await scenario.payout(vendor, 1_000) for _ in range(3)]
    await dispatch_until_death(scenario, database=MortalDatabase(scenario.database, 5))
    scenario.clock.advance(LEASE + timedelta(seconds=1))
    dependencies = scenario.dependencies
    await asyncio.gather(
        *(process_due_transfers_once(dependencies.database, dependencies.gateways, scenario.clock) for _ in range(4))
    )
    await recover_in_another_process(scenario, "a new key")
    assert {(await scenario.read_payout(payout_id))["status"] for payout_id in payouts} == {"processed"}
    assert len(await immediate.transfers()) == 3
