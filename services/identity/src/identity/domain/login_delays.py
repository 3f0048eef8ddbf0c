"""The delay of a login after failed ones: it slows guessing and never locks the owner out (contract section 4).

**Failed logins delay the next one and never block it.** They are counted by the keyed hash of each address, known or
not. After five, the password check waits a quarter of a second, doubling to three seconds. A successful login, or an
hour without a failure, resets the count. A wrong current password in `password/change` counts too. At most 128 logins
of a process are delayed at once; beyond it hashing limits the rate.
"""

from datetime import datetime, timedelta
from typing import Final

# Users mistype a few times, programs continue.
FREE_FAILURES: Final = 5
FIRST_PAUSE_SECONDS: Final = 0.25
# Users tolerate this delay; a longer one would only occupy connections.
LONGEST_PAUSE_SECONDS: Final = 3.0
# After an hour without a failure the count restarts.
FORGOTTEN_AFTER: Final = timedelta(hours=1)


def pause_seconds(failures: int, last_failed_at: datetime | None, now: datetime) -> float:
    """Return the delay in seconds of the next login of this address, whether its password is right or wrong."""
    if last_failed_at is None or now - last_failed_at >= FORGOTTEN_AFTER or failures < FREE_FAILURES:
        return 0.0
    doublings = min(failures - FREE_FAILURES, 10)
    return min(FIRST_PAUSE_SECONDS * (1 << doublings), LONGEST_PAUSE_SECONDS)
