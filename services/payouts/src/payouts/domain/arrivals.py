"""The day on which a payout reaches the vendor's bank account at the latest, or the reason why no day is named.

Days are those of Lagos. Finance sends a payout within some bank days of its request, and the bank credits it within
some bank days of the transfer. A payout that something holds has no day, and neither has one whose day has passed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal, NamedTuple

from common.primitives.clock import LAGOS
from payouts.domain.dispatch import Candidate, HoldReason, hold_reason
from payouts.domain.schedules import SkippedReason, skip_reason
from payouts.domain.wallet import WalletSnapshot

ArrivalObstacle = Literal["open_exception", "overdue", HoldReason, SkippedReason]
"""Why no day is named: an exception, a day that has passed, or a reason of the dispatch or the schedule."""

# Month and day of the public holidays of Nigeria that have a fixed date.
_FIXED_HOLIDAYS: Final = frozenset({(1, 1), (5, 1), (6, 12), (10, 1), (12, 25), (12, 26)})
_SATURDAY: Final = 5
# No run of weekends and holidays is longer; a list of holidays without an end is found here.
_CLOSED_DAYS_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class BankCalendar:
    """The days on which banks work: Monday to Friday without public holidays.

    `declared` has the holidays that the government announces for each year, such as those of the Islamic calendar.
    """

    declared: frozenset[date] = frozenset()

    def is_open(self, day: date) -> bool:
        """Return whether banks work on this day."""
        easter = easter_sunday(day.year)
        return (
            day.weekday() < _SATURDAY
            and (day.month, day.day) not in _FIXED_HOLIDAYS
            and day not in (easter - timedelta(days=2), easter + timedelta(days=1))
            and day not in self.declared
        )

    def open_day(self, start: date, after: int) -> date:
        """Return the bank day that is `after` bank days after `start`; with 0, `start` or the next bank day."""
        day, left = start, after
        for _ in range(_CLOSED_DAYS_MAX + 2 * after):
            if left == 0 and self.is_open(day):
                return day
            day += timedelta(days=1)
            if left > 0 and self.is_open(day):
                left -= 1
        raise ValueError(f"no bank day follows {start}: check PAYOUT_BANK_HOLIDAYS")


def easter_sunday(year: int) -> date:
    """Return Easter Sunday of a year of the Gregorian calendar, by the method of Meeus, Jones and Butcher."""
    century, of_century = divmod(year, 100)
    moon = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (of_century // 4) - moon - of_century % 4) % 7
    shift = (year % 19 + 11 * moon + 22 * weekday) // 451
    month, day = divmod(moon + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


@dataclass(frozen=True, slots=True)
class ArrivalTerms:
    """The bank days within which finance sends a requested payout, and within which the bank then credits it."""

    send_days: int
    transfer_days: int
    calendar: BankCalendar


class Arrival(NamedTuple):
    """The latest day of the credit, or why none is named: one of both is None."""

    day: date | None
    obstacle: ArrivalObstacle | None


@dataclass(frozen=True, slots=True)
class WaitingPayout:
    """A pending payout. `since`: when it was requested, reset or released from a hold. `sent_at`: when its present
    transfer was made. `payouts_from`: before this time the bank details are too new.
    """

    candidate: Candidate
    since: datetime
    sent_at: datetime | None
    payouts_from: datetime | None
    has_open_exception: bool


@dataclass(frozen=True, slots=True)
class PayableWallet:
    """A wallet, and when its money is requested: by the schedule, or now. `minimum_minor`: the smallest payout, in
    kobo. `obstacle`: what holds all payouts of the vendor, or all dispatches.
    """

    wallet: WalletSnapshot
    requested_at: datetime
    payouts_from: datetime | None
    minimum_minor: int
    obstacle: ArrivalObstacle | None


def arrival_of_payout(payout: WaitingPayout, terms: ArrivalTerms, now: datetime) -> Arrival:
    """Return when a pending payout arrives. Reasons to hold it count only until it is sent."""
    if payout.has_open_exception:
        return Arrival(None, "open_exception")
    if payout.candidate.attempted and payout.sent_at is not None:
        day = terms.calendar.open_day(_day_of(payout.sent_at), terms.transfer_days)
    else:
        # Too new bank details have an end, which moves the day.
        reason = hold_reason(payout.candidate)
        if reason is not None and reason != "bank_details_cooling":
            return Arrival(None, reason)
        day = _day_after_request([payout.since, payout.payouts_from], terms)
    return Arrival(None, "overdue") if day < _day_of(now) else Arrival(day, None)


def arrival_of_wallet(payable: PayableWallet, terms: ArrivalTerms) -> Arrival | None:
    """Return when the available money arrives; None while nothing is available."""
    if payable.wallet.available_minor <= 0:
        return None
    obstacle = skip_reason(payable.wallet, payable.minimum_minor) or payable.obstacle
    if obstacle is not None:
        return Arrival(None, obstacle)
    return Arrival(_day_after_request([payable.requested_at, payable.payouts_from], terms), None)


def _day_after_request(instants: Iterable[datetime | None], terms: ArrivalTerms) -> date:
    start = max(instant for instant in instants if instant is not None)
    return terms.calendar.open_day(_day_of(start), terms.send_days + terms.transfer_days)


def _day_of(instant: datetime) -> date:
    return instant.astimezone(LAGOS).date()
