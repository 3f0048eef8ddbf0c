"""Three times the load that the machine carries for a minute, and back: does the system recover without a hand?

Requests are sent when they are due, whether or not earlier ones were answered, and none is repeated. The capacity is
measured in the same run by clients that wait for each response. Beside them, whole orders with their payments and
payouts go on at a low rate, whose clients repeat requests as the SDKs do.
"""

import asyncio
import hashlib
import hmac
import itertools
import json
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import aiohttp
from rich.table import Table

from campus_tools.launcher.system import System
from lab.bench.figures import percentile
from lab.drills.doubled import pay_without_kept_connections
from lab.drills.freeze import unsent_messages
from lab.drills.load import WEBHOOK
from lab.drills.scale.journeys import Journeys
from lab.drills.scale.outcome import record_outcome
from lab.report import Report
from lab.systems import Log, broken_invariants, rows_of
from operations.connecting import connected
from operations.journey import Marketplace, SignedInUser

# Of ten requests seven read, two place an order, and one is a webhook.
READ, ORDER, WEBHOOKS = "reads", "orders", "webhooks"
_MIX: Final = (READ, ORDER, READ, READ, WEBHOOKS, READ, READ, ORDER, READ, READ)
_BUYERS: Final = 8
# Clients that keep two cores busy.
_CLOSED_CLIENTS: Final = 32
_CAPACITY_SECONDS: Final = 20.0
_BASELINE_SECONDS: Final = 30.0
# The share of the capacity that the system serves before and after, and the multiple in between.
_BASELINE, _OVERLOAD = 1 / 3, 3.0
# After it everything is as before within a minute.
_RECOVERED_SECONDS: Final = 60.0
_PRIORITY: Final = -10
# A client's own patience.
_RESPONSE_SECONDS_MAX: Final = 30.0
# Beyond them a load generator on the same cores measures itself.
_IN_FLIGHT_MAX: Final = 1_000
# The median of a busy machine varies by itself; a system that does not recover is slower by a multiple of ten.
_SLOWER_MAX: Final = 3.0
_WAITING_MAX: Final = 50
_WHOLE_ORDERS_PER_SECOND: Final = 0.3
_STORED: Final = "SELECT payload->'data'->>'id' AS id FROM processed_webhook_events WHERE event_type = $1"
_EVENT: Final = "subscription.create"


class Call(NamedTuple):
    """One request: its kind, when it was due and answered, its status (0: no response), and what it created."""

    kind: str
    due: float
    ended: float
    status: int
    has_retry_after: bool
    created: str

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_shed(self) -> bool:
        """Refused for the load, with the time after which to repeat."""
        return self.status in (429, 503) and self.has_retry_after


async def drill_overload(system: System, market: Marketplace, seconds: float, log: Log) -> Report:
    """Measure the capacity, load the system with a third, three times it for `seconds`, and a third again."""
    await pay_without_kept_connections(market, system)
    # A generator that waits for a processor measures itself: only root may take precedence.
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, _PRIORITY)
    log("signing up buyers")
    journeys = await Journeys.open(market)
    buyers = [await _sign_up(market) for _ in range(_BUYERS)]
    report, load = Report(), Load(market, buyers, journeys.products)
    async with aiohttp.ClientSession(
        system.base_url,
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(_RESPONSE_SECONDS_MAX),
    ) as session:
        load.session = session
        log("measuring the capacity")
        capacity = await load.capacity()
        async with _whole_orders(journeys):
            log(f"{capacity:.0f} requests per second; a third of it for {_BASELINE_SECONDS:.0f} s")
            before = await load.send(_BASELINE * capacity, _BASELINE_SECONDS)
            waiting_before = await waiting_messages(system, market)
            log(f"three times it for {seconds:.0f} s")
            during = await load.send(_OVERLOAD * capacity, seconds, wait=False)
            log(f"a third for {_RECOVERED_SECONDS:.0f} s, and then for {_BASELINE_SECONDS:.0f} s more")
            draining = await load.send(_BASELINE * capacity, _RECOVERED_SECONDS, wait=False)
            after = await load.send(_BASELINE * capacity, _BASELINE_SECONDS)
            waiting_after = await waiting_messages(system, market)
    report.rows["capacity; sent late by at most"] = f"{capacity:.0f} requests per second; {load.latest:.1f} s"
    report.tables.append(
        table_of({"before": before, "three times": during, "60 s after": draining, "then": after}, load.unsent)
    )
    record_recovery(report, before, after, waiting_before, waiting_after)
    record_rejections(report, [*before, *during, *draining, *after])
    log("waiting for orders and payouts that are under way")
    await record_outcome(report, system, market, journeys)
    await _record_stored(report, system, [*before, *during, *draining, *after])
    report.require_none("violated invariants of the audit", await broken_invariants(system, market, log))
    return report


