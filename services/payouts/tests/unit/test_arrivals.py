"""The day when money reaches the bank."""

from datetime import UTC, date, datetime, timedelta
from typing import get_args
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payouts.domain.arrivals import (
    Arrival,
    ArrivalObstacle,
    ArrivalTerms,
    BankCalendar,
    PayableWallet,
    WaitingPayout,
    arrival_of_payout,
    arrival_of_wallet,
    easter_sunday,
)
from payouts.domain.dispatch import Candidate, HoldReason
from payouts.domain.wallet import WalletSnapshot

# The first day after a Sunday in Lagos, an hour before it is one in UTC.
MONDAY_IN_LAGOS = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)
SUNDAY = datetime(2026, 11, 29, 12, tzinfo=UTC)
TERMS = ArrivalTerms(1, 1, BankCalendar())
FREE = {
    "pending": True,
    "attempted": False,
    "bank_details_valid": True,
    "vendor_suspended": False,
    "bank_details_cooling": False,
    "vendor_has_debt": False,
}
HELD_BY = {
    "credit_not_released": {"cover": "not_released"},
    "release_statement_awaited": {"cover": "waiting"},
    "dispatch_stopped": {"stopped": True},
    "held": {"held": True},
    "vendor_suspended": {"vendor_suspended": True},
    "transfer_contradicted": {"transfer_contradicted": True},
    "disputed": {"disputed": True},
    "debt_outstanding": {"vendor_has_debt": True},
    "bank_details_changed": {"bank_details_valid": False},
}


def waiting(since=SUNDAY, *, sent_at=None, payouts_from=None, excepted=False, **changes) -> WaitingPayout:
    values = {**FREE, "cover": "covered", **changes}
    return WaitingPayout(Candidate(uuid4(), uuid4(), 1_000, **values), since, sent_at, payouts_from, excepted)


def day_of(payout: WaitingPayout, now=SUNDAY) -> Arrival:
    return arrival_of_payout(payout, TERMS, now)


@pytest.mark.parametrize(
    ("year", "day"), [(2024, date(2024, 3, 31)), (2025, date(2025, 4, 20)), (2026, date(2026, 4, 5))]
)
def test_easter_sunday_is_that_of_the_calendar(year: int, day: date) -> None:
    assert easter_sunday(year) == day


@given(st.dates(date(2020, 1, 1), date(2100, 1, 1)), st.integers(1, 5), st.frozensets(st.dates(), max_size=3))
def test_a_bank_day_is_open_and_each_day_more_is_a_later_one(start: date, after: int, declared) -> None:
    calendar = BankCalendar(declared)
    day, first = calendar.open_day(start, after), calendar.open_day(start, 0)
    assert calendar.is_open(day)
    assert start <= first <= day < calendar.open_day(start, after + 1)
    assert calendar.open_day(first, 0) == first


def test_holidays_are_skipped() -> None:
    # Christmas, Boxing Day and the weekend of 2026; Good Friday and Easter Monday.
    assert BankCalendar().open_day(date(2026, 12, 24), 1) == date(2026, 12, 28)
    assert BankCalendar().open_day(date(2026, 4, 2), 1) == date(2026, 4, 7)
    assert BankCalendar(frozenset({date(2026, 12, 28)})).open_day(date(2026, 12, 24), 1) == date(2026, 12, 29)


def test_a_calendar_without_a_bank_day_names_its_setting() -> None:
    closed = frozenset(date(2026, 1, 1) + timedelta(days=offset) for offset in range(400))
    with pytest.raises(ValueError, match="PAYOUT_BANK_HOLIDAYS"):
        BankCalendar(closed).open_day(date(2026, 1, 1), 1)


def test_a_payout_of_sunday_arrives_on_tuesday() -> None:
    assert day_of(waiting()) == Arrival(date(2026, 12, 1), None)
    assert day_of(waiting(MONDAY_IN_LAGOS)) == Arrival(date(2026, 12, 2), None)


def test_a_sent_payout_arrives_by_the_days_of_its_transfer_whatever_holds_it_now() -> None:
    sent = waiting(sent_at=datetime(2026, 12, 3, 9, tzinfo=UTC), attempted=True, held=True)
    assert day_of(sent) == Arrival(date(2026, 12, 4), None)


@pytest.mark.parametrize(("reason", "changes"), HELD_BY.items())
def test_a_held_payout_has_its_reason_and_no_day(reason: str, changes) -> None:
    assert day_of(waiting(**changes)) == Arrival(None, reason)


def test_each_reason_of_a_dispatch_is_an_obstacle_or_delays_it() -> None:
    assert set(get_args(HoldReason)) - HELD_BY.keys() == {"not_pending", "bank_details_cooling"}
    assert set(get_args(HoldReason)) <= set(get_args(ArrivalObstacle))


def test_new_bank_details_move_the_day() -> None:
    cooling = waiting(bank_details_cooling=True, payouts_from=datetime(2026, 12, 3, 9, tzinfo=UTC))
    assert day_of(cooling) == Arrival(date(2026, 12, 7), None)


def test_an_open_exception_is_the_reason_also_of_a_sent_payout() -> None:
    assert day_of(waiting(sent_at=SUNDAY, attempted=True, excepted=True)) == Arrival(None, "open_exception")


def test_a_day_that_has_passed_is_not_named_again() -> None:
    assert day_of(waiting(), datetime(2026, 12, 1, 22, 59, tzinfo=UTC)) == Arrival(date(2026, 12, 1), None)
    assert day_of(waiting(), datetime(2026, 12, 1, 23, tzinfo=UTC)) == Arrival(None, "overdue")


def wallet(available_minor: int, **changes) -> WalletSnapshot:
    return WalletSnapshot(available_minor, 0, 0, uuid4(), **{"bank_details_verified": True, **changes})


@pytest.mark.parametrize(
    ("snapshot", "obstacle", "arrival"),
    [
        (wallet(0), None, None),
        (wallet(10_000), None, Arrival(date(2026, 12, 1), None)),
        (wallet(9_999), None, Arrival(None, "below_minimum")),
        (wallet(10_000, suspended=True), "disputed", Arrival(None, "vendor_suspended")),
        (wallet(10_000), "disputed", Arrival(None, "disputed")),
    ],
)
def test_available_money_arrives_when_a_payout_of_it_would(snapshot, obstacle, arrival) -> None:
    assert arrival_of_wallet(PayableWallet(snapshot, SUNDAY, None, 10_000, obstacle), TERMS) == arrival
