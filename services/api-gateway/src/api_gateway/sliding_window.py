"""Sliding-window quotas: an exact log of counted requests (contract section 4). Times are integers in microseconds
since 1970.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

MICROSECONDS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Counter:
    """A counted subject, its tier, and the number of requests in a window."""

    tier: str
    subject: str
    limit: int


# One per request: creating a frozen dataclass takes a microsecond, this a tenth.
class QuotaStatus(msgspec.Struct, frozen=True):
    """The state of the tightest counter. `oldest` is the time of the oldest counted request, or None."""

    tier: str
    limit: int
    counted: int
    oldest: int | None
    admitted: bool

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.counted)

    def reset_second(self, now: int, window: int) -> int:
        """Return the Unix second at which the oldest counted request expires; without one, of a request
        counted now.
        """
        return -(-((now if self.oldest is None else self.oldest) + window) // MICROSECONDS)

    def seconds_to_reset(self, now: int, window: int) -> int:
        """Return the whole seconds until the oldest counted request expires."""
        return max(0, -((now - window - (now if self.oldest is None else self.oldest)) // MICROSECONDS))

    def retry_after_seconds(self, now: int, window: int) -> int:
        """Return the whole seconds until one more request is admitted."""
        oldest = now if self.oldest is None else self.oldest
        return max(1, -((now - window - oldest) // MICROSECONDS))


def tightest(statuses: Sequence[QuotaStatus]) -> QuotaStatus:
    """Return the exhausted counter that stays full longest, or else the one with the least remaining."""
    refusing = [quota_status for quota_status in statuses if not quota_status.admitted]
    if refusing:
        return max(refusing, key=lambda quota_status: quota_status.oldest or 0)
    return min(statuses, key=lambda quota_status: quota_status.remaining)


class SlidingWindows:
    """The logs of many subjects in this process. A subject costs 8 bytes per counted request, at most its limit."""

    # About 40 MB if every subject is busy. Beyond it the oldest subject is evicted.
    SUBJECTS_MAX: Final = 50_000

    def __init__(self, window_seconds: int) -> None:
        self.window = window_seconds * MICROSECONDS
        self._logs: dict[tuple[str, str], deque[int]] = {}

    def __len__(self) -> int:
        return len(self._logs)

    def count(self, counter: Counter, now: int) -> QuotaStatus:
        """Count one request if there is room; a rejected one is not counted."""
        key = (counter.tier, counter.subject)
        log = self._logs.get(key)
        if log is None:
            self._make_room()
            log = self._logs[key] = deque()
        expired_at = now - self.window
        while log and log[0] <= expired_at:
            log.popleft()
        admitted = len(log) < counter.limit
        if admitted:
            log.append(now)
        return QuotaStatus(counter.tier, counter.limit, len(log), log[0] if log else None, admitted)

    def count_all(self, counters: Sequence[Counter], now: int) -> QuotaStatus:
        """Count one request under every counter, or under none if one is exhausted."""
        if len(counters) == 1:
            return self.count(counters[0], now)
        before = [self.peek(counter, now) for counter in counters]
        if all(quota_status.admitted for quota_status in before):
            return tightest([self.count(counter, now) for counter in counters])
        return tightest(before)

    def peek(self, counter: Counter, now: int) -> QuotaStatus:
        """Return the state without counting. `admitted` is whether one more request would have room."""
        log = self._logs.get((counter.tier, counter.subject), ())
        expired_at = now - self.window
        living = [at for at in log if at > expired_at]
        oldest = living[0] if living else None
        return QuotaStatus(counter.tier, counter.limit, len(living), oldest, admitted=len(living) < counter.limit)

    def sweep(self, now: int) -> None:
        """Remove subjects whose last counted request has left the window."""
        expired_at = now - self.window
        for key in [key for key, log in self._logs.items() if not log or log[-1] <= expired_at]:
            del self._logs[key]

    def _make_room(self) -> None:
        if len(self._logs) >= self.SUBJECTS_MAX:
            del self._logs[next(iter(self._logs))]
