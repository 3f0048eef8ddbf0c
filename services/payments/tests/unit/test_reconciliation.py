"""The differences between the gateway, the ledger and the orders: which are reported, and over which amounts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from payments.domain.charges import Charge
from payments.domain.reconciliation import (
    Difference,
    RecordedCharge,
    RecordedRefund,
    compare_charge,
    compare_order,
    compare_refund,
    compare_settlement,
    compare_unlisted_charge,
    compare_unlisted_refund,
    held_without_charge,
    is_fee_missing,
    is_within_webhook_grace,
    unknown_settlement,
    unreadable_at_gateway,
)
from payments.domain.refunds import RefundUpdate
from payments.domain.settlements import RecordedSettlement, Settlement, unknown_references

ORDER, REFUND, ATTEMPT, OTHER_ATTEMPT = (UUID(int=number) for number in range(1, 5))
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CHARGE = Charge("ch-1", "7", 500_000, "NGN", None, None, None, fee_minor=7_500)
RECORDED = RecordedCharge(
    "ch-1/7", "ch-1", "7", ORDER, 500_000, "NGN", "covered", 500_000, 7_500, 500_000, "paid_escrow"
)
REPORTED_REFUND = RefundUpdate("501", f"re-{ATTEMPT.hex}", "processed", 5_000, "NGN", None)
RECORDED_REFUND = RecordedRefund(REFUND, ATTEMPT, ORDER, "NGN", "settled", 5_000, "501")
SETTLEMENT = Settlement("12", "settled", 9_900, "NGN")


def _facts(difference: Difference) -> tuple[Any, ...]:
    """All but the detail."""
    return (
        difference.kind,
        difference.subject,
        difference.ours_minor,
        difference.theirs_minor,
        difference.currency,
        difference.reference,
        difference.order_id,
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "unexplained"),
    [(0, 500, 500), (500, 0, 500), (500, 499, 1), (499, 500, 1), (500, 500, 500), (0, 0, 0)],
)
def test_the_same_number_in_another_currency_is_unexplained_as_a_whole(
    ours: int, theirs: int, unexplained: int
) -> None:
    assert Difference("charge_differs", "charge:1", ours, theirs, "GHS", "").unexplained_minor == unexplained


@pytest.mark.parametrize(
    ("seconds", "is_within"), [(-60, True), (0, True), (599, True), (600, False), (601, False), (None, False)]
)
def test_the_webhook_of_an_event_may_arrive_for_less_than_ten_minutes(seconds: int | None, is_within: bool) -> None:
    at = None if seconds is None else NOW - timedelta(seconds=seconds)
    assert is_within_webhook_grace(at, NOW) is is_within


def test_a_charge_that_agrees_with_ledger_and_order_is_no_difference() -> None:
    assert compare_charge(CHARGE, RECORDED) == []


def test_a_charge_without_a_posting_is_a_difference_of_its_whole_amount() -> None:
    [difference] = compare_charge(CHARGE, None)
    assert _facts(difference) == ("charge_not_in_book", "charge:ch-1/7", 0, 500_000, "NGN", "ch-1", None)


@pytest.mark.parametrize(
    ("reported", "recorded", "ours", "theirs", "currency"),
    [
        ({"amount_minor": 500_001}, {}, 500_000, 500_001, "NGN"),
        ({"amount_minor": 499_999}, {}, 500_000, 499_999, "NGN"),
        ({}, {"ledger_minor": 499_999}, 499_999, 500_000, "NGN"),
        ({}, {"amount_minor": 500_001}, 500_001, 500_000, "NGN"),
        ({"currency": "GHS"}, {}, 500_000, 500_000, "GHS"),
    ],
)
def test_a_charge_differs_by_a_kobo_or_by_its_currency(
    reported: dict[str, Any], recorded: dict[str, Any], ours: int, theirs: int, currency: str
) -> None:
    """The comparison shows the wrong one of our two amounts, the row's or the ledger's."""
    [difference] = compare_charge(replace(CHARGE, **reported), replace(RECORDED, **recorded))
    assert _facts(difference) == ("charge_differs", "charge:ch-1/7", ours, theirs, currency, "ch-1", ORDER)


@pytest.mark.parametrize(
    ("reported", "recorded", "is_missing", "is_difference"),
    [
        (7_500, 7_500, False, False),
        (0, 0, False, False),
        # Not reported.
        (0, 7_500, False, False),
        # Reported after the webhook: it is posted, and no case.
        (7_500, 0, True, False),
        (1, 0, True, False),
        (7_501, 7_500, False, True),
        (7_499, 7_500, False, True),
        (7_500, 1, False, True),
    ],
)
def test_a_fee_that_is_missing_is_posted_and_another_one_is_a_difference(
    reported: int, recorded: int, is_missing: bool, is_difference: bool
) -> None:
    charge, ours = replace(CHARGE, fee_minor=reported), replace(RECORDED, fee_minor=recorded)
    assert is_fee_missing(charge, ours) is is_missing
    expected = [("fee_differs", "charge:ch-1/7", recorded, reported, "NGN", "ch-1", ORDER)]
    assert [_facts(difference) for difference in compare_charge(charge, ours)] == expected * is_difference


@pytest.mark.parametrize("other", [{"amount_minor": 500_001}, {"currency": "GHS"}])
def test_no_fee_is_posted_for_a_charge_that_differs(other: dict[str, Any]) -> None:
    assert not is_fee_missing(replace(CHARGE, **other), replace(RECORDED, fee_minor=0))


def test_a_charge_without_a_reported_fee_has_none() -> None:
    unreported = Charge("ch-1", "7", 500_000, "NGN", None, None, None)
    assert unreported.fee_minor == 0
    assert not is_fee_missing(unreported, replace(RECORDED, fee_minor=0))


@pytest.mark.parametrize(
    ("verdict", "escrow", "status", "held"),
    [
        ("covered", 500_000, "paid_escrow", None),
        ("covered", 500_000, "cancelled", 500_000),
        ("covered", None, "paid_escrow", 0),
        ("covered", None, None, 0),
        ("overpayment", None, "cancelled", None),
        ("quarantined", None, None, None),
    ],
)
def test_a_covering_charge_has_the_escrow_of_a_paid_order(
    verdict: str, escrow: int | None, status: str | None, held: int | None
) -> None:
    recorded = replace(RECORDED, verdict=verdict, escrow_minor=escrow, order_status=status)
    found = [_facts(difference) for difference in compare_order(recorded)]
    assert found == (
        [] if held is None else [("charge_without_escrow", "charge:ch-1/7", held, 500_000, "NGN", "ch-1", ORDER)]
    )


def test_a_charge_without_escrow_and_with_another_fee_is_two_differences() -> None:
    differences = compare_charge(replace(CHARGE, fee_minor=1), replace(RECORDED, escrow_minor=None))
    assert [difference.kind for difference in differences] == ["charge_without_escrow", "fee_differs"]


@pytest.mark.parametrize(
    "reported",
    [None, replace(CHARGE, status="pending"), replace(CHARGE, status="failed"), replace(CHARGE, gateway_id="8")],
)
def test_a_recorded_charge_that_the_gateway_does_not_report_as_paid_is_a_difference(reported: Charge | None) -> None:
    [difference] = compare_unlisted_charge(replace(RECORDED, amount_minor=1), reported)
    assert _facts(difference) == ("charge_not_at_gateway", "charge:ch-1/7", 500_000, 0, "NGN", "ch-1", ORDER)


@pytest.mark.parametrize("status", ["success", "reversed"])
@pytest.mark.parametrize("gateway_id", ["7", None])
def test_an_unlisted_charge_that_was_paid_is_compared(status: Any, gateway_id: str | None) -> None:
    """A charge that was recorded without the gateway's id is found by its reference alone."""
    reported, recorded = replace(CHARGE, status=status), replace(RECORDED, gateway_id=gateway_id)
    assert compare_unlisted_charge(recorded, reported) == []
    [difference] = compare_unlisted_charge(recorded, replace(reported, amount_minor=500_001))
    assert difference.kind == "charge_differs"


