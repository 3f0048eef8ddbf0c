from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from common.primitives.ids import new_id
from payouts.domain.attempts import (
    CallHistory,
    check_submission,
    may_arrive,
    may_start_call,
    should_resubmit,
    status_when_claimed,
    stays_unknown,
    step_when_due,
    update_after_call,
    update_after_contradiction,
    update_after_query,
    update_while_held,
)
from payouts.domain.dispatch import LOST_CALL, SEND_FOR_SECONDS, next_poll, poll_backoff
from payouts.domain.gateway_results import Absent, Refused, Reported, Unclear
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate
from payouts.domain.transitions import STATES, is_allowed
from payouts.routes.payouts import DISPATCH_SECONDS_MAX
from payouts.settings import Settings

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def transfer(status: str = "submitting", poll_count: int = 0, leased: bool = True, **known: Any) -> LockedTransfer:
    ids = (new_id(), new_id(), new_id(), new_id())
    return LockedTransfer(*ids, "po-1", status, 1_000, "NGN", "pending", None, poll_count, leased, **known)


FIRST_CALL = CallHistory(0, earlier_at=None)


def reported(status: str) -> Reported:
    return Reported(TransferUpdate("query", status, 1_000, "NGN"))


@pytest.mark.parametrize(
    ("status", "leased", "was", "reason", "decision"),
    [
        ("reserved", True, "reserved", None, "send"),
        ("unknown", True, "unknown", None, "send"),
        ("submitting", True, "reserved", None, "skip"),
        ("success", True, "unknown", None, "skip"),
        ("reserved", False, "reserved", None, "skip"),
        ("reserved", True, "reserved", "vendor_suspended", "hold"),
        ("reserved", True, "reserved", "debt_outstanding", "hold"),
        ("reserved", True, "reserved", "bank_details_changed", "hold"),
        ("reserved", True, "reserved", "not_pending", "hold"),
        ("unknown", True, "unknown", "bank_details_changed", "fail"),
        ("unknown", True, "unknown", "vendor_suspended", "wait"),
        ("unknown", True, "unknown", "debt_outstanding", "wait"),
    ],
)
def test_a_submission_is_decided_by_status_lease_and_hold_reason(
    status: str, leased: bool, was: str, reason: str | None, decision: str
) -> None:
    assert check_submission(transfer(status, leased=leased), was, reason, NOW) == decision


@pytest.mark.parametrize(
    ("called_ago", "decision"),
    [(timedelta(0), "wait"), (LOST_CALL - timedelta(seconds=1), "wait"), (LOST_CALL, "fail")],
)
def test_an_attempt_does_not_fail_while_a_call_may_still_arrive(called_ago, decision: str) -> None:
    unknown = transfer("unknown", called_at=NOW - called_ago)
    assert check_submission(unknown, "unknown", "bank_details_changed", NOW) == decision
    assert check_submission(unknown, "unknown", "vendor_suspended", NOW) == "wait"
    assert check_submission(unknown, "unknown", None, NOW) == "send"


@pytest.mark.parametrize(("poll_count", "wait"), [(0, timedelta(seconds=15)), (8, timedelta(minutes=5))])
def test_a_held_attempt_is_polled_when_no_call_can_arrive_any_more(poll_count: int, wait) -> None:
    called_at = NOW - LOST_CALL + timedelta(minutes=5)
    assert (
        update_while_held(transfer("unknown", poll_count, called_at=called_at), "bank_details_changed", NOW).poll_at
        == NOW + wait
    )


@pytest.mark.parametrize(
    ("called_at", "poll_at"),
    [
        # A call of 15 minutes ago can no longer arrive: its end is in the past, and sets no poll.
        (NOW - timedelta(minutes=15), NOW + timedelta(hours=1)),
        (NOW - timedelta(minutes=14, seconds=50), NOW + timedelta(seconds=10)),
        (None, NOW + timedelta(hours=1)),
    ],
)
def test_a_held_attempt_is_never_polled_in_the_past(called_at: datetime | None, poll_at: datetime) -> None:
    after = update_while_held(transfer("unknown", 8, called_at=called_at), "vendor_suspended", NOW)
    assert after.poll_at == poll_at


