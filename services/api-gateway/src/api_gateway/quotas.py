"""Quota counters: in this process, or in a store for all replicas (`store_quotas`; contract section 4).

**Quotas are sent in two forms**: the three named headers, and `RateLimit-Policy` and `RateLimit` of
draft-ietf-httpapi-ratelimit-headers-11, such as `"tier-2";q=300;w=60` and `"tier-2";r=299;t=60`. They describe the
tightest counter. `t` is never more than `Retry-After`.
"""

from collections.abc import Sequence
from typing import Protocol

from api_gateway.sliding_window import Counter, QuotaStatus, SlidingWindows


class Quotas(Protocol):
    """Count requests. While the store is unavailable, `strict` counters raise Unavailable (503) instead of counting in
    this process.
    """

    async def count(self, counters: Sequence[Counter], now: int, *, strict: bool) -> QuotaStatus: ...

    async def peek(self, counter: Counter, now: int) -> QuotaStatus: ...

    async def close(self) -> None: ...


class ProcessQuotas:
    """Counting in this process: for a single gateway, or while the store is unavailable."""

    def __init__(self, windows: SlidingWindows) -> None:
        self._windows = windows

    async def count(self, counters: Sequence[Counter], now: int, *, strict: bool) -> QuotaStatus:
        return self._windows.count_all(counters, now)

    async def peek(self, counter: Counter, now: int) -> QuotaStatus:
        return self._windows.peek(counter, now)

    async def close(self) -> None:
        """Do nothing."""
