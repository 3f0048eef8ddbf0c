"""The sliding window: an exact log of the requests counted (contract section 4). Instants are integers in microseconds since 1970."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

MICROSECONDS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Counter:
    """Who is counted, under which quota, and how many requests the window holds."""

    tier: str
    subject: str
    limit: int


# One of each request: a frozen dataclass takes a microsecond to make, this a tenth.
class QuotaStatus(msgspec.Struct, frozen=True):
    """What a request found: the tightest of its counters. `oldest` is the instant of the oldest counted request, or None."""

    tier: str
    limit: int
    counted: int
    oldest: int | None
    admitted: bool

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.counted)

    def reset_second(self, now: int, window: int) -> int:
        """The Unix second at which the oldest counted request has left the window; of one counted now when there is none."""
        return math.ceil(((now if self.oldest is None else self.oldest) + window) / MICROSECONDS)

    def seconds_to_reset(self, now: int, window: int) -> int:
        """Whole seconds in which no more than what remains is admitted: until the oldest counted request has left the window."""
        return max(0, math.ceil(((now if self.oldest is None else self.oldest) + window - now) / MICROSECONDS))

    def retry_after_seconds(self, now: int, window: int) -> int:
        """Whole seconds after which one more request is admitted."""
        oldest = now if self.oldest is None else self.oldest
        return max(1, math.ceil((oldest + window - now) / MICROSECONDS))


def tightest(statuses: Sequence[QuotaStatus]) -> QuotaStatus:
    """The refusing counter that stays full longest, or else the one with the least left."""
    refusing = [standing for standing in statuses if not standing.admitted]
    if refusing:
        return max(refusing, key=lambda standing: standing.oldest or 0)
    return min(statuses, key=lambda standing: standing.remaining)


class SlidingWindows:
    """Logs of many subjects in this process. A subject costs 8 bytes for each counted request, at most its limit."""

    # About 40 MB when every subject is a busy one. Beyond it the one seen longest ago is forgotten.
    SUBJECTS_MAX: Final = 50_000

    def __init__(self, window_seconds: int) -> None:
        self.window = window_seconds * MICROSECONDS
        self._logs: dict[tuple[str, str], deque[int]] = {}

    def __len__(self) -> int:
        return len(self._logs)

    def count(self, counter: Counter, now: int) -> QuotaStatus:
        """Counts one request if there is room; a refused one is not counted."""
        key = (counter.tier, counter.subject)
        log = self._logs.get(key)
        if log is None:
            self._make_room()
            log = self._logs[key] = deque()
        gone = now - self.window
        while log and log[0] <= gone:
            log.popleft()
        admitted = len(log) < counter.limit
        if admitted:
            log.append(now)
        return QuotaStatus(counter.tier, counter.limit, len(log), log[0] if log else None, admitted)

    def count_all(self, counters: Sequence[Counter], now: int) -> QuotaStatus:
        """Counts one request under every counter, or under none when one of them has no room."""
        if len(counters) == 1:
            return self.count(counters[0], now)
        before = [self.look(counter, now) for counter in counters]
        if all(standing.admitted for standing in before):
            return tightest([self.count(counter, now) for counter in counters])
        return tightest(before)

    def look(self, counter: Counter, now: int) -> QuotaStatus:
        """How things stand, without counting. `admitted` tells whether one more would find room."""
        log = self._logs.get((counter.tier, counter.subject), ())
        gone = now - self.window
        living = [at for at in log if at > gone]
        oldest = living[0] if living else None
        return QuotaStatus(counter.tier, counter.limit, len(living), oldest, admitted=len(living) < counter.limit)

    def sweep(self, now: int) -> None:
        """Forgets subjects whose last counted request has left the window."""
        gone = now - self.window
        for key in [key for key, log in self._logs.items() if not log or log[-1] <= gone]:
            del self._logs[key]

    def _make_room(self) -> None:
        if len(self._logs) >= self.SUBJECTS_MAX:
            del self._logs[next(iter(self._logs))]
