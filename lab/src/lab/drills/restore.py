"""Destroy the databases and the broker, restore the databases to an instant, and let the gateway resend the webhooks of its last days.

Transfers after the instant must not be sent twice, messages of the broker must be processed, and the audit must find
nothing.
"""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import asyncpg

from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.runtimes import CHECKOUT, Runtime
from campus_tools.launcher.system import System
from campus_tools.servers import ServerPorts, Servers, find_servers
from campus_tools.servers.point_in_time import PointInTime
from campus_tools.servers.postgresql import PrivatePostgresql
from campus_tools.servers.rabbitmq import PrivateRabbitmq
from lab.bench.programs import BenchFailed
from lab.drills.doubled import READY_SECONDS
from lab.drills.history import (
    Actors,
    History,
    Play,
    hold_release_event,
    play_after_the_instant,
    play_before,
    play_up_to_the_instant,
    repeat_lost_actions,
    resume_payouts_worker,
)
from lab.systems import NO_QUOTA, NO_TRACING, Log, broken_invariants, database_of, gateway_bearer, transfers_of
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


@dataclass(slots=True)
class RestoreFigures:
    """The figures of the drill. Times are in seconds."""

    lost_orders: int = 0
    restore_seconds: float = 0.0
    was_blocked: bool = False
    refused_dispatches: int = 0
    until_dispatch_seconds: float = 0.0
    republished: dict[str, int] = field(default_factory=dict)
    webhooks_again: int = 0
    found: dict[str, int] = field(default_factory=dict)
    transfers: int = 0
    wrong_transfers: tuple[str, ...] = ()
    wrong_refunds: tuple[str, ...] = ()
    charges: dict[str, int] = field(default_factory=dict)
    wrong_charges: tuple[str, ...] = ()
    reconciled: str = ""
    dead_letters: dict[str, int] = field(default_factory=dict)
    broken_invariants: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether no money moved twice, nothing was sent before the comparison, and the audit found nothing."""
        doubled = self.wrong_transfers or self.wrong_refunds or self.wrong_charges
        return self.was_blocked and not doubled and not self.dead_letters and not self.broken_invariants


async def drill_restore(folder: Path, load: RestoreLoad, log: Log, runtime: Runtime = CHECKOUT) -> RestoreFigures:
    """Start a system in the folder, destroy it, restore it, and audit. Raises BenchFailed without private servers."""
    port_base = free_port_base()
    # Never the servers of the caller, and none whose disks an engine keeps.
    servers = find_servers(folder, ServerPorts.above(port_base), environment={}, containers=False, report=log)
    if not isinstance(servers.postgresql, PrivatePostgresql) or not isinstance(servers.rabbitmq, PrivateRabbitmq):
        raise BenchFailed("the drill destroys its servers: install PostgreSQL and RabbitMQ for private ones")
    copies = PointInTime.beside(servers.postgresql)
    try:
        await asyncio.to_thread(servers.start)
        return await _Drill(folder, port_base, servers, servers.rabbitmq, copies, load, log, runtime).run()
    finally:
        await asyncio.to_thread(servers.stop)
        servers.remove_data()


@dataclass(slots=True)
class _Drill:
    folder: Path
    port_base: int
    servers: Servers
    broker: PrivateRabbitmq
    copies: PointInTime
    load: RestoreLoad
    log: Log
    runtime: Runtime
    history: History = field(default_factory=History)
    figures: RestoreFigures = field(default_factory=RestoreFigures)

    async def run(self) -> RestoreFigures:
        instant, earlier = await self._live()
        await self._destroy_and_restore(instant, earlier)
        async with self._system() as system:
            market = _market(system)
            try:
                await self._recover(system, market, instant)
                await self._verify(system, market)
            finally:
                await market.close()
        return self.figures

    def _system(self) -> System:
        return System(
            self.folder,
            self.port_base,
            SETTINGS,
            servers=self.servers,
            ready_seconds=READY_SECONDS,
            runtime=self.runtime,
        )

    async def _live(self) -> tuple[datetime, Path | None]:
        """Run the activity; the instant to restore, and an earlier dump of payouts when there is a skew."""
        self.log("starting the system")
        async with self._system() as system:
            market = _market(system)
            try:
                play = Play(await Actors.sign_in(market), self.history)
                self.log("orders and payouts in every state")
                await play_before(play, self.load.each)
                self.log("backing up the running server")
                await asyncio.to_thread(self.copies.back_up)
                earlier, since = None, time.monotonic()
                if self.load.skew_seconds:
                    earlier = await asyncio.to_thread(self.copies.dump, "campus_payouts")
                await play_up_to_the_instant(play, self.load.each)
                await asyncio.sleep(max(0.0, self.load.skew_seconds - (time.monotonic() - since)))
                await hold_release_event(play, system)
                instant = datetime.now(UTC)
                # All later commits are after the instant.
                await asyncio.sleep(1)
                resume_payouts_worker(system)
                self.log("activity after the instant")
                await play_after_the_instant(play, self.load.each)
                await self.copies.archive_all()
                self.figures.lost_orders = len(self.history.placed_after)
            finally:
                await market.close()
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
        self.figures.restore_seconds = time.monotonic() - began
        await asyncio.to_thread(self.broker.start)
        connection = await asyncpg.connect(_admin_address(self.servers, "campus_payouts"))
        try:
            self.figures.was_blocked = not await connection.fetchval(_IS_COMPARED)
        finally:
            await connection.close()

    async def _recover(self, system: System, market: Marketplace, instant: datetime) -> None:
        """Run the commands of the runbook in its order, while staff and vendors keep trying."""
        began = time.monotonic()
        actors = await Actors.sign_in(market)
        play = Play(actors, self.history)
        self.log("dispatching all pending payouts until it is allowed")
        await self._retry_dispatch(play)
        self.figures.until_dispatch_seconds = time.monotonic() - began
        self.log("republishing the messages that the broker lost")
        for service in PUBLISHERS:
            since = (instant - REPUBLISHED).isoformat()
            code, output = await asyncio.to_thread(system.command, service, "republish", "--since", since)
            if code != 0:
                raise BenchFailed(f"republish of {service}: {output}")
            self.figures.republished[service] = int(output.strip().splitlines()[-1].split(" ", 1)[0])
        self.log("the gateway resends the webhooks of three days")
        since = (datetime.now(UTC) - RESENT).isoformat()
        again = await market.sandbox.post("/control/webhooks/resend", params={"since": since})
        self.figures.webhooks_again = int(again.raise_for_status().json()["count"])
        await _until_quiet(system, market)
        self.log("users repeat lost actions, and the gateway is reconciled")
        await repeat_lost_actions(play)
        for order_id in self.history.to_pay:
            await market.order_reaches(actors.buyer, order_id, "paid_escrow")
        await _until_quiet(system, market)
        await self._replay_dead(play)
        await _until_quiet(system, market)
        period = ("--from", (instant - timedelta(days=1)).isoformat(), "--to", datetime.now(UTC).isoformat())
        _, output = await asyncio.to_thread(system.command, "payments", "reconcile", *period)
        self.figures.reconciled = output.strip().splitlines()[-1]
        _, output = await asyncio.to_thread(system.command, "payouts", "compare-transfers")
        self.figures.reconciled += "\n" + output.strip().splitlines()[-1]
        await self._retry_dispatch(play)
        await _until_quiet(system, market)

    async def _retry_dispatch(self, play: Play) -> None:
        """Dispatch all pending payouts until it is allowed; the vendor requests a lost payout again."""

        async def dispatched() -> bool | None:
            try:
                await play.market.request_payout(play.actors.vendor, self.history.requested_after_minor)
                raise AssertionError("the wallet paid a transferred amount again")
            except StepFailed as refused:
                if refused.status >= 500:
                    raise
            response = await play.market.http.post(
                "/api/payouts/dispatch",
                json={},
                headers={**play.actors.maker.headers, "Idempotency-Key": str(uuid4())},
            )
            if response.status_code == 503:
                self.figures.refused_dispatches += 1
                return None
            response.raise_for_status()
            return True

        await Marketplace.until("a dispatch is allowed", dispatched, 120, every=0.2)

    async def _replay_dead(self, play: Play) -> None:
        """Replay dead letters whose missing subject exists again."""
        market, ops = play.market, play.actors.ops
        for dead_letter in await market.get("/api/dead-letter-webhooks", ops, params={"outcome": "dead", "limit": 100}):
            await market.post(f"/api/dead-letter-webhooks/{dead_letter['id']}/replay", {}, ops, key=None)
        for service in PUBLISHERS:
            awaiting = {"awaiting": "replay", "limit": 100}
            for dead_letter in await market.get(f"/api/dead-letters/{service}", ops, params=awaiting):
                await market.post(f"/api/dead-letters/{service}/{dead_letter['id']}/replay", {}, ops)

    async def _verify(self, system: System, market: Marketplace) -> None:
        self.log("comparing with the gateway")
        figures, history = self.figures, self.history
        left = Counter(int(line["amount"]) for line in await transfers_of(market) if line["status"] == "success")
        figures.transfers = sum(left.values())
        figures.wrong_transfers = tuple(
            f"{amount} kobo transferred {left[amount]} times" for amount in sorted({*left, *history.payouts})
            if left[amount] != history.payouts.count(amount)
        )  # fmt: skip
        refunds = Counter(line["transaction_reference"] for line in await _refunds(market))
        figures.wrong_refunds = tuple(
            f"{name} was refunded {count} times" for name, count in refunds.items() if count > 1
        )
        paid = await _movements(market, "charge")
        payments = await asyncpg.connect(database_of(system, "payments"))
        payouts = await asyncpg.connect(database_of(system, "payouts"))
        try:
            figures.charges = {row["verdict"]: row["count"] for row in await payments.fetch(_CHARGES)}
            figures.found = {row["outcome"]: row["count"] for row in await payouts.fetch(_FOUND)}
            settled = await payments.fetchval(_REFUNDED)
        finally:
            await payments.close()
            await payouts.close()
        if sum(figures.charges.values()) != len(paid):
            figures.wrong_charges += (f"{len(paid)} charges at the gateway, {figures.charges} in the database",)
        if figures.charges.get("quarantined", 0) != len(history.placed_after):
            figures.wrong_charges += (f"{len(history.placed_after)} orders are missing, charges are {figures.charges}",)
        if settled != sum(refunds.values()):
            figures.wrong_refunds += (
                f"{sum(refunds.values())} refunds at the gateway, {settled} settled in the database",
            )
        for service in PUBLISHERS:
            connection = await asyncpg.connect(database_of(system, service))
            try:
                if count := await connection.fetchval(_DEAD):
                    figures.dead_letters[service] = count
            finally:
                await connection.close()
        figures.broken_invariants = await broken_invariants(system, market, self.log)


def _market(system: System) -> Marketplace:
    return Marketplace.at(system.base_url, system.sandbox_url, system.secrets, patient=True)


def _admin_address(servers: Servers, database: str) -> str:
    return servers.database_url.rsplit("/", 1)[0] + f"/{database}"


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
    connections = {service: await asyncpg.connect(database_of(system, service)) for service in PUBLISHERS}

    async def quiet() -> bool | None:
        response = await market.sandbox.get("/control/webhooks", params={"status": "pending", "target": "gateway"})
        waiting = len(response.raise_for_status().json())
        for service, connection in connections.items():
            waiting += await connection.fetchval(_WAITING[service])
        return None if waiting else True

    try:
        await Marketplace.until("no pending work", quiet, _QUIET_SECONDS_MAX, every=1.0)
    finally:
        for connection in connections.values():
            await connection.close()
