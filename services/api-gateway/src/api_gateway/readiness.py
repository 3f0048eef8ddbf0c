"""Whether this gateway can serve: its own database, and the services behind its routes (decision 34).

One missing service is named and takes nothing else away; without every essential one there is nothing to serve. The broker is not
asked: without it everything is served.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from api_gateway.connection import UpstreamFailed
from api_gateway.forwarding import read_answer
from api_gateway.headers import request_head
from api_gateway.routes import IDENTITY, ORDERS, PAYMENTS, UPSTREAMS
from api_gateway.sliding_window import MICROSECONDS
from api_gateway.upstream import Upstream, Upstreams
from common.observability.logging import get_logger

log = get_logger(__name__)

# Signing in, buying and paying. While one of them answers, this gateway serves what the others cannot take away.
ESSENTIAL: Final = frozenset({IDENTITY, ORDERS, PAYMENTS})
# Within this time every probe gets the same result: a crowd of balancers costs each service one request in two seconds.
CHECKED_EVERY_SECONDS: Final = 2.0
# A service that is silent for longer is no service; a probe is delayed by no more than this.
CHECK_SECONDS_MAX: Final = 1.0

Check = Callable[[], Awaitable[bool]]
ServiceStatus = Literal["ready", "not_ready", "unreachable"]


@dataclass(frozen=True, slots=True)
class ReadinessReport:
    """What one round of checks found. `checked_at` is in microseconds."""

    database: bool
    services: Mapping[str, ServiceStatus]
    checked_at: int

    @property
    def missing(self) -> list[str]:
        """What keeps this gateway from serving; empty when it can."""
        if not self.database:
            return ["database"]
        absent = sorted(name for name in ESSENTIAL if self.services[name] != "ready")
        return absent if len(absent) == len(ESSENTIAL) else []

    def shown(self) -> dict[str, object]:
        """The public form."""
        all_ready = all(status == "ready" for status in self.services.values())
        services = {name: {"status": status, "essential": name in ESSENTIAL} for name, status in self.services.items()}
        return {"status": "ready" if all_ready else "degraded", "services": services}


class Readiness:
    """Checks database and services at most once in CHECKED_EVERY_SECONDS, however many ask."""

    def __init__(self, upstreams: Upstreams, database_answers: Check) -> None:
        self._upstreams, self._database_answers = upstreams, database_answers
        self._report: ReadinessReport | None = None
        self._round: asyncio.Task[ReadinessReport] | None = None

    async def report(self, now: int) -> ReadinessReport:
        """The latest report, or a new one when that is too old. `now` is in microseconds."""
        kept = self._report
        if kept is not None and 0 <= now - kept.checked_at < CHECKED_EVERY_SECONDS * MICROSECONDS:
            return kept
        if self._round is None:
            # A task of its own: a client that leaves does not end the round for the others that wait for it.
            self._round = asyncio.create_task(self._check(now))
        return await asyncio.shield(self._round)

    async def _check(self, now: int) -> ReadinessReport:
        try:
            asked = asyncio.gather(*(_status_of(self._upstreams[name]) for name in UPSTREAMS))
            database, statuses = await asyncio.gather(self._check_database(), asked)
            self._report = ReadinessReport(database, dict(zip(UPSTREAMS, statuses, strict=True)), now)
            return self._report
        finally:
            self._round = None

    async def _check_database(self) -> bool:
        try:
            async with asyncio.timeout(CHECK_SECONDS_MAX):
                return await self._database_answers()
        except Exception:
            log.warning("own database did not answer the readiness check", exc_info=True)
            return False


async def _status_of(upstream: Upstream) -> ServiceStatus:
    head = request_head("GET", b"/health/readiness", upstream.host_header, {}, b"\r\n", with_token=False)
    try:
        async with asyncio.timeout(CHECK_SECONDS_MAX):
            answer = await upstream.ask(head, b"", seconds_max=CHECK_SECONDS_MAX, may_repeat=True)
            try:
                await read_answer(answer)
            finally:
                answer.release()
    except (UpstreamFailed, TimeoutError):
        return "unreachable"
    return "ready" if answer.status == 200 else "not_ready"