def record_recovery(
    report: Report, before: Sequence[Call], after: Sequence[Call], waiting_before: int, waiting_after: int
) -> None:
    """Compare the time of responses and the waiting messages before the overload and a minute after it."""
    earlier, later = (
        percentile([call.ended - call.due for call in calls if call.is_success], 0.5) for calls in (before, after)
    )
    ratio = later / earlier if earlier and later else float("inf")
    report.require_in_time("median a minute after, to that before", f"{ratio:.2f}", holds=ratio <= _SLOWER_MAX)
    report.require(
        "waiting messages before, a minute after",
        f"{waiting_before}, {waiting_after}",
        holds=waiting_after <= max(_WAITING_MAX, 2 * waiting_before),
    )


def record_rejections(report: Report, calls: Sequence[Call]) -> None:
    """Require that a request succeeds or is shed, and that no webhook is shed while others are served."""
    odd = Counter(
        f"{call.kind}: {call.status or 'no response'}" for call in calls if not (call.is_success or call.is_shed)
    )
    report.require_none("neither served nor refused with Retry-After", odd)
    # By the second in which a request was answered.
    served = {int(call.ended) for call in calls if call.is_success and call.kind != WEBHOOKS}
    refused = [call for call in calls if call.kind == WEBHOOKS and call.is_shed and int(call.ended) in served]
    report.require("webhooks refused while others were served", len(refused), holds=not refused)


def table_of(phases: dict[str, Sequence[Call]], unsent: int) -> Table:
    """Return a row for each phase and kind of request."""
    table = Table("phase", "kind", "sent", "served", "refused", "median, p99 of served (s)")
    for phase, calls in phases.items():
        for kind in (READ, ORDER, WEBHOOKS):
            own = [call for call in calls if call.kind == kind]
            times = [call.ended - call.due for call in own if call.is_success]
            shown = f"{percentile(times, 0.5) or 0:.3f}, {percentile(times, 0.99) or 0:.3f}"
            table.add_row(phase, kind, str(len(own)), str(len(times)), str(sum(call.is_shed for call in own)), shown)
    table.caption = f"{unsent} requests were due while {_IN_FLIGHT_MAX} were in progress, and not sent"
    return table


