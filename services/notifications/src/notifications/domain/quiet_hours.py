"""The hours in which a person wants no message: a part of the local day, perhaps over midnight."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

TIMEZONE_DEFAULT: Final = "Africa/Lagos"


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From a local time up to another, in the named zone. The two differ."""

    begins: time
    ends: time
    timezone: str

    def over_at(self, now: datetime) -> datetime | None:
        """When the quiet hours that hold at `now` are over, in UTC; None when none hold."""
        here = now.astimezone(ZoneInfo(self.timezone))
        clock = here.time().replace(tzinfo=None)
        has_begun, has_ended = clock >= self.begins, clock >= self.ends
        is_quiet = (has_begun and not has_ended) if self.begins < self.ends else (has_begun or not has_ended)
        if not is_quiet:
            return None
        # The day is counted on the local calendar, so that a change of the clocks does not move the hour.
        day = here.date() + timedelta(days=1 if has_ended else 0)
        return datetime.combine(day, self.ends, tzinfo=ZoneInfo(self.timezone)).astimezone(UTC)


def is_timezone(name: str) -> bool:
    """Whether the name is one of the tz database."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
