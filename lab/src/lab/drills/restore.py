"""Destroy the databases and the broker, restore the databases to an instant, and let the gateway resend the webhooks of
its last days.

Transfers after the instant must not be sent twice, messages of the broker must be processed, and the audit must find
nothing.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit
from uuid import uuid4

from campus_tools.launcher import Startup, System
from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.runtimes import CHECKOUT, Runtime
from campus_tools.servers import ServerPorts, Servers, find_servers
from campus_tools.servers.point_in_time import PointInTime
from campus_tools.servers.postgresql import PrivatePostgresql
from campus_tools.servers.rabbitmq import PrivateRabbitmq
from lab.bench.programs import BenchFailed
from lab.drills.doubled import READY_SECONDS
from lab.drills.history import (
    Activity,
    History,
    Users,
    hold_release_event,
    repeat_lost_actions,
    resume_payouts_worker,
    trade_after_the_instant,
    trade_before,
    trade_up_to_the_instant,
)
from lab.histories.recording import History as Recording
from lab.histories.verdict import record_verdict
from lab.report import Report
from lab.systems import (
    NO_QUOTA,
    NO_TRACING,
    Log,
    broken_invariants,
    clients_of,
    gateway_bearer,
    rows_of,
    stopped_at_the_end,
    transfers_of,
    value_of,
)
from operations.connecting import connected
from operations.journey import Marketplace, StepFailed

RESENT: Final = timedelta(days=3)
# The age of the oldest lost message: short here, in production that of the longest queue.
REPUBLISHED: Final = timedelta(hours=1)
PUBLISHERS: Final = ("identity", "orders", "payments", "payouts", "notifications")
_QUIET_SECONDS_MAX: Final = 240.0
# A shortened retry ladder: a message without a subject becomes a dead letter within a minute.
SETTINGS: Final = {**NO_QUOTA, **NO_TRACING, "RETRY_DELAYS_SECONDS": "0.5,1,2,5,10"}

_WAITING: Final = {
    **dict.fromkeys(PUBLISHERS, "SELECT count(*) FROM outbox WHERE published_at IS NULL"),
    "payments": """
        SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL)
             + (SELECT count(*) FROM processed_webhook_events WHERE outcome = 'queued')
    """,
    "payouts": """
        SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL)
             + (SELECT count(*) FROM payout_transfers WHERE status IN ('reserved', 'submitting', 'unknown', 'pending'))
    """,
}
_DEAD: Final = "SELECT count(*) FROM dead_letters WHERE resolved_at IS NULL"
_IS_COMPARED: Final = """
SELECT place = system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
FROM transfer_comparison, pg_control_system()
"""
_REFUNDED: Final = "SELECT count(*) FROM refunds WHERE status = 'settled'"
_CHARGES: Final = "SELECT verdict, count(*) AS count FROM charges GROUP BY verdict"
_FOUND: Final = "SELECT outcome, count(*) AS count FROM found_transfers GROUP BY outcome"


@dataclass(frozen=True, slots=True)
class RestoreLoad:
    """The number of orders of each kind, and the seconds by which payouts' database is older than the others."""

    each: int = 3
    skew_seconds: float = 0.0


class Copies(Protocol):
    """The copies of a server from which it is restored."""

    def back_up(self) -> None:
        """Copy the running server."""

    async def archive_all(self) -> None:
        """Wait until all changes up to now are archived. Raises TimeoutError."""

    async def kill_under_orders(self, system: System, market: Marketplace) -> None:
        """Lose the server while the system runs, where these copies measure what is lost."""

    def destroy(self) -> None:
        """Kill the server, unless it is lost already, and delete its directory."""

    async def restore(self, until: datetime) -> None:
        """Restore to the instant and start the server."""

    def dump(self, database: str) -> Path:
        """Copy one database."""

    async def load(self, database: str, dump: Path) -> None:
        """Recreate one database from its copy."""


class PlainCopies(PointInTime):
    """A base backup and an archive of files."""

    async def kill_under_orders(self, system: System, market: Marketplace) -> None:
        """Leave the server running: it is destroyed after the system."""


async def drill_restore(
    folder: Path,
    load: RestoreLoad,
    log: Log,
    runtime: Runtime = CHECKOUT,
    copies_of: Callable[[PrivatePostgresql], Copies] = PlainCopies.of_server,
) -> Report:
    """Start a system in the folder, destroy it, restore it, and audit. Raises BenchFailed without private servers."""
    port_base = free_port_base()
    # Never the servers of the caller, and none whose disks an engine keeps.
    servers = find_servers(folder, ServerPorts.above(port_base), environment={}, containers=False, report=log)
    if not isinstance(servers.postgresql, PrivatePostgresql) or not isinstance(servers.rabbitmq, PrivateRabbitmq):
        raise BenchFailed("the drill destroys its servers: install PostgreSQL and RabbitMQ for private ones")
    copies = copies_of(servers.postgresql)
    async with stopped_at_the_end(servers):
        await asyncio.to_thread(servers.start)
        return await _Drill(folder, port_base, servers, servers.rabbitmq, copies, load, log, runtime).run()