def test_the_fifth_poll_of_a_held_attempt_opens_an_exception_with_the_hold_reason() -> None:
    opened = [update_while_held(transfer("unknown", polls), "vendor_suspended", NOW) for polls in range(6)]
    assert [after.opens for after in opened] == [None] * 4 + ["unclassified"] * 2
    assert all("vendor_suspended" in after.reason for after in opened)


def test_a_call_without_an_end_may_arrive_until_fifteen_minutes_after_its_start() -> None:
    assert may_arrive(NOW, NOW)
    assert may_arrive(NOW, NOW + timedelta(minutes=14, seconds=59))
    assert not may_arrive(NOW, NOW + timedelta(minutes=15))
    assert not may_arrive(None, NOW)


def test_a_rejection_counts_only_when_no_earlier_call_can_arrive_any_more() -> None:
    refused, earlier_at = Refused("no such bank"), NOW - LOST_CALL + timedelta(seconds=1)
    calls = CallHistory(2, earlier_at, refused=True, confirmed_at=NOW)
    early = update_after_call(transfer(submissions=2, called_at=NOW), refused, calls, NOW + timedelta(minutes=1))
    # The time of the query counts, however late it is recorded; and this call, being refused, is over.
    assert (early.update, early.is_unknown, early.poll_now) == (None, True, False)
    assert (early.poll_at, early.called_at) == (earlier_at + LOST_CALL, earlier_at)
    later = replace(calls, confirmed_at=NOW + timedelta(seconds=1))
    assert (
        update_after_call(transfer(submissions=2), refused, later, NOW + timedelta(seconds=1)).update.status == "failed"
    )
    # It is unknown whether the gateway has it: this call is over, the earlier one is not.
    unclear = update_after_call(transfer(submissions=2, called_at=NOW), Unclear("timeout"), calls, NOW)
    assert (unclear.called_at, unclear.poll_now) == (earlier_at, True)


def test_a_replaced_call_decides_nothing() -> None:
    overtaken = transfer(submissions=2, called_at=NOW)
    for response in (Refused("no such bank"), Unclear("timeout")):
        assert update_after_call(overtaken, response, CallHistory(1, None, refused=True, confirmed_at=NOW), NOW) is None
    assert update_after_call(overtaken, reported("pending"), CallHistory(1, None), NOW).update.status == "pending"


def test_no_call_starts_after_the_lease_of_ninety_seconds() -> None:
    assert may_start_call(NOW - timedelta(seconds=89), NOW)
    assert not may_start_call(NOW - timedelta(seconds=90), NOW)


def test_an_ended_transfer_is_polled_after_a_day_and_a_week() -> None:
    day, polls, at = timedelta(days=1), [], NOW
    while (poll := next_poll(NOW, at)) is not None:
        polls.append(poll)
        at = poll
    assert polls == [NOW + day, NOW + 7 * day]
    assert next_poll(NOW, NOW + 3 * day) == NOW + 7 * day
    ended = transfer("success", ended_at=NOW)
    for status in ("success", "failed", "reversed"):
        assert update_after_query(ended, reported(status), NOW + 2 * day).poll_at == NOW + 7 * day
        assert update_after_query(ended, reported(status), NOW + 7 * day).poll_at is None
    assert update_after_query(ended, Unclear("timeout"), NOW + 2 * day).opens is None


def test_a_claimed_submission_becomes_unknown() -> None:
    assert [status_when_claimed(status) for status in ("reserved", "submitting", "pending")] == [
        "reserved",
        "unknown",
        "pending",
    ]


def test_only_a_reserved_attempt_is_submitted_when_due_and_any_other_is_queried() -> None:
    assert [state for state in STATES if step_when_due(state) == "submit"] == ["reserved"]
    assert [state for state in STATES if step_when_due(state) == "query"] == [s for s in STATES if s != "reserved"]


