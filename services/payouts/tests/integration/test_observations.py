"""The rate of failing payouts, and bank outages: observed, alerted once, cleared."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from contracts.payments import TransferFailed, TransferSucceeded
from payouts.domain.failure_rate import FailureRatePolicy
from payouts.metrics import PAYOUT_FAILURE_RATE
from payouts.timers import check_failures_once

from .conftest import Scenario, released
from .steps import receive_update, sent_payouts

PATH = "/api/payout-exceptions/observations"
SWITCH = "Issuer or switch inoperative"


@pytest.fixture
async def scenario(shared_scenario: Scenario):
    """Two days later than any earlier observation, and quiet since."""
    shared_scenario.clock.advance(timedelta(days=2))
    for _ in range(2):
        await check_failures(shared_scenario)
        shared_scenario.clock.advance(timedelta(minutes=10))
    return shared_scenario


async def observed(scenario, role="ops_oncall"):
    headers = scenario.headers(scenario.operator_id, roles=(role,))
    return await scenario.client.get(PATH, headers=headers)


async def check_failures(scenario, *, attempts_min=1, workers=1):
    watch = FailureRatePolicy(timedelta(hours=1), attempts_min, timedelta(minutes=10))
    database = scenario.database
    await asyncio.gather(*(check_failures_once(database, "paystack", scenario.clock, watch) for _ in range(workers)))


async def alerts(scenario, kind, prefix):
    events = await scenario.published(f"operations.alert_{kind}.v1")
    return [event for event in events if event["dedupKey"].startswith(prefix)]


async def test_attempts_and_failures_of_the_window_are_counted_by_severity_and_cause(scenario) -> None:
    empty = (await observed(scenario)).json()["data"]
    assert empty["bySeverity"] == {"SEV-1": 0, "SEV-2": 0, "SEV-3": 0}
    assert set(empty["byCause"].values()) == {0}
    assert (empty["windowSeconds"], empty["attempts"], empty["failures"], empty["failureRate"]) == (3600, 0, 0, 0.0)
    early, late, good, _ = await sent_payouts(scenario, 4)
    await early.receive(TransferFailed)
    await good.receive(TransferSucceeded)
    for role in ("ops_oncall", "auditor", "finance_maker", "finance_checker"):
        seen = (await observed(scenario, role)).json()["data"]
        assert (seen["attempts"], seen["failures"], seen["failureRate"], seen["alerting"]) == (4, 1, 0.25, True)
    assert (await observed(scenario, "merchant")).status_code == 403
    scenario.clock.advance(timedelta(minutes=60))
    # An attempt of an hour ago is outside the window, until it fails now.
    await late.receive(TransferFailed, reason="Your balance is not enough to fulfil this request")
    seen = (await observed(scenario)).json()["data"]
    assert (seen["attempts"], seen["failures"], seen["failureRate"]) == (1, 1, 1.0)
    assert (seen["bySeverity"]["SEV-1"], seen["byCause"]["balance_insufficient"]) == (1, 1)
    assert sum(seen["bySeverity"].values()) == sum(seen["byCause"].values()) == 1


async def test_a_high_failure_rate_is_alerted_once_by_all_workers(scenario) -> None:
    before = [len(await alerts(scenario, kind, "payout-failure-rate")) for kind in ("raised", "cleared")]

    async def counted():
        found = [len(await alerts(scenario, kind, "payout-failure-rate")) for kind in ("raised", "cleared")]
        return [now - then for now, then in zip(found, before, strict=True)]

    [attempt, _] = await sent_payouts(scenario, 2)
    await check_failures(scenario)
    assert await counted() == [0, 0]
    await attempt.receive(TransferFailed)
    await check_failures(scenario, attempts_min=3)
    assert await counted() == [0, 0]
    await check_failures(scenario, workers=4)
    await check_failures(scenario, workers=4)
    assert await counted() == [1, 0]
    assert [sample.value for metric in PAYOUT_FAILURE_RATE.collect() for sample in metric.samples] == [0.5]
    alert = (await alerts(scenario, "raised", "payout-failure-rate"))[-1]
    assert (alert["severity"], alert["detail"].startswith("1 of 2 attempts")) == ("SEV-2", True)
    scenario.clock.advance(timedelta(minutes=61))
    await check_failures(scenario)
    scenario.clock.advance(timedelta(minutes=9))
    await check_failures(scenario)
    assert (await observed(scenario)).json()["data"]["alerting"] is True
    scenario.clock.advance(timedelta(minutes=1))
    await check_failures(scenario, workers=4)
    assert await counted() == [1, 1]
    assert (await observed(scenario)).json()["data"]["alerting"] is False


async def test_several_failures_at_one_banks_switch_are_one_alert(scenario) -> None:
    prefix = "payout-bank-switch:058"
    attempts = await sent_payouts(scenario, 5)
    for attempt in attempts[:2]:
        await attempt.receive(TransferFailed, reason=SWITCH)
    await check_failures(scenario)
    assert await alerts(scenario, "raised", prefix) == []
    # Those of a quarter of an hour ago count no more.
    scenario.clock.advance(timedelta(minutes=15))
    for attempt in attempts[2:4]:
        await attempt.receive(TransferFailed, reason=SWITCH)
    await check_failures(scenario)
    assert await alerts(scenario, "raised", prefix) == []
    await attempts[4].receive(TransferFailed, reason="Request timed out")
    await check_failures(scenario, workers=4)
    await check_failures(scenario)
    [alert] = await alerts(scenario, "raised", prefix)
    assert (alert["severity"], alert["subject"]) == ("SEV-1", "058")
    for attempt in attempts:
        await attempt.receive(TransferSucceeded)
        await check_failures(scenario)
        assert await alerts(scenario, "cleared", prefix) == []
        await receive_update(scenario, attempt.reference, "query", "success")
    await check_failures(scenario, workers=4)
    assert len(await alerts(scenario, "cleared", prefix)) == 1


async def test_a_batch_above_the_balance_is_one_failed_attempt(scenario) -> None:
    [good, _] = await sent_payouts(scenario, 2)
    await good.receive(TransferSucceeded)
    vendor = await scenario.ready_vendor(5_000_000_000)
    waiting = [await scenario.payout(vendor, 2_000_000_000) for _ in range(2)]
    batch = (await scenario.dispatch(uuid4(), payoutIds=waiting)).json()["data"]
    assert {line["reason"] for line in batch["skipped"]} == {"balance_insufficient"}
    seen = (await observed(scenario)).json()["data"]
    assert (seen["bySeverity"], seen["byCause"]["balance_insufficient"]) == ({"SEV-1": 1, "SEV-2": 0, "SEV-3": 0}, 1)
    assert (seen["attempts"], seen["failures"]) == (3, 1)
    assert sum(seen["bySeverity"].values()) == sum(seen["byCause"].values()) == seen["failures"]
    # Nothing was attempted since, and the batch has left the window: the rate is that of a quiet hour.
    scenario.clock.advance(timedelta(minutes=61))
    seen = (await observed(scenario)).json()["data"]
    assert (seen["attempts"], seen["failures"], seen["failureRate"]) == (0, 0, 0.0)


async def test_a_held_vendor_is_no_failed_attempt(scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await scenario.app.deliver_unsigned(released(vendor, 500))
    await scenario.dispatch(uuid4(), payoutIds=[await scenario.payout(vendor, 100)])
    seen = (await observed(scenario)).json()["data"]
    assert (seen["bySeverity"]["SEV-1"], seen["byCause"]["credit_not_released"]) == (0, 0)
    assert (seen["attempts"], seen["failures"], seen["failureRate"]) == (0, 0, 0.0)
