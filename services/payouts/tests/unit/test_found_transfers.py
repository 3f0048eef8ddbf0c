"""Which transfers of the gateway's list concern payouts, and which of them can be recorded. Amounts in kobo."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from common.primitives.ids import new_id
from payouts.domain.found_transfers import (
    Candidate,
    ListedTransfer,
    concerns_payouts,
    may_be_recorded,
    may_have_sent,
)
from payouts.domain.gateway_results import Absent, Reported, VerifyResult
from payouts.domain.transfer_updates import TransferUpdate
from payouts.domain.transitions import REPORTS

OURS = "po-0123456789abcdef0123456789abcdef"
REFUND = "re-0123456789abcdef0123456789abcdef"
LISTED = ListedTransfer(OURS, "TRF_1", "success", 1, "NGN", "0123456785", "058", datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("status", "concerns"),
    [
        ("success", True),
        ("pending", True),
        ("received", True),
        ("otp", True),
        # Nothing left, or it came back.
        ("failed", False),
        ("rejected", False),
        ("blocked", False),
        ("abandoned", False),
        ("reversed", False),
        # A status that is not known may mean that money left.
        ("queued", True),
        ("", True),
    ],
)
def test_a_listed_transfer_concerns_payouts_when_its_money_may_be_out(status: str, concerns: bool) -> None:
    assert concerns_payouts(replace(LISTED, status=status)) is concerns
    # A reference of another form may still be a payout; one of a refund is not.
    assert concerns_payouts(replace(LISTED, status=status, reference="manual-1")) is concerns
    assert not concerns_payouts(replace(LISTED, status=status, reference=REFUND))


@pytest.mark.parametrize("reference", [f"{REFUND}0", REFUND[:-1], REFUND.upper(), f" {REFUND}"])
def test_only_the_exact_form_of_a_refund_is_left_to_payments(reference: str) -> None:
    assert concerns_payouts(replace(LISTED, reference=reference))


@pytest.mark.parametrize(
    ("listed", "may"),
    [
        (LISTED, True),
        (replace(LISTED, amount_minor=0), False),
        (replace(LISTED, amount_minor=-1), False),
        (replace(LISTED, currency="GHS"), False),
        (replace(LISTED, account_number=""), False),
        (replace(LISTED, bank_code=""), False),
        (replace(LISTED, reference=REFUND), False),
        (replace(LISTED, reference=OURS.upper()), False),
        (replace(LISTED, reference=f"{OURS}0"), False),
    ],
)
def test_only_a_transfer_of_our_form_with_an_amount_and_an_account_can_be_recorded(
    listed: ListedTransfer, may: bool
) -> None:
    assert may_be_recorded(listed) is may


def reported(status: str) -> Reported:
    return Reported(TransferUpdate("query", status, 100, "NGN"))


@pytest.mark.parametrize(
    ("retry_count", "has_present_attempt", "after", "may"),
    [
        (0, False, 0, True),
        (0, True, 1, True),
        (2, True, 3, True),
        (3, False, 3, True),
        # The found transfer would be the fifth attempt of a payout, which has at most three retries.
        (3, True, 4, False),
    ],
)
def test_a_found_transfer_is_the_next_attempt_within_the_limit_of_retries(
    retry_count: int, has_present_attempt: bool, after: int, may: bool
) -> None:
    candidate = Candidate(new_id(), retry_count, (), has_present_attempt)
    assert candidate.retry_count_after == after
    assert may_have_sent(candidate, []) is may


@pytest.mark.parametrize(
    ("results", "may"),
    [
        ([], True),
        ([Absent()], True),
        ([Absent(), reported("failed"), reported("reversed")], True),
        ([reported("success")], False),
        ([reported("failed"), Absent(), reported("pending")], False),
        *(
            ([reported(status)], status in ("failed", "rejected", "blocked", "abandoned", "reversed"))
            for status in REPORTS
        ),
    ],
)
def test_no_transfer_is_recorded_for_a_payout_that_another_attempt_may_have_paid(
    results: list[VerifyResult], may: bool
) -> None:
    assert may_have_sent(Candidate(new_id(), 1, (), True), results) is may