@pytest.mark.parametrize(("poll_count", "seconds"), [(0, 15), (1, 30), (2, 60), (7, 1920), (8, 3600), (50, 3600)])
def test_an_open_attempt_is_queried_less_and_less_often(poll_count: int, seconds: int) -> None:
    due_at = NOW + timedelta(seconds=seconds)
    for result in (Unclear("timeout"), Absent()):
        assert update_after_query(transfer("unknown", poll_count), result, NOW).poll_at == due_at
    # A transfer under way has a webhook too: it is not queried before ten minutes.
    under_way = update_after_query(transfer("pending", poll_count), reported("pending"), NOW)
    assert under_way.poll_at == max(due_at, NOW + timedelta(minutes=10))


def test_an_accepted_transfer_that_the_gateway_no_longer_has_opens_an_exception() -> None:
    after = update_after_query(transfer("pending"), Absent(), NOW)
    assert (after.update, after.is_unknown, after.opens) == (None, False, "unclassified")


def test_a_response_that_contradicts_the_ledger_keeps_a_submitting_attempt_unknown() -> None:
    assert [state for state in STATES if stays_unknown(state, "contradiction")] == ["submitting"]
    assert not any(stays_unknown("submitting", verdict) for verdict in ("advanced", "repeated", "stale", "confirmed"))
    after = update_after_contradiction(transfer(poll_count=3, called_at=NOW), NOW + timedelta(minutes=1))
    assert (after.is_unknown, after.update, after.opens, after.called_at) == (True, None, None, NOW)
    assert after.poll_at == NOW + timedelta(minutes=1, seconds=15)


def test_only_an_unknown_and_absent_transfer_is_sent_again() -> None:
    assert should_resubmit("unknown", Absent())
    assert not should_resubmit("pending", Absent())
    assert not should_resubmit("unknown", Unclear("timeout"))
    assert [is_allowed(status, "queried") for status in ("reserved", "submitting", "unknown", "pending")] == [
        False,
        False,
        True,
        True,
    ]


def test_a_call_without_a_response_is_no_failure() -> None:
    after = update_after_call(transfer(called_at=NOW), Unclear("timeout"), FIRST_CALL, NOW)
    assert (after.is_unknown, after.update, after.poll_at) == (True, None, NOW + poll_backoff(0))
    assert (after.poll_now, after.called_at) == (True, NOW)


def test_a_rejection_fails_and_a_pending_transfer_is_polled() -> None:
    refused = update_after_call(transfer(), Refused("no such bank"), FIRST_CALL, NOW)
    assert refused.update is not None
    assert (refused.update.status, refused.update.reason, refused.poll_at) == ("failed", "no such bank", None)
    assert not refused.is_unknown
    assert update_after_call(transfer(), reported("pending"), FIRST_CALL, NOW).poll_at == NOW + timedelta(minutes=10)
    assert update_after_call(transfer(), reported("success"), FIRST_CALL, NOW).poll_at == NOW + timedelta(days=1)
    assert update_after_call(transfer(), reported("failed"), FIRST_CALL, NOW).poll_at == NOW + timedelta(days=1)


def test_the_fifth_poll_opens_an_exception() -> None:
    opened = [
        update_after_query(transfer("unknown", poll_count), Unclear("timeout"), NOW).opens for poll_count in range(6)
    ]
    assert opened == [None] * 4 + ["timeout"] * 2
    assert all(
        update_after_query(transfer("unknown", poll_count), Unclear("timeout"), NOW).poll_at for poll_count in range(50)
    )


def test_a_dispatch_ends_within_the_time_limit_of_its_route() -> None:
    longest = next(rule.le for rule in Settings.model_fields["gateway_timeout_seconds"].metadata if hasattr(rule, "le"))
    # The balance, then the calls that had started when the time was up: recipient, transfer, and verify after a
    # refusal.
    assert longest + SEND_FOR_SECONDS + 3 * longest < DISPATCH_SECONDS_MAX
