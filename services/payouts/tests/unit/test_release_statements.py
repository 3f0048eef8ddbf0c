"""Coverage of a wallet by payments' statements: every case of the comparison, and the signed text."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.primitives.ids import new_id
from contracts.payments import statement_message
from payouts.domain.release_statements import (
    COVERED,
    LATE_AFTER,
    CoverCheck,
    ReceivedTotals,
    Statement,
    describe_unstated_lines,
    evaluate_cover,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LONG_AGO = NOW - LATE_AFTER - timedelta(seconds=1)
AMOUNTS = st.integers(-(2**62), 2**62)


def received(lines_minor: int = 100, **changes: Any) -> ReceivedTotals:
    values = {
        "vendor_id": new_id(), "lines_minor": lines_minor, "balances_minor": lines_minor, "gap_since": None,
        "has_lines": True,
        "has_new_lines": True, "upgraded_at": None, **changes,
    }  # fmt: skip
    return ReceivedTotals(**values)


def stated(net_minor: int = 100, sequence: int = 3, ordinal: int = 3) -> Statement:
    return Statement(new_id(), "release:1", 1, sequence, net_minor, "key", "signature", ordinal)


@pytest.mark.parametrize(
    ("totals", "newest", "cover"),
    [
        (received(), stated(), "covered"),
        (received(101), stated(), "not_released"),
        (received(99), stated(), "not_released"),
        (received(balances_minor=101), stated(), "not_released"),
        (received(anomaly="Payout 1 is for 2 kobo."), stated(), "not_released"),
        (received(gap_since=NOW), stated(ordinal=2), "waiting"),
        (received(500, gap_since=NOW), stated(ordinal=2), "waiting"),
        (received(500, balances_minor=501, gap_since=NOW), stated(ordinal=2), "not_released"),
        (received(), None, "not_released"),
        (received(0, has_lines=False, has_new_lines=False), None, "covered"),
        # Of an upgraded system: lines older than the statements wait for the first one, for good.
        (received(upgraded_at=LONG_AGO, has_new_lines=False), None, "waiting"),
        (received(upgraded_at=NOW), None, "waiting"),
        (received(upgraded_at=LONG_AGO), None, "not_released"),
        (received(99, upgraded_at=NOW), stated(), "waiting"),
        (received(99, upgraded_at=LONG_AGO), stated(), "not_released"),
        (received(101, upgraded_at=NOW), stated(), "not_released"),
    ],
)
def test_each_case_of_the_comparison(totals: ReceivedTotals, newest: Statement | None, cover: str) -> None:
    assert evaluate_cover(totals, newest, NOW).cover == cover


# totals, newest -> surplus, waiting since, correctable
@pytest.mark.parametrize(
    ("totals", "newest", "surplus_minor", "waits_since", "is_correctable"),
    [
        # Only a statement measures what the wallet received too much, and only a consistent ledger is corrected.
        (received(701), stated(100), 601, None, True),
        (received(99), stated(100), -1, None, True),
        (received(701), None, 701, None, True),
        (received(701, balances_minor=900), stated(701), 199, None, False),
        (received(701, balances_minor=700), stated(100), -1, None, False),
        (received(701, anomaly="Payout 1 is for 2 kobo."), stated(100), 0, None, False),
        # A wait is counted from the missing event, or from the upgrade.
        (received(701, gap_since=LONG_AGO), stated(ordinal=2), 0, LONG_AGO, False),
        (received(99, upgraded_at=NOW), stated(), 0, NOW, False),
        (received(upgraded_at=LONG_AGO, has_new_lines=False), None, 0, LONG_AGO, False),
        (received(upgraded_at=NOW, has_new_lines=False), None, 0, NOW, False),
    ],
)
def test_only_a_difference_with_a_statement_can_be_corrected(
    totals: ReceivedTotals,
    newest: Statement | None,
    surplus_minor: int,
    waits_since: datetime | None,
    is_correctable: bool,
) -> None:
    check = evaluate_cover(totals, newest, NOW)
    assert (check.surplus_minor, check.waits_since, check.is_correctable) == (
        surplus_minor,
        waits_since,
        is_correctable,
    )


def test_the_detail_of_an_exception_names_the_difference_in_kobo() -> None:
    assert "received 601 kobo more than" in evaluate_cover(received(701), stated(100), NOW).detail
    assert "received 1 kobo more than" in evaluate_cover(received(101), stated(100), NOW).detail
    assert "received 1 kobo less than" in evaluate_cover(received(99), stated(100), NOW).detail
    assert "by -1 kobo" in evaluate_cover(received(701, balances_minor=700), stated(100), NOW).detail
    assert "701 kobo" in evaluate_cover(received(701), None, NOW).detail
    assert evaluate_cover(received(), stated(), NOW) == COVERED == CoverCheck("covered", "", 0, None, False)
    assert describe_unstated_lines(["release 1", "refund 2"]) == " Lines without a statement: release 1, refund 2."
    assert describe_unstated_lines([]) == ""


@pytest.mark.parametrize(
    ("upgraded_at", "cover"),
    [
        (NOW - timedelta(minutes=19, seconds=59), "waiting"),
        (NOW - timedelta(minutes=20), "waiting"),
        (NOW - timedelta(minutes=20, seconds=1), "not_released"),
        (None, "not_released"),
    ],
)
def test_an_upgraded_system_waits_twenty_minutes_for_events_of_the_previous_version(
    upgraded_at: datetime | None, cover: str
) -> None:
    assert evaluate_cover(received(99, upgraded_at=upgraded_at), stated(100), NOW).cover == cover
    assert evaluate_cover(received(99, upgraded_at=upgraded_at), None, NOW).cover == cover


def test_only_a_wait_can_be_late() -> None:
    late = NOW + timedelta(days=1)
    assert not evaluate_cover(received(701), stated(), late).is_late(late)
    assert not evaluate_cover(received(), stated(), late).is_late(late)


@given(lines=AMOUNTS, net=AMOUNTS)
def test_without_a_gap_only_equal_sums_are_covered_and_surplus_is_the_difference(lines: int, net: int) -> None:
    check = evaluate_cover(received(lines), stated(net), NOW)
    assert (check.cover == "covered") == (lines == net)
    assert check.surplus_minor == lines - net


def test_a_wait_is_late_after_the_whole_retry_ladder() -> None:
    assert not evaluate_cover(received(gap_since=NOW - LATE_AFTER), stated(ordinal=2), NOW).is_late(NOW)
    assert evaluate_cover(received(gap_since=LONG_AGO), stated(ordinal=2), NOW).is_late(NOW)
    assert timedelta(seconds=1 + 5 + 25 + 125 + 600) < LATE_AFTER


@given(vendor=st.uuids(), source=st.uuids(), amount=AMOUNTS, sequence=st.integers(1, 2**62), net=AMOUNTS)
def test_the_verified_message_equals_the_signed_one(
    vendor: UUID, source: UUID, amount: int, sequence: int, net: int
) -> None:
    statement = Statement(vendor, f"release:{source}", amount, sequence, net, "key", "signature")
    assert statement.message == statement_message(vendor, f"release:{source}", amount, sequence, net)
