"""The only caller of time in the project, so that a test can be the clock."""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Something that knows the present instant, in UTC."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock, cut to the milliseconds that the public contract speaks in."""

    def now(self) -> datetime:
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)


class ManualClock:
    """A clock that stands still until it is told to move: sixty days of timers pass in seconds."""

    def __init__(self, at: datetime | None = None) -> None:
        self._now = at or datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> None:
        self._now += by


_UTC_CHARACTERS = len("2026-01-01T00:00:00.000")


def iso(instant: datetime) -> str:
    """ISO 8601 UTC with milliseconds and `Z` (contract section 1)."""
    return instant.astimezone(UTC).isoformat("T", "milliseconds")[:_UTC_CHARACTERS] + "Z"


def iso_or_none(instant: datetime | None) -> str | None:
    """`iso`, for columns that may be empty."""
    return None if instant is None else iso(instant)
