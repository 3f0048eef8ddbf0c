"""The rate of failing payouts, and banks whose switch is down: seen, raised once, cleared."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from contracts.payments import TransferFailed, TransferSucceeded
from payouts.domain.failure_rate import Watch
from payouts.metrics import PAYOUT_FAILURE_RATE
from payouts.timers import watch_payouts

from .conftest import released
from .test_exceptions import hear, sent

PATH = "/api/payout-exceptions/observations"
SWITCH = "Issuer or switch inoperative"


@pytest.fixture
async def story(shared_story):
    """Two days later than whatever was observed before, and quiet since."""
    shared_story.clock.advance(timedelta(days=2))
    for _ in range(2):
        await look(shared_story)
        shared_story.clock.advance(timedelta(minutes=10))
    return shared_story


async def observed(story, role="ops_oncall"):
    headers = story.service.headers(story.staff, roles=(role,))
    return await story.service.client.get(PATH, headers=headers)


async def look(story, *, attempts_min=1, workers=1):
    watch = Watch(timedelta(hours=1), attempts_min, timedelta(minutes=10))
    database = story.service.runtime.database
    await asyncio.gather(*(watch_payouts(database, story.clock, watch) for _ in range(workers)))


async def alerts(story, kind, prefix):
    events = await story.service.published(f"operations.alert_{kind}.v1")
    return [event for event in events if event["dedupKey"].startswith(prefix)]


async def test_attempts_and_failures_of_the_window_are_counted_by_severity_and_cause(story):
    empty = (await observed(story)).json()["data"]
    assert empty["bySeverity"] == {"SEV-1": 0, "SEV-2": 0, "SEV-3": 0}
    assert set(empty["byCause"].values()) == {0}
    assert (empty["windowSeconds"], empty["attempts"], empty["failures"], empty["failureRate"]) == (3600, 0, 0, 0.0)
    early, late, good, _ = await sent(story, 4)
    await early.hear(TransferFailed)
    await good.hear(TransferSucceeded)
    for role in ("ops_oncall", "auditor", "finance_maker", "finance_checker"):
        seen = (await observed(story, role)).json()["data"]
        assert (seen["attempts"], seen["failures"], seen["failureRate"], seen["alerting"]) == (4, 1, 0.25, True)
    assert (await observed(story, "merchant")).status_code == 403
    story.clock.advance(timedelta(minutes=60))
    # What was sent an hour ago is no attempt of this hour any more, until it fails now.
    await late.hear(TransferFailed, reason="Your balance is not enough to fulfil this request")
    seen = (await observed(story)).json()["data"]
    assert (seen["attempts"], seen["failures"], seen["failureRate"]) == (1, 1, 1.0)
    assert (seen["bySeverity"]["SEV-1"], seen["byCause"]["balance_insufficient"]) == (1, 1)
    assert sum(seen["bySeverity"].values()) == sum(seen["byCause"].values()) == 1


async def test_a_high_rate_is_raised_once_by_all_workers_and_cleared_after_a_quiet_time(story):
    before = [len(await alerts(story, kind, "payout-failure-rate")) for kind in ("raised", "cleared")]

    async def counted():
        found = [len(await alerts(story, kind, "payout-failure-rate")) for kind in ("raised", "cleared")]
        return [now - then for now, then in zip(found, before, strict=True)]

    [attempt, _] = await sent(story, 2)
    await look(story)
    assert await counted() == [0, 0]
    await attempt.hear(TransferFailed)
    await look(story, attempts_min=3)
    assert await counted() == [0, 0]
    await look(story, workers=4)
    await look(story, workers=4)
    assert await counted() == [1, 0]
    assert [sample.value for metric in PAYOUT_FAILURE_RATE.collect() for sample in metric.samples] == [0.5]
    alert = (await alerts(story, "raised", "payout-failure-rate"))[-1]
    assert (alert["severity"], alert["detail"].startswith("1 of 2 attempts")) == ("SEV-2", True)
    story.clock.advance(timedelta(minutes=61))
    await look(story)
    story.clock.advance(timedelta(minutes=9))
    await look(story)
    assert (await observed(story)).json()["data"]["alerting"] is True
    story.clock.advance(timedelta(minutes=1))
    await look(story, workers=4)
    assert await counted() == [1, 1]
    assert (await observed(story)).json()["data"]["alerting"] is False


async def test_a_bank_to_which_several_payouts_fail_by_its_switch_is_one_alert(story):
    prefix = "payout-bank-switch:058"
    attempts = await sent(story, 3)
    for attempt in attempts[:2]:
        await attempt.hear(TransferFailed, reason=SWITCH)
    await look(story)
    assert await alerts(story, "raised", prefix) == []
    await attempts[2].hear(TransferFailed, reason="Request timed out")
    await look(story, workers=4)
    await look(story)
    [alert] = await alerts(story, "raised", prefix)
    assert (alert["severity"], alert["subject"]) == ("SEV-1", "058")
    for attempt in attempts:
        await attempt.hear(TransferSucceeded)
        await look(story)
        assert await alerts(story, "cleared", prefix) == []
        await hear(story, attempt.reference, "query", "success")
    await look(story, workers=4)
    assert len(await alerts(story, "cleared", prefix)) == 1


async def test_a_batch_that_a_short_balance_stopped_is_one_failure_of_one_attempt(story):
    [good, _] = await sent(story, 2)
    await good.hear(TransferSucceeded)
    vendor = await story.ready_vendor(5_000_000_000)
    waiting = [await story.payout(vendor, 2_000_000_000) for _ in range(2)]
    batch = (await story.dispatch(uuid4(), payoutIds=waiting)).json()["data"]
    assert {line["reason"] for line in batch["skipped"]} == {"balance_insufficient"}
    seen = (await observed(story)).json()["data"]
    assert (seen["bySeverity"], seen["byCause"]["balance_insufficient"]) == ({"SEV-1": 1, "SEV-2": 0, "SEV-3": 0}, 1)
    assert (seen["attempts"], seen["failures"]) == (3, 1)
    assert sum(seen["bySeverity"].values()) == sum(seen["byCause"].values()) == seen["failures"]
    # Nothing was attempted since, and the batch has left the window: the rate is that of a quiet hour again.
    story.clock.advance(timedelta(minutes=61))
    seen = (await observed(story)).json()["data"]
    assert (seen["attempts"], seen["failures"], seen["failureRate"]) == (0, 0, 0.0)


async def test_a_vendor_that_is_held_as_a_whole_is_no_failure_of_an_attempt(story):
    vendor = await story.ready_vendor(1_000)
    await story.service.hear_as_it_is(released(vendor, 500))
    await story.dispatch(uuid4(), payoutIds=[await story.payout(vendor, 100)])
    seen = (await observed(story)).json()["data"]
    assert (seen["bySeverity"]["SEV-1"], seen["byCause"]["credit_not_released"]) == (0, 0)
    assert (seen["attempts"], seen["failures"], seen["failureRate"]) == (0, 0, 0.0)
