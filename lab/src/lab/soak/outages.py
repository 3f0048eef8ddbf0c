"""Signed webhooks at a rate while payments' database rejects writes, and while the broker is unavailable.

The sender resends each webhook until its response is 200, as the gateway does. A 503 is correct only when nothing was
stored; a writable database stores every webhook, with or without the broker.
"""

import asyncio
import hmac
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import asyncpg
import httpx
import msgspec

from campus_tools.launcher.system import System
from lab.soak.webhooks import PATH, Load, count_held, in_disorder, paid_charges, wait_for_effects, won_disputes
from lab.systems import Log, broken_invariants, database_of
from operations.journey import Marketplace

# Before, between and after the outages.
PAUSE_SECONDS: Final = 5.0
# The pool detects and replaces its terminated connections within this time.
RECOVERY_SECONDS_MAX: Final = 10.0
# A webhook that arrived before its subject may be on the fourth step of the retry ladder (125 s and a fifth) at the end of
# read-only; the step restarts with the broker.
EFFECTS_SECONDS_MAX: Final = 60.0 + 150.0
AGAIN_SECONDS: Final = 0.5
DISPUTE_SHARE: Final = 0.05
DUPLICATE_SHARE: Final = 0.05
READ_ONLY, BROKER_DOWN, OTHERWISE = range(3)


@dataclass(frozen=True, slots=True)
class Outages:
    """The seconds in which the database rejects writes, and those in which the broker is unavailable after that."""

    read_only_seconds: float
    broker_seconds: float

    @property
    def seconds(self) -> float:
        return self.read_only_seconds + self.broker_seconds

    @property
    def sending_seconds(self) -> float:
        """The seconds of sending that cover both outages and their pauses."""
        return self.seconds + 3 * PAUSE_SECONDS + RECOVERY_SECONDS_MAX


