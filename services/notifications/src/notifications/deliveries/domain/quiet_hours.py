"""Quiet hours: a part of the local day, possibly over midnight."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

TIMEZONE_DEFAULT: Final = "Africa/Lagos"


@dataclass(frozen=True, slots=True)
class QuietHours:
    """A range of local times in a named zone. Start and end differ."""

    start: time
    end: time
    timezone: str

    def quiet_until(self, now: datetime) -> datetime | None:
        """Return the UTC end of the quiet hours that include `now`; None outside of them."""
        here = now.astimezone(ZoneInfo(self.timezone))
        clock = here.time().replace(tzinfo=None)
        is_after_start, is_after_end = clock >= self.start, clock >= self.end
        is_quiet = (
            (is_after_start and not is_after_end) if self.start < self.end else (is_after_start or not is_after_end)
        )
        if not is_quiet:
            return None
        # The local calendar day keeps the hour stable over a change of daylight saving time.
        day = here.date() + timedelta(days=1 if is_after_end else 0)
        return datetime.combine(day, self.end, tzinfo=ZoneInfo(self.timezone)).astimezone(UTC)


def is_timezone(name: str) -> bool:
    """Return whether the name is in the tz database."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
