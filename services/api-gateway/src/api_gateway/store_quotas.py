"""Quota counters in Redis or Valkey, for all replicas (contract section 4). Imported only where a store is configured:
the client is 8 MiB of a process.

**Without the quota store** tier 4 is 503, and other tiers count in the process. `gateway_quota_store_away_total`
counts both.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import redis.asyncio as redis
from redis.exceptions import RedisError

from api_gateway.batches import Batches
from api_gateway.limits import LIMITS
from api_gateway.metrics import Metrics
from api_gateway.sliding_window import Counter, QuotaStatus, SlidingWindows, tightest
from common.observability.logging import get_logger
from common.primitives.problems import Unavailable
from common.primitives.waiting import bounded

log = get_logger(__name__)

# A slower store would delay the request, which itself takes a few milliseconds.
# The pause after a failure, so that an outage costs one request in many.
UNAVAILABLE_SECONDS: Final = 1.0
# Waiting checks share the next round trip; a larger script would delay the others.
BATCH_MAX: Final = 64

# Each check is a group of counters: counted under all of them, or under none. The log of a subject is a list of times
# of Redis's own clock, so that all gateways agree. KEYS: one for each counter. ARGV: the window, then for each check
# the number of its counters, whether it counts (1) or peeks (0), and the limits.
_SCRIPT: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window = tonumber(ARGV[1])
local answers, key, argument = {now}, 1, 2
while argument <= #ARGV do
  local counters, counts = tonumber(ARGV[argument]), ARGV[argument + 1] == '1'
  argument = argument + 2
  local admitted, held = true, {}
  for i = 1, counters do
    local name = KEYS[key + i - 1]
    local oldest = redis.call('LINDEX', name, 0)
    while oldest and tonumber(oldest) <= now - window do
      redis.call('LPOP', name)
      oldest = redis.call('LINDEX', name, 0)
    end
    held[i] = redis.call('LLEN', name)
    if held[i] >= tonumber(ARGV[argument + i - 1]) then admitted = false end
  end
  for i = 1, counters do
    local name = KEYS[key + i - 1]
    local room = held[i] < tonumber(ARGV[argument + i - 1])
    if counts and admitted then
      redis.call('RPUSH', name, string.format('%.0f', now))
      redis.call('PEXPIRE', name, math.ceil(window / 1000) + 1000)
      held[i] = held[i] + 1
    end
    answers[#answers + 1] = held[i]
    answers[#answers + 1] = tonumber(redis.call('LINDEX', name, 0) or -1)
    answers[#answers + 1] = room and 1 or 0
  end
  key, argument = key + counters, argument + counters
end
return answers
"""


@dataclass(frozen=True, slots=True)
class _Check:
    counters: Sequence[Counter]
    counts: bool


class StoreQuotas:
    """Counting in Redis or Valkey. Checks that arrive during a round trip share the next one."""

    def __init__(
        self,
        url: str,
        windows: SlidingWindows,
        metrics: Metrics,
        *,
        prefix: str = "campus:quota:",
        seconds_max: float = LIMITS.quota_store_seconds_max,
    ) -> None:
        self._seconds_max = seconds_max
        self._windows, self._metrics, self._prefix = windows, metrics, prefix
        self._client: Any = redis.from_url(url, socket_timeout=seconds_max, socket_connect_timeout=seconds_max)
        if url.startswith("rediss:"):
            self._client.connection_pool.connection_class = _VerifiedConnection
        self._script = self._client.register_script(_SCRIPT)
        self._checks = Batches(self._run, size_max=BATCH_MAX, concurrency_max=1)
        self._unavailable_until = 0.0

    async def count(self, counters: Sequence[Counter], now: int, *, strict: bool) -> QuotaStatus:
        try:
            return await self._run_check(counters, counts=True)
        except (RedisError, OSError, TimeoutError) as error:
            self._metrics.quota_fallback["refused" if strict else "counted here"] += 1
            if strict:
                raise Unavailable from error
            return self._windows.count_all(counters, now)

    async def peek(self, counter: Counter, now: int) -> QuotaStatus:
        try:
            return await self._run_check([counter], counts=False)
        except (RedisError, OSError, TimeoutError):
            return self._windows.peek(counter, now)

    async def close(self) -> None:
        await self._checks.close()
        await self._client.aclose()

    async def _run_check(self, counters: Sequence[Counter], *, counts: bool) -> QuotaStatus:
        if asyncio.get_running_loop().time() < self._unavailable_until:
            raise TimeoutError("the quota store failed a moment ago")
        return await self._checks.submit(_Check(counters, counts))

    async def _run(self, batch: Sequence[_Check]) -> Sequence[QuotaStatus]:
        keys = [f"{self._prefix}{line.tier}:{line.subject}" for check in batch for line in check.counters]
        arguments: list[int] = [self._windows.window]
        for check in batch:
            arguments += [len(check.counters), int(check.counts), *(line.limit for line in check.counters)]
        try:
            results: list[int] = await bounded(self._script(keys=keys, args=arguments), self._seconds_max)
        except (RedisError, OSError, TimeoutError) as error:
            log.warning("quota store unavailable: counting in this process", error=repr(error))
            self._unavailable_until = asyncio.get_running_loop().time() + UNAVAILABLE_SECONDS
            raise
        return _statuses(batch, results)


class _VerifiedConnection(redis.SSLConnection):
    """A connection over TLS that reads the file of authorities each time it connects: it may have changed."""

    async def connect(self) -> None:
        self.ssl_context.context = None
        await super().connect()  # type: ignore[no-untyped-call]


def _statuses(batch: Sequence[_Check], results: Sequence[int]) -> Sequence[QuotaStatus]:
    """Parse the script's result, check by check: three numbers for each counter, after the time."""
    found, position = [], 1
    for check in batch:
        statuses = []
        for counter in check.counters:
            held, oldest, room = results[position : position + 3]
            at = None if oldest < 0 else oldest
            statuses.append(QuotaStatus(counter.tier, counter.limit, held, at, admitted=room == 1))
            position += 3
        found.append(tightest(statuses))
    return found