@pytest.mark.parametrize(
    ("reported", "attempt_id", "recorded"),
    [
        ({}, ATTEMPT, {}),
        # No note.
        ({"note": None}, None, {}),
        # Only one of both has the gateway's id.
        ({"gateway_refund_id": None}, ATTEMPT, {}),
        ({}, ATTEMPT, {"gateway_refund_id": None}),
        # The refund of a charge without a currency is in the gateway's.
        ({"currency": "GHS"}, ATTEMPT, {"currency": "XXX"}),
    ],
)
def test_a_refund_that_the_ledger_settled_is_no_difference(
    reported: dict[str, Any], attempt_id: UUID | None, recorded: dict[str, Any]
) -> None:
    assert compare_refund(replace(REPORTED_REFUND, **reported), attempt_id, replace(RECORDED_REFUND, **recorded)) == []


def test_a_refund_that_the_ledger_does_not_have_is_a_difference_of_its_whole_amount() -> None:
    [difference] = compare_refund(REPORTED_REFUND, ATTEMPT, None)
    note = f"re-{ATTEMPT.hex}"
    assert _facts(difference) == ("refund_not_in_book", "refund:501", 0, 5_000, "NGN", note, None)
    [unnumbered] = compare_refund(replace(REPORTED_REFUND, gateway_refund_id=None), ATTEMPT, None)
    assert unnumbered.subject == f"refund:{note}"


@pytest.mark.parametrize(
    ("attempt_id", "recorded"),
    [(ATTEMPT, {"status": "submitted"}), (ATTEMPT, {"status": "failed"}), (OTHER_ATTEMPT, {})],
)
def test_a_refund_that_is_paid_out_but_not_settled_by_this_attempt_is_a_difference(
    attempt_id: UUID, recorded: dict[str, Any]
) -> None:
    [difference] = compare_refund(REPORTED_REFUND, attempt_id, replace(RECORDED_REFUND, **recorded))
    note = f"re-{ATTEMPT.hex}"
    assert _facts(difference) == ("refund_not_in_book", "refund:501", 0, 5_000, "NGN", note, ORDER)