@dataclass(frozen=True, slots=True)
class OutageFigures:
    """The figures. `stretches` counts responses by status: while read-only, without the broker, and otherwise."""

    stretches: tuple[Mapping[str, int], ...]
    kept_though_refused: int
    recovered_seconds: float
    effects_seconds: float
    broken_invariants: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether 503 occurred only while read-only and at its end, all else is 200, and the audit found nothing."""
        read_only, broker_down, otherwise = self.stretches
        return (
            not any(stretch.get("another") for stretch in self.stretches)
            and not broker_down.get("503")
            and not otherwise.get("503")
            and (read_only.get("503", 0) > 0 or not read_only)
            and self.kept_though_refused == 0
            and self.recovered_seconds <= RECOVERY_SECONDS_MAX
            and self.effects_seconds <= EFFECTS_SECONDS_MAX
            and not self.broken_invariants
        )


@dataclass(slots=True)
class _Progress:
    """The current period, and the responses of each."""

    stretch: int = OTHERWISE
    statuses: tuple[Counter[str], ...] = field(default_factory=lambda: (Counter(), Counter(), Counter()))
    refused: dict[bytes, str] = field(default_factory=dict)
    read_only_ended: float = 0.0
    last_rejected_at: float = 0.0
    open_again: asyncio.Event = field(default_factory=asyncio.Event)


def count_outlasting(outages: Outages, rate: float) -> int:
    """Return the number of webhooks that are still being sent at `rate` per second when the last outage ends."""
    return math.ceil(outages.sending_seconds * rate)


async def soak_outages(system: System, market: Marketplace, load: Load, outages: Outages, log: Log) -> OutageFigures:
    """Create and pay the orders, send during the outages, wait for the effects, and audit."""
    disputes, duplicates = round(load.count * DISPUTE_SHARE), round(load.count * DUPLICATE_SHARE)
    log(f"creating and paying {load.count - disputes - duplicates} orders")
    held_before = await count_held(system)
    charges = await paid_charges(market, load.count - disputes - duplicates)
    bodies = in_disorder(charges, await won_disputes(market, charges, disputes), duplicates)
    log(f"sending {len(bodies)} webhooks, {load.rate:g} per second")
    progress = _Progress()
    progress.open_again.set()
    _, kept = await asyncio.gather(
        _send(system, progress, bodies, load.rate), _run_outages(system, progress, outages, log)
    )
    log("waiting for their effects")
    began = time.monotonic()
    await wait_for_effects(system, held_before + len(charges), 2 * EFFECTS_SECONDS_MAX)
    effects_seconds = time.monotonic() - began
    return OutageFigures(
        stretches=progress.statuses,
        kept_though_refused=kept,
        recovered_seconds=max(0.0, progress.last_rejected_at - progress.read_only_ended)
        if progress.read_only_ended
        else 0.0,
        effects_seconds=effects_seconds,
        broken_invariants=await broken_invariants(system, market, log),
    )


async def _send(system: System, progress: _Progress, bodies: Sequence[bytes], rate: float) -> None:
    secret = system.secrets["GATEWAY_SECRET_KEY"].split(",", 1)[0].encode()
    limits = httpx.Limits(max_connections=128)
    async with (
        httpx.AsyncClient(base_url=system.base_url, timeout=30, limits=limits, trust_env=False) as client,
        asyncio.TaskGroup() as group,
    ):
        began = time.monotonic()
        for number, body in enumerate(bodies):
            await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
            signed = {"X-Gateway-Signature": hmac.digest(secret, body, "sha512").hex()}
            group.create_task(_send_until_kept(client, progress, body, {**signed, "Content-Type": "application/json"}))


async def _send_until_kept(
    client: httpx.AsyncClient, progress: _Progress, body: bytes, headers: dict[str, str]
) -> None:
    while True:
        # The period may change before the response: read-only is assumed when one of the two is.
        began_in = progress.stretch
        status = (await client.post(PATH, content=body, headers=headers)).status_code
        stretch = READ_ONLY if READ_ONLY in (began_in, progress.stretch) else began_in
        progress.statuses[stretch]["200" if status == 200 else "503" if status == 503 else "another"] += 1
        if status == 200:
            return
        progress.last_rejected_at = time.monotonic()
        progress.refused[body] = _key_of(body)
        # Not resent until the check that it was not stored.
        await progress.open_again.wait()
        await asyncio.sleep(AGAIN_SECONDS)


def _key_of(body: bytes) -> str:
    payload = msgspec.json.decode(body)
    return f"{payload['event']}:{payload['data']['id']}"


async def _run_outages(system: System, progress: _Progress, outages: Outages, log: Log) -> int:
    """Run both outages in turn; the number of webhooks that got 503 and yet were stored."""
    await asyncio.sleep(PAUSE_SECONDS)
    kept = 0
    if outages.read_only_seconds:
        log(f"payments' database rejects writes for {outages.read_only_seconds:g} s")
        progress.open_again.clear()
        progress.stretch = READ_ONLY
        known = await _known_keys(system)
        try:
            await _set_read_only(system, "on")
            await asyncio.sleep(outages.read_only_seconds)
            # A webhook stored before the outage may be rejected as a repetition.
            kept = len((await _known_keys(system) - known) & set(progress.refused.values()))
        finally:
            await _set_read_only(system, "off")
            progress.read_only_ended = time.monotonic()
            progress.open_again.set()
        await asyncio.sleep(RECOVERY_SECONDS_MAX)
        progress.stretch = OTHERWISE
        await asyncio.sleep(PAUSE_SECONDS)
    if outages.broker_seconds:
        log(f"the broker is unavailable for {outages.broker_seconds:g} s")
        progress.stretch = BROKER_DOWN
        await asyncio.to_thread(system.servers.rabbitmq.kill)
        await asyncio.sleep(outages.broker_seconds)
        await asyncio.to_thread(system.servers.rabbitmq.start)
        progress.stretch = OTHERWISE
        log("the broker is available again")
    return kept


async def _known_keys(system: System) -> set[str]:
    connection = await asyncpg.connect(database_of(system, "payments"))
    try:
        return {row["id"] for row in await connection.fetch("SELECT id FROM processed_webhook_events")}
    finally:
        await connection.close()


async def _set_read_only(system: System, setting: str) -> None:
    """Set the database read-only or writable; the service's connections are terminated to apply it."""
    connection = await asyncpg.connect(system.servers.postgresql.url)
    try:
        await connection.execute(f"ALTER DATABASE campus_payments SET default_transaction_read_only = {setting}")
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'campus_payments' "
            "AND usename LIKE 'campus_payments%'"
        )
    finally:
        await connection.close()
