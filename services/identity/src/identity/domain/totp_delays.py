"""When a wrong one-time code makes the next one wait: six digits must not be guessed by somebody who knows the password."""

from datetime import datetime, timedelta
from typing import Final

# A person mistypes a few times; a program does not stop there.
FREE_FAILURES: Final = 5
FIRST_WAIT: Final = timedelta(seconds=30)
# At this pace a year of guessing has a chance of about one in ten to hit one of three codes; the owner waits minutes.
LONGEST_WAIT: Final = timedelta(minutes=15)


def blocked_until(failures: int, now: datetime) -> datetime | None:
    """The instant before which no further code is looked at, after `failures` wrong ones in a row."""
    if failures < FREE_FAILURES:
        return None
    doublings = min(failures - FREE_FAILURES, 10)
    return now + min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)
