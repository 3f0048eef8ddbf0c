"""Readiness of this gateway: its database and the services of its routes (decision 34).

The broker is not checked: every route works without it.

`GET /health/readiness` on the public port reports each service (`ready`, `not_ready`, `unreachable`) in
`data.services`. It is 200 while one of the essential services (identity, orders, payments) is ready. It is 503
without the gateway's database, without all of them, and while draining. Probes within two seconds share one round of
checks. The internal port checks the database only (decision 34). An unavailable service is 503 on its own routes
only.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from api_gateway.connection import UpstreamFailed
from api_gateway.forwarding import read_response
from api_gateway.headers import request_head
from api_gateway.limits import LIMITS
from api_gateway.services import IDENTITY, ORDERS, PAYMENTS, UPSTREAMS
from api_gateway.sliding_window import MICROSECONDS
from api_gateway.upstream import Upstream, Upstreams
from common.observability.logging import get_logger
from common.primitives.waiting import bounded
from common.web.response_models import ResponseModel

log = get_logger(__name__)

# Sign-in, purchase and payment. While one of them responds, this gateway is useful.
ESSENTIAL: Final = frozenset({IDENTITY, ORDERS, PAYMENTS})
# Probes within this time share a result: many load balancers cost each service one request in two seconds.
CHECKED_EVERY_SECONDS: Final = 2.0

Check = Callable[[], Awaitable[bool]]
ServiceStatus = Literal["ready", "not_ready", "unreachable"]


class ServiceReadiness(ResponseModel):
    """The health of one service."""

    status: ServiceStatus
    essential: bool


class ReadyGateway(ResponseModel):
    """The gateway serves requests. `degraded`: a service is not ready."""

    status: Literal["ready", "degraded"]
    services: dict[str, ServiceReadiness]


@dataclass(frozen=True, slots=True)
class ReadinessReport:
    """The result of one round of checks. `checked_at` is in microseconds."""

    database: bool
    services: Mapping[str, ServiceStatus]
    checked_at: int

    @property
    def missing(self) -> list[str]:
        """The reasons why this gateway is not ready; empty when it is."""
        if not self.database:
            return ["database"]
        absent = sorted(name for name in ESSENTIAL if self.services[name] != "ready")
        return absent if len(absent) == len(ESSENTIAL) else []

    def response(self) -> ReadyGateway:
        """Return the public form."""
        all_ready = all(status == "ready" for status in self.services.values())
        services = {
            name: ServiceReadiness(status=status, essential=name in ESSENTIAL) for name, status in self.services.items()
        }
        return ReadyGateway(status="ready" if all_ready else "degraded", services=services)


class Readiness:
    """Check database and services at most once in CHECKED_EVERY_SECONDS, whatever the number of probes."""

    def __init__(
        self, upstreams: Upstreams, check_database: Check, seconds_max: float = LIMITS.readiness_seconds_max
    ) -> None:
        self._seconds_max = seconds_max
        self._upstreams, self._ping_database = upstreams, check_database
        self._report: ReadinessReport | None = None
        self._round: asyncio.Task[ReadinessReport] | None = None

    async def report(self, now: int) -> ReadinessReport:
        """Return the latest report, or a new one when it is too old. `now` is in microseconds."""
        cached = self._report
        if cached is not None and 0 <= now - cached.checked_at < CHECKED_EVERY_SECONDS * MICROSECONDS:
            return cached
        if self._round is None:
            # A separate task: a probe that disconnects does not end the round for others.
            self._round = asyncio.create_task(self._check(now))
        return await asyncio.shield(self._round)

    async def _check(self, now: int) -> ReadinessReport:
        try:
            probes = asyncio.gather(*(_status_of(self._upstreams[name], self._seconds_max) for name in UPSTREAMS))
            database, statuses = await asyncio.gather(self._check_database(), probes)
            self._report = ReadinessReport(database, dict(zip(UPSTREAMS, statuses, strict=True)), now)
            return self._report
        finally:
            self._round = None

    async def _check_database(self) -> bool:
        try:
            return await bounded(self._ping_database(), self._seconds_max)
        except Exception:
            log.warning("the gateway's database failed the readiness check", exc_info=True)
            return False


async def _status_of(upstream: Upstream, seconds_max: float) -> ServiceStatus:
    """Return whether the service serves requests. Its readiness is stricter: it fails while the broker is away
    (decision 82).
    """
    head = request_head("GET", b"/health/serving", upstream.host_header, {}, b"\r\n", with_token=False)
    try:
        async with asyncio.timeout(seconds_max):
            response = await upstream.send_request(head, b"", seconds_max=seconds_max, may_repeat=True)
            try:
                await read_response(response)
            finally:
                response.release()
    except (UpstreamFailed, TimeoutError):
        return "unreachable"
    # The version before has no such path.
    return "ready" if response.status in (200, 404) else "not_ready"