@pytest.mark.parametrize(
    ("reported", "recorded", "theirs", "currency"),
    [
        ({"amount_minor": 5_001}, {}, 5_001, "NGN"),
        ({"amount_minor": 4_999}, {}, 4_999, "NGN"),
        ({"currency": "GHS"}, {}, 5_000, "GHS"),
        ({"amount_minor": 5_001}, {"currency": "XXX"}, 5_001, "NGN"),
    ],
)
def test_a_settled_refund_differs_by_a_kobo_or_by_its_currency(
    reported: dict[str, Any], recorded: dict[str, Any], theirs: int, currency: str
) -> None:
    [difference] = compare_refund(replace(REPORTED_REFUND, **reported), ATTEMPT, replace(RECORDED_REFUND, **recorded))
    note = f"re-{ATTEMPT.hex}"
    assert _facts(difference) == ("refund_differs", "refund:501", 5_000, theirs, currency, note, ORDER)


@pytest.mark.parametrize("status", [None, "failed", "pending"])
def test_a_settled_refund_that_the_gateway_did_not_process_is_a_difference(status: str | None) -> None:
    reported = None if status is None else replace(REPORTED_REFUND, status=status)
    [difference] = compare_unlisted_refund(RECORDED_REFUND, reported)
    assert _facts(difference) == ("refund_not_at_gateway", f"refund:{REFUND}", 5_000, 0, "NGN", None, ORDER)


def test_a_settled_refund_that_the_gateway_processed_is_compared() -> None:
    assert compare_unlisted_refund(RECORDED_REFUND, REPORTED_REFUND) == []
    [difference] = compare_unlisted_refund(RECORDED_REFUND, replace(REPORTED_REFUND, amount_minor=5_001))
    assert difference.kind == "refund_differs"


def test_an_unreadable_record_has_no_amount_and_a_short_reason() -> None:
    difference = unreadable_at_gateway("charge:ch-1", "ch-1", "x" * 600)
    assert _facts(difference) == ("unreadable_at_gateway", "charge:ch-1", 0, 0, "XXX", "ch-1", None)
    assert len(difference.detail) == 500
    assert difference.unexplained_minor == 0


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        ({}, None),
        ({"amount_minor": 9_901}, ("settlement_differs", 9_900, 9_901, "NGN")),
        ({"amount_minor": 9_899}, ("settlement_differs", 9_900, 9_899, "NGN")),
        ({"currency": "GHS"}, ("settlement_differs", 9_900, 9_900, "GHS")),
        ({"status": "pending"}, ("settlement_not_at_gateway", 9_900, 0, "NGN")),
        ({"status": "failed"}, ("settlement_not_at_gateway", 9_900, 0, "NGN")),
    ],
)
def test_a_posted_settlement_is_compared(reported: dict[str, Any], expected: tuple[Any, ...] | None) -> None:
    found = compare_settlement(replace(SETTLEMENT, **reported), RecordedSettlement("12", 9_900, "NGN"))
    facts = [(*_facts(difference)[:1], *_facts(difference)[2:5]) for difference in found]
    assert facts == ([] if expected is None else [expected])
    assert {(difference.subject, difference.reference) for difference in found} <= {("settlement:12", "12")}


def test_a_settlement_without_a_posting_is_the_callers_to_post() -> None:
    assert compare_settlement(SETTLEMENT, None) == []


@pytest.mark.parametrize(
    ("unknown", "named"),
    [([], "not in the ledger: no charge."), (["a", "b", "c", "d", "e", "f"], "not in the ledger: a, b, c, d, e.")],
)
def test_a_settlement_of_unknown_charges_is_a_difference_that_names_five(unknown: list[str], named: str) -> None:
    difference = unknown_settlement(SETTLEMENT, unknown)
    assert _facts(difference) == ("settlement_not_in_book", "settlement:12", 0, 9_900, "NGN", "12", None)
    assert difference.detail.endswith(named)


@pytest.mark.parametrize(
    ("listed", "recorded", "unknown"),
    [([], ["a"], []), (["b", "a"], ["a", "b", "c"], []), (["c", "a", "b"], ["a"], ["c", "b"]), (["a"], [], ["a"])],
)
def test_the_unknown_charges_of_a_settlement_are_listed(
    listed: list[str], recorded: list[str], unknown: list[str]
) -> None:
    assert unknown_references(listed, recorded) == unknown


def test_a_paid_order_without_enough_charges_is_a_difference() -> None:
    difference = held_without_charge(ORDER, 500_000, 499_999, "NGN")
    assert _facts(difference) == (
        "order_held_without_charge",
        f"order:{ORDER}",
        500_000,
        499_999,
        "NGN",
        None,
        ORDER,
    )
