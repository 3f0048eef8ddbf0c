import re
from datetime import timedelta
from typing import get_args

import pytest

from common.primitives.ids import new_id
from payouts.domain import dispatch
from payouts.domain.dispatch import LEASE, LOST_CALL, Candidate, SkipReason, plan_batch, poll_backoff
from payouts.domain.transfer_fees import FeeSchedule

FREE = FeeSchedule()


def candidate(
    amount_minor: int = 100,
    *,
    pending=True,
    attempted=False,
    stand=True,
    vendor_suspended=False,
    cover="covered",
    cooling=False,
    debt=False,
) -> Candidate:
    return Candidate(
        new_id(), new_id(), amount_minor, cover, pending, attempted, stand, vendor_suspended, cooling, debt
    )


def reasons(plan) -> list[str | None]:
    return [line.skipped for line in plan.lines]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (candidate(pending=False), "not_pending"),
        (candidate(attempted=True), "already_dispatched"),
        (candidate(stand=False), "bank_details_changed"),
        (candidate(vendor_suspended=True), "vendor_suspended"),
        (candidate(cover="not_released", stand=False, vendor_suspended=True), "credit_not_released"),
        (candidate(cover="waiting"), "release_statement_awaited"),
        (candidate(cover="waiting", vendor_suspended=True), "release_statement_awaited"),
        (candidate(debt=True), "debt_outstanding"),
        (candidate(debt=True, vendor_suspended=True), "vendor_suspended"),
        (candidate(debt=True, stand=False), "debt_outstanding"),
        (candidate(cooling=True), "bank_details_cooling"),
        (candidate(cooling=True, stand=False), "bank_details_changed"),
        (candidate(pending=False, attempted=True, cover="not_released"), "not_pending"),
        (candidate(attempted=True, cover="not_released"), "already_dispatched"),
        (candidate(), None),
    ],
)
def test_a_skipped_payout_has_its_reason(given, reason: str | None) -> None:
    assert reasons(plan_batch([given], [], None, 1_000, FREE)) == [reason]


def test_the_total_is_never_above_the_limit_and_smaller_ones_still_fit() -> None:
    plan = plan_batch([candidate(60), candidate(50), candidate(40)], [], 100, 1_000, FREE)
    assert reasons(plan) == [None, "max_total_reached", None]
    assert plan.planned_minor == 100
    assert plan.selected == [plan.lines[0].payout_id, plan.lines[2].payout_id]
    assert plan.stopped_minor == 0
    # One kobo above the limit.
    assert reasons(plan_batch([candidate(60), candidate(40)], [], 99, 1_000, FREE)) == [None, "max_total_reached"]


def test_a_short_balance_stops_the_whole_batch() -> None:
    plan = plan_batch([candidate(60), candidate(41), candidate(stand=False)], [new_id()], None, 100, FREE)
    assert plan.short
    assert reasons(plan) == ["not_found", "balance_insufficient", "balance_insufficient", "bank_details_changed"]
    assert [line.amount_minor for line in plan.lines] == [0, 60, 41, 100]
    # The exception of the batch is over the payouts that it would have sent.
    assert (plan.selected, plan.planned_minor, plan.stopped_minor) == ([], 0, 101)
    assert not plan_batch([candidate(60), candidate(40)], [], None, 100, FREE).short


def test_the_balance_covers_the_fees_of_the_batch() -> None:
    fees = FeeSchedule.parse("50:1,*:3")
    assert plan_batch([candidate(60), candidate(40)], [], None, 103, fees).short
    covered = plan_batch([candidate(60), candidate(40), candidate(stand=False)], [], 100, 104, fees)
    assert (covered.short, covered.planned_minor, covered.fees_minor) == (False, 100, 4)


def test_a_skipped_payout_needs_no_balance() -> None:
    assert not plan_batch([candidate(10_000, stand=False)], [], None, 0, FREE).short


def test_the_poll_backoff_grows_to_an_hour() -> None:
    waits = [poll_backoff(poll_count) for poll_count in range(40)]
    assert waits == sorted(waits)
    assert [wait.total_seconds() for wait in waits[:10]] == [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert waits[-1] == timedelta(hours=1)


def test_the_lease_outlasts_all_calls_of_a_submission() -> None:
    from payouts.settings import Settings

    longest = next(rule.le for rule in Settings.model_fields["gateway_timeout_seconds"].metadata if hasattr(rule, "le"))
    assert timedelta(seconds=4 * longest) < LEASE
    # And a lost call is awaited for much longer than the longest call within the lease.
    assert 5 * (LEASE + timedelta(seconds=longest)) < LOST_CALL


def test_each_reason_to_skip_has_a_notice_and_an_action() -> None:
    listed = re.findall(r"^- (`.*?)\. Notified: (.+?)\. Acts: (.+?)\.$", _unwrapped(dispatch.__doc__), re.MULTILINE)
    assert sorted(word.strip("` ") for reasons, _, _ in listed for word in reasons.split(",")) == sorted(
        get_args(SkipReason)
    )


def _unwrapped(text: str | None) -> str:
    return (text or "").replace("\n  ", " ")
