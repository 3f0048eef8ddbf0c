"""When a vendor's payout is requested automatically, and why it may be skipped."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal
from uuid import UUID

from common.primitives.clock import LAGOS
from payouts.domain.wallet import WalletSnapshot

Frequency = Literal["none", "daily", "weekly"]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
SkippedReason = Literal[
    "vendor_suspended",
    "transfer_contradicted",
    "debt_outstanding",
    "bank_details_quarantined",
    "bank_details_unverified",
    "below_minimum",
]

DUE_AT: Final = time(6, tzinfo=LAGOS)
_WEEKDAYS: Final[tuple[Weekday, ...]] = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class Schedule:
    """A vendor's setting: `weekday` for weekly payouts only; `minimum_minor` in kobo, below which none is requested."""

    frequency: Frequency = "none"
    weekday: Weekday | None = None
    minimum_minor: int | None = None

    def fires_when(self, other: "Schedule") -> bool:
        """Return whether both are due at the same instants."""
        return (self.frequency, self.weekday) == (other.frequency, other.weekday)


@dataclass(frozen=True, slots=True)
class DueSchedule:
    """A due schedule; `due_at` is its first undecided instant."""

    vendor_id: UUID
    schedule: Schedule
    due_at: datetime
    changed_by: UUID


def due_after(schedule: Schedule, instant: datetime) -> datetime | None:
    """Return the first due instant after this one, in UTC; None for no schedule."""
    if schedule.frequency == "none":
        return None
    day = instant.astimezone(LAGOS).date()
    if datetime.combine(day, DUE_AT) <= instant:
        day += timedelta(days=1)
    if schedule.weekday is not None:
        day += timedelta(days=(_WEEKDAYS.index(schedule.weekday) - day.weekday()) % 7)
    return datetime.combine(day, DUE_AT).astimezone(UTC)


def latest_due(schedule: Schedule, due_at: datetime, now: datetime) -> datetime:
    """Return the last due instant up to now: after a week of downtime one payout is requested, not seven."""
    step = timedelta(days=7 if schedule.frequency == "weekly" else 1)
    return due_at + (now - due_at) // step * step


def period_of(due_at: datetime) -> date:
    """Return the day in Lagos that names the period."""
    return due_at.astimezone(LAGOS).date()


def skip_reason(wallet: WalletSnapshot, minimum_minor: int) -> SkippedReason | None:
    """Return why no payout is requested, in the order of a request's errors; None when one is."""
    if wallet.suspended:
        return "vendor_suspended"
    if wallet.transfer_contradicted:
        return "transfer_contradicted"
    if wallet.debt_minor > 0:
        return "debt_outstanding"
    if wallet.bank_details_quarantined:
        return "bank_details_quarantined"
    if wallet.bank_details_version_id is None or not wallet.bank_details_verified:
        return "bank_details_unverified"
    if wallet.available_minor < minimum_minor:
        return "below_minimum"
    return None
