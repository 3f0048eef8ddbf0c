"""When to try again: a pure policy, so that a table tests it (specification: Ingestion rules 5 and 6)."""

import random
from dataclasses import dataclass

# The specification's ladder: five retries, in seconds.
DELAYS_SECONDS = (1.0, 5.0, 25.0, 125.0, 600.0)
# Small against every step, so that the head of a delay queue never holds back what stands behind it for long.
JITTER = 0.2


@dataclass(frozen=True, slots=True)
class RetryLadder:
    """The delays between attempts, in seconds. Attempt 1 is the first delivery; after the last delay comes the dead letter."""

    delays_seconds: tuple[float, ...] = DELAYS_SECONDS

    @property
    def attempts_max(self) -> int:
        return len(self.delays_seconds) + 1

    def is_last(self, attempt: int) -> bool:
        """Whether no retry follows this attempt."""
        return attempt >= self.attempts_max

    def delay_after(self, attempt: int) -> float | None:
        """Seconds to wait after a failed `attempt` (1, 2, ...); None when the ladder has ended."""
        return None if self.is_last(attempt) else self.delays_seconds[attempt - 1]


def jittered(seconds: float) -> float:
    """`seconds` moved by at most 20 % either way, so that what failed together does not return together."""
    return seconds * random.uniform(1 - JITTER, 1 + JITTER)
