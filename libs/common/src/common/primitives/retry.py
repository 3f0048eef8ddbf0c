"""The retry policy, as a pure function of the attempt (specification: Ingestion rules 5 and 6)."""

import random
from dataclasses import dataclass

# The specification's ladder: five retries, in seconds.
DELAYS_SECONDS = (1.0, 5.0, 25.0, 125.0, 600.0)
# Small compared with every delay, so that the head of a delay queue does not block later messages for long.
JITTER = 0.2


@dataclass(frozen=True, slots=True)
class RetryLadder:
    """The delays between attempts, in seconds. Attempt 1 is the first delivery; the last delay precedes the dead
    letter.
    """

    delays_seconds: tuple[float, ...] = DELAYS_SECONDS

    @property
    def attempts_max(self) -> int:
        return len(self.delays_seconds) + 1

    def is_last(self, attempt: int) -> bool:
        """Return whether no retry follows this attempt."""
        return attempt >= self.attempts_max

    def delay_after(self, attempt: int) -> float | None:
        """Seconds to wait after a failed `attempt` (1, 2, ...); None when the ladder has ended."""
        return None if self.is_last(attempt) else self.delays_seconds[attempt - 1]


def jittered(seconds: float) -> float:
    """`seconds` plus or minus up to 20 %, so that simultaneous failures are not retried simultaneously."""
    return seconds * random.uniform(1 - JITTER, 1 + JITTER)
