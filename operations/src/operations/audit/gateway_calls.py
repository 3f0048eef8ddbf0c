"""Read-only calls to a payment gateway: paced below its rate limit, and repeated when it limits or fails."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from common.primitives.tls import client_tls
from operations.audit.gateway import GatewayNotCompared

# Paystack allows 600 calls a minute for all programs of the account: the audit leaves half of them to the services.
_CALLS_PER_SECOND: Final = 5.0
# A small system is read without a pause.
_BURST_CALLS: Final = 60.0
# Of one call. A limit's window is a minute; a longer outage ends the audit, which continues with the same page later.
_TRIES: Final = 6
_WAIT_SECONDS_MAX: Final = 120.0
_LIMIT_HEADERS: Final = ("retry-after", "x-ratelimit-reset")


@dataclass(slots=True)
class GatewayCalls:
    """`GET` at one gateway."""

    client: httpx.AsyncClient
    name: str
    _allowance: float = _BURST_CALLS
    _paced_at: float = field(default_factory=time.monotonic)
    _has_succeeded: bool = False

    async def get(self, path: str, query: Mapping[str, str | int] | None = None) -> httpx.Response:
        """Return the response with status 200, 400 or 404. Raises GatewayNotCompared for any other one, or none.

        Nothing is repeated before the first success: a wrong address or key fails at once.
        """
        for attempt in range(_TRIES):
            await self._pace()
            try:
                response = await self.client.get(path, params=query)
                failure = f"{path} answered {response.status_code}"
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                response, failure = None, f"{type(error).__name__}: {error}"
            if response is not None and response.status_code in (200, 400, 404):
                self._has_succeeded = True
                return response
            is_limited = response is not None and response.status_code == 429
            is_final = response is not None and response.status_code < 500 and not is_limited
            if is_final or attempt == _TRIES - 1 or not (self._has_succeeded or is_limited):
                break
            await asyncio.sleep(_wait_seconds(response, attempt))
        raise GatewayNotCompared(f"{self.name}{failure}")

    async def _pace(self) -> None:
        now = time.monotonic()
        self._allowance = min(_BURST_CALLS, self._allowance + (now - self._paced_at) * _CALLS_PER_SECOND)
        self._paced_at = now
        self._allowance -= 1
        if self._allowance < 0:
            await asyncio.sleep(-self._allowance / _CALLS_PER_SECOND)


@asynccontextmanager
async def gateway_calls(url: str, key: str, name: str = "") -> AsyncIterator[GatewayCalls]:
    """Call at this address with this key. `name` begins the text of its errors."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(
        base_url=url, headers=headers, timeout=30, trust_env=False, verify=client_tls()
    ) as client:
        yield GatewayCalls(client, name)


def _wait_seconds(response: httpx.Response | None, attempt: int) -> float:
    """Return the seconds that the gateway names, else twice as long as before."""
    named: Any = None if response is None else next(filter(None, map(response.headers.get, _LIMIT_HEADERS)), None)
    if named is not None and named.isascii() and named.isdigit():
        return min(_WAIT_SECONDS_MAX, float(named))
    return float(2**attempt)