@dataclass(slots=True)
class _Drill:
    folder: Path
    port_base: int
    servers: Servers
    broker: PrivateRabbitmq
    copies: Copies
    load: RestoreLoad
    log: Log
    runtime: Runtime
    history: History = field(default_factory=History)
    recorded: Recording = field(default_factory=lambda: Recording.new("restore"))
    report: Report = field(default_factory=Report)
    rejected_dispatches: int = 0

    async def run(self) -> Report:
        instant, earlier = await self._live()
        await self._destroy_and_restore(instant, earlier)
        self.recorded.write("restore", instant=instant.timestamp() - self.load.skew_seconds)
        async with self._system() as system, clients_of(system, self.recorded) as market:
            await self._recover(system, market, instant)
            await self._verify(system, market)
        return self.report

    def _system(self) -> System:
        startup = Startup(self.runtime, READY_SECONDS)
        return System(self.folder, self.port_base, SETTINGS, servers=self.servers, startup=startup)

    async def _live(self) -> tuple[datetime, Path | None]:
        """Run the activity; the instant to restore, and an earlier dump of payouts when there is a skew."""
        self.log("starting the system")
        async with self._system() as system, clients_of(system, self.recorded) as market:
            activity = Activity(await Users.sign_in(market), self.history)
            self.log("orders and payouts in every state")
            await trade_before(activity, self.load.each)
            self.log("backing up the running server")
            await asyncio.to_thread(self.copies.back_up)
            earlier, since = None, time.monotonic()
            if self.load.skew_seconds:
                earlier = await asyncio.to_thread(self.copies.dump, "campus_payouts")
            await trade_up_to_the_instant(activity, self.load.each)
            await asyncio.sleep(max(0.0, self.load.skew_seconds - (time.monotonic() - since)))
            await hold_release_event(activity, system)
            instant = datetime.now(UTC)
            # All later commits are after the instant.
            await asyncio.sleep(1)
            resume_payouts_worker(system)
            self.log("activity after the instant")
            await trade_after_the_instant(activity, self.load.each)
            await self.copies.archive_all()
            await self.copies.kill_under_orders(system, market)
        return instant, earlier

    async def _destroy_and_restore(self, instant: datetime, earlier: Path | None) -> None:
        self.log("destroying the database server and the broker with their disks")
        await asyncio.to_thread(self.copies.destroy)
        await asyncio.to_thread(self.broker.kill)
        self.broker.forget()
        began = time.monotonic()
        self.log(f"restoring to {instant.isoformat()}")
        await self.copies.restore(instant)
        if earlier is not None:
            self.log(f"restoring payouts' database to {self.load.skew_seconds:g} s earlier")
            await self.copies.load("campus_payouts", earlier)
        self.report.rows["database server restored after"] = f"{time.monotonic() - began:.1f} s"
        await asyncio.to_thread(self.broker.start)
        async with connected(
            urlsplit(self.servers.database_url)._replace(path="/campus_payouts").geturl()
        ) as connection:
            was_blocked = not await connection.fetchval(_IS_COMPARED)
            self.report.require("payouts were blocked until the comparison", was_blocked, holds=was_blocked)

    async def _recover(self, system: System, market: Marketplace, instant: datetime) -> None:
        """Run the commands of the runbook in its order, while staff and vendors keep trying."""
        began = time.monotonic()
        users = await Users.sign_in(market)
        activity = Activity(users, self.history)
        self.log("dispatching all pending payouts until it is allowed")
        await self._retry_dispatch(activity)
        rows = self.report.rows
        rows["dispatches rejected; the first one accepted after"] = (
            f"{self.rejected_dispatches}, {time.monotonic() - began:.1f} s"
        )
        republished = []
        self.log("republishing the messages that the broker lost")
        for service in PUBLISHERS:
            since = (instant - REPUBLISHED).isoformat()
            code, output = await asyncio.to_thread(system.command, service, "republish", "--since", since)
            if code != 0:
                raise BenchFailed(f"republish of {service}: {output}")
            republished.append(f"{output.strip().splitlines()[-1].split(' ', 1)[0]} {service}")
        rows["messages republished"] = ", ".join(republished)
        self.log("the gateway resends the webhooks of three days")
        since = (datetime.now(UTC) - RESENT).isoformat()
        again = await market.sandbox.post("/control/webhooks/resend", params={"since": since})
        rows["webhooks resent"] = str(again.raise_for_status().json()["count"])
        await _until_quiet(system, market)
        self.log("users repeat lost actions, and the gateway is reconciled")
        await repeat_lost_actions(activity)
        for order_id in self.history.to_pay:
            await market.order_reaches(users.buyer, order_id, "paid_escrow")
        await _until_quiet(system, market)
        await self._replay_dead(activity)
        await _until_quiet(system, market)
        period = ("--from", (instant - timedelta(days=1)).isoformat(), "--to", datetime.now(UTC).isoformat())
        compared = []
        for command in (("payments", "reconcile", *period), ("payouts", "compare-transfers")):
            _, output = await asyncio.to_thread(system.command, *command)
            compared.append(output.strip().splitlines()[-1])
        rows["results of the comparisons"] = "\n".join(compared)
        await self._retry_dispatch(activity)
        await _until_quiet(system, market)

    async def _retry_dispatch(self, activity: Activity) -> None:
        """Dispatch all pending payouts until it is allowed; the vendor requests a lost payout again."""

        async def dispatched() -> bool | None:
            try:
                await activity.market.request_payout(activity.users.vendor, self.history.requested_after_minor)
                raise AssertionError("the wallet paid a transferred amount again")
            except StepFailed as refused:
                if refused.status >= 500:
                    raise
            response = await activity.market.http.post(
                "/api/payouts/dispatch",
                json={},
                headers={**activity.users.maker.headers, "Idempotency-Key": str(uuid4())},
            )
            if response.status_code == 503:
                self.rejected_dispatches += 1
                return None
            response.raise_for_status()
            return True

        await Marketplace.until("a dispatch is allowed", dispatched, 120, every=0.2)

    async def _replay_dead(self, activity: Activity) -> None:
        """Replay dead letters whose missing subject exists again."""
        market, ops = activity.market, activity.users.ops
        for dead_letter in await market.get("/api/dead-letter-webhooks", ops, params={"outcome": "dead", "limit": 100}):
            await market.post(f"/api/dead-letter-webhooks/{dead_letter['id']}/replay", {}, ops, key=None)
        for service in PUBLISHERS:
            awaiting = {"awaiting": "replay", "limit": 100}
            for dead_letter in await market.get(f"/api/dead-letters/{service}", ops, params=awaiting):
                await market.post(f"/api/dead-letters/{service}/{dead_letter['id']}/replay", {}, ops)

    async def _verify(self, system: System, market: Marketplace) -> None:
        self.log("comparing with the gateway")
        report, history = self.report, self.history
        left = Counter(int(line["amount"]) for line in await transfers_of(market) if line["status"] == "success")
        report.rows["transfers"] = str(sum(left.values()))
        report.require_none(
            "transfers that were not sent exactly once",
            [
                f"{amount} kobo transferred {left[amount]} times"
                for amount in sorted({*left, *history.payouts})
                if left[amount] != history.payouts.count(amount)
            ],
        )
        refunds = Counter(line["transaction_reference"] for line in await _refunds(market))
        report.require_none(
            "repeated refunds", [f"{name}, {count} times" for name, count in refunds.items() if count > 1]
        )
        settled = await value_of(system, "payments", _REFUNDED)
        report.require(
            "refunds at the gateway, settled in the database",
            f"{sum(refunds.values())}, {settled}",
            holds=settled == sum(refunds.values()),
        )
        paid = await _movements(market, "charge")
        charges = {row["verdict"]: row["count"] for row in await rows_of(system, "payments", _CHARGES)}
        report.require(
            "charges at the gateway, in the database",
            f"{len(paid)}, {charges}",
            holds=sum(charges.values()) == len(paid),
        )
        lost = len(history.placed_after)
        report.require("lost orders, whose charges are quarantined", lost, holds=charges.get("quarantined", 0) == lost)
        found = {row["outcome"]: row["count"] for row in await rows_of(system, "payouts", _FOUND)}
        report.rows["transfers missing in the ledger"] = str(found or "none")
        dead = {service: await value_of(system, service, _DEAD) for service in PUBLISHERS}
        report.require_none("dead letters left", {name: count for name, count in dead.items() if count})
        await record_verdict(report, system, market)
        report.require_none("violated invariants of the audit", await broken_invariants(system, market, self.log))


async def _refunds(market: Marketplace) -> list[dict[str, Any]]:
    """Return the processed refunds of the sandbox's gateway."""
    response = await market.sandbox.get(
        "/gateway/refund", params={"perPage": 1000}, headers=gateway_bearer(market.secrets)
    )
    return [line for line in response.raise_for_status().json()["data"] if line["status"] == "processed"]


async def _movements(market: Marketplace, kind: str) -> list[dict[str, Any]]:
    response = await market.sandbox.get("/control/book/movements", params={"kind": kind, "limit": 1000})
    return list(response.raise_for_status().json())


async def _until_quiet(system: System, market: Marketplace) -> None:
    """Wait until no outbox row, webhook and transfer is pending."""

    async def quiet() -> bool | None:
        response = await market.sandbox.get("/control/webhooks", params={"status": "pending", "target": "gateway"})
        waiting = [await value_of(system, service, _WAITING[service]) for service in PUBLISHERS]
        return None if response.raise_for_status().json() or any(waiting) else True

    await Marketplace.until("no pending work", quiet, _QUIET_SECONDS_MAX, every=1.0)
