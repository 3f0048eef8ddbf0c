"""How long a login waits after failed ones: slow for who guesses, and never closed for who knows the password (contract section 4)."""

from datetime import datetime, timedelta
from typing import Final

# A person mistypes a few times; a program does not stop there.
FREE_FAILURES: Final = 5
FIRST_PAUSE_SECONDS: Final = 0.25
# What a person still waits for; more would only tie up connections.
LONGEST_PAUSE_SECONDS: Final = 3.0
# An hour without a failure, and the account is as if nothing had been.
FORGOTTEN_AFTER: Final = timedelta(hours=1)


def pause_seconds(failures: int, last_failed_at: datetime | None, now: datetime) -> float:
    """Seconds that the next login of this address waits, whether its password is right or wrong."""
    if last_failed_at is None or now - last_failed_at >= FORGOTTEN_AFTER or failures < FREE_FAILURES:
        return 0.0
    doublings = min(failures - FREE_FAILURES, 10)
    return min(FIRST_PAUSE_SECONDS * (1 << doublings), LONGEST_PAUSE_SECONDS)