@dataclass(slots=True)
class Load:
    """Requests of all kinds in a fixed sequence."""

    market: Marketplace
    buyers: Sequence[SignedInUser]
    products: Sequence[str]
    session: aiohttp.ClientSession = field(init=False)
    unsent: int = 0
    latest: float = 0.0
    """The longest time by which a request was sent late, in seconds."""
    _kinds: Iterator[str] = field(default_factory=lambda: itertools.cycle(_MIX))
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _running: set[asyncio.Task[None]] = field(default_factory=set)

    async def capacity(self) -> float:
        """Return the requests per second that clients get served which wait for each response."""
        began, served = time.monotonic(), 0

        async def client() -> None:
            nonlocal served
            while time.monotonic() - began < _CAPACITY_SECONDS:
                call = await self._call(next(self._kinds), time.monotonic())
                served += call.is_success

        await asyncio.gather(*(client() for _ in range(_CLOSED_CLIENTS)))
        return served / (time.monotonic() - began)

    async def send(self, rate: float, seconds: float, *, wait: bool = True) -> list[Call]:
        """Send `rate` requests per second. Without `wait`, calls that last longer than the phase are not waited for.

        The list is complete when all calls have ended.
        """
        began, calls = time.monotonic(), list[Call]()
        for number in range(int(rate * seconds)):
            due = began + number / rate
            if (early := due - time.monotonic()) > 0:
                await asyncio.sleep(early)
            self.latest = max(self.latest, -early)
            if len(self._running) >= _IN_FLIGHT_MAX:
                self.unsent += 1
                continue
            task = asyncio.create_task(self._record(calls, due))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        if wait:
            await asyncio.gather(*self._running)
        return calls

    async def _record(self, calls: list[Call], due: float) -> None:
        calls.append(await self._call(next(self._kinds), due))

    async def _call(self, kind: str, due: float) -> Call:
        send: dict[str, Callable[[], Awaitable[tuple[int, bool, str]]]] = {
            READ: self._read, ORDER: self._order, WEBHOOKS: self._webhook
        }  # fmt: skip
        try:
            status, has_retry_after, created = await send[kind]()
        except (aiohttp.ClientError, TimeoutError):
            status, has_retry_after, created = 0, False, ""
        return Call(kind, due, time.monotonic(), status, has_retry_after, created)

    async def _read(self) -> tuple[int, bool, str]:
        number = next(self._numbers)
        if number % 2:
            return await self._request("GET", "/api/products")
        return await self._request("GET", "/api/orders", headers=self.buyers[number % len(self.buyers)].headers)

    async def _order(self) -> tuple[int, bool, str]:
        number = next(self._numbers)
        body = {"items": [{"productId": self.products[number % len(self.products)], "quantity": 1}]}
        headers = {**self.buyers[number % len(self.buyers)].headers, "Idempotency-Key": str(uuid4())}
        return await self._request("POST", "/api/orders/checkout", json.dumps(body).encode(), headers)

    async def _webhook(self) -> tuple[int, bool, str]:
        event_id = str(uuid4())
        raw = json.dumps({"event": _EVENT, "data": {"id": event_id}}).encode()
        key = self.market.secrets["GATEWAY_SECRET_KEY"].split(",", 1)[0].encode()
        signature = hmac.new(key, raw, hashlib.sha512).hexdigest()
        status, has_retry_after, _ = await self._request("POST", WEBHOOK, raw, {"X-Gateway-Signature": signature})
        return status, has_retry_after, event_id

    async def _request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bool, str]:
        sent = {"Content-Type": "application/json", **(headers or {})}
        async with self.session.request(method, path, data=body, headers=sent) as response:
            content = await response.read()
            created = str(json.loads(content)["data"]["id"]) if response.status == 201 else ""
            return response.status, "Retry-After" in response.headers, created


async def waiting_messages(system: System, market: Marketplace) -> int:
    """Return the unpublished outbox rows, and the messages of the broker outside of the delay queues."""
    queues = await market.http.get(f"{system.servers.management_url}/api/queues")
    ready = [queue for queue in queues.raise_for_status().json() if not queue["name"].startswith("campus.delay")]
    return (await unsent_messages(system)).total() + sum(int(queue.get("messages", 0)) for queue in ready)


@asynccontextmanager
async def _whole_orders(journeys: Journeys) -> AsyncIterator[None]:
    running = asyncio.create_task(journeys.run(_WHOLE_ORDERS_PER_SECOND))
    try:
        yield
    finally:
        journeys.stop()
        await running


async def _sign_up(market: Marketplace) -> SignedInUser:
    return await market.sign_up(
        f"overload.{uuid4().hex}@unilag.edu.ng", "Over Load", f"+234803{uuid4().int % 10**7:07d}"
    )


async def _record_stored(report: Report, system: System, calls: Sequence[Call]) -> None:
    """Require that every acknowledged order and webhook is stored."""
    orders = {UUID(call.created) for call in calls if call.kind == ORDER and call.is_success}
    stored = {row["id"] for row in await rows_of(system, "orders", "SELECT id FROM orders")}
    webhooks = {call.created for call in calls if call.kind == WEBHOOKS and call.is_success}
    # The auditor's account reads no payload.
    url = urlsplit(system.servers.database_url)._replace(path="/campus_payments").geturl()
    async with connected(url) as connection:
        received = {row["id"] for row in await connection.fetch(_STORED, _EVENT)}
    report.rows["orders and webhooks acknowledged"] = f"{len(orders)}, {len(webhooks)}"
    report.require_none("of them lost", [*(orders - stored), *(webhooks - received)])
