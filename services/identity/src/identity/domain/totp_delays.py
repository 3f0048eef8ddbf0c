"""The delay after wrong TOTP codes: six digits must not be guessed by an attacker with the password."""

from datetime import datetime, timedelta
from typing import Final

# Users mistype a few times, programs continue.
FREE_FAILURES: Final = 5
FIRST_WAIT: Final = timedelta(seconds=30)
# At this rate a year of guessing hits one of three codes with a chance of one in ten. The owner waits minutes.
LONGEST_WAIT: Final = timedelta(minutes=15)


def blocked_until(failures: int, now: datetime) -> datetime | None:
    """Return the time before which no further code is checked, after so many consecutive wrong ones."""
    if failures < FREE_FAILURES:
        return None
    doublings = min(failures - FREE_FAILURES, 10)
    return now + min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)
