"""Signed webhooks at a fixed rate, some duplicated, some before their subject, while payments' worker is killed.

Every charge belongs to an order that was paid at the sandbox, whose own webhooks are dropped. The gateway's statement
and the ledger must agree at the end, to the kobo.
"""

import asyncio
import hmac
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from campus_tools.launcher.supervisor import SupervisedProcess
from campus_tools.launcher.system import System
from lab.bench.figures import percentile
from lab.bench.open_loop import request_bytes, send_at_rate
from lab.histories.verdict import record_verdict
from lab.report import Report
from lab.systems import Log, broken_invariants, gateway_bearer, value_of
from lab.trade import add_stock
from operations.journey import Marketplace

Made = TypeVar("Made")

PATH: Final = "/functions/v1/gateway-webhook"
DUPLICATE_SHARE: Final = 0.05
DISPUTE_SHARE: Final = 0.05
# Every accepted webhook has its effect within this time after the last one.
EFFECTS_SECONDS_MAX: Final = 60.0
# A dispute is sent this number of webhooks before its charge.
AHEAD: Final = 20
# Concurrent orders: enough to keep two cores busy.
MAKERS: Final = 12
_KILL_WAIT_SECONDS: Final = 60.0
_HELD: Final = "SELECT count(*) FROM orders WHERE status IN ('paid_escrow', 'disputed')"
# Webhooks of charges that are neither done nor ignored, and what waits in the outbox.
_UNFINISHED: Final = """
SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL) + (SELECT count(*) FROM processed_webhook_events
    WHERE outcome NOT IN ('done', 'ignored') AND event_type LIKE 'charge.%')
"""


@dataclass(frozen=True, slots=True)
class Load:
    """The number of webhooks, their rate per second, the kills of payments' worker, and the longest 99th percentile."""

    count: int
    rate: float
    kills: int
    p99_ms_max: float = math.inf


async def soak_webhooks(system: System, market: Marketplace, load: Load, log: Log) -> Report:
    """Create and pay orders, send with kills, wait, and audit. Raises BenchFailed unless every response is 2xx."""
    report = Report()
    disputes, duplicates = round(load.count * DISPUTE_SHARE), round(load.count * DUPLICATE_SHARE)
    log(f"creating and paying {load.count - disputes - duplicates} orders")
    held_before = await count_held(system)
    charges = await paid_charges(market, load.count - disputes - duplicates)
    bodies = in_disorder(charges, await won_disputes(market, charges, disputes), duplicates)
    log(f"sending {len(bodies)} webhooks, {load.rate:g} per second, killing payments' worker {load.kills} times")
    killing = kill_repeatedly(system.process("payments-worker"), load.kills, len(bodies) / load.rate)
    times, kills = await asyncio.gather(_send(system, bodies, load.rate), killing)
    log("waiting for their effects")
    began = time.monotonic()
    await wait_for_effects(system, held_before + len(charges))
    seconds = time.monotonic() - began
    p50_ms, p99_ms = percentile(times, 0.5) or 0, percentile(times, 0.99) or 0
    report.rows["webhooks answered 200"] = str(len(times))
    report.rows["duplicates; webhooks before their subject"] = f"{duplicates}, {disputes}"
    # From the moment at which a webhook was due.
    report.require_in_time(
        "response time, median / 99th / longest",
        f"{p50_ms:.1f} / {p99_ms:.1f} / {max(times):.1f} ms",
        holds=p99_ms <= load.p99_ms_max,
    )
    report.rows["payments' worker killed"] = f"{kills} times"
    in_time = seconds <= EFFECTS_SECONDS_MAX
    report.require_in_time("last effect after the last webhook", f"{seconds:.1f} s", holds=in_time)
    await record_verdict(report, system, market)
    report.require_none("violated invariants of the audit", await broken_invariants(system, market, log, 30))
    return report


async def paid_charges(market: Marketplace, count: int) -> list[dict[str, Any]]:
    """Create and pay orders, with the sandbox's webhooks dropped: the `data` of their `charge.success`."""
    vendor = await market.sign_in("vendor@unilag.edu.ng")
    buyer = await market.sign_in("buyer@unilag.edu.ng")
    product_ids = await add_stock(market, vendor, count)
    rule = {"charge_webhook": {"drop": True}}
    (await market.sandbox.put("/control/faults", json=rule)).raise_for_status()

    async def one(number: int) -> dict[str, Any]:
        order = await market.checkout(buyer, product_ids[number % len(product_ids)])
        intent = await market.pay_intent(buyer, order["id"])
        await market.pay(intent)
        paid = await market.sandbox.get(
            f"/gateway/transaction/verify/{intent['reference']}", headers=gateway_bearer(market.secrets)
        )
        return _charge(paid.raise_for_status().json()["data"])

    try:
        return await _some_at_once(one, range(count))
    finally:
        await market.sandbox.put("/control/faults", json=dict.fromkeys(rule))


def _charge(paid: dict[str, Any]) -> dict[str, Any]:
    fields = [
        "id",
        "domain",
        "status",
        "reference",
        "amount",
        "gateway_response",
        "paid_at",
        "channel",
        "currency",
        "metadata",
    ]
    return {name: paid.get(name) for name in fields}


async def _some_at_once(make: Callable[[int], Awaitable[Made]], numbers: Iterable[int]) -> list[Made]:
    gate = asyncio.Semaphore(MAKERS)

    async def gated(number: int) -> Made:
        async with gate:
            return await make(number)

    return list(await asyncio.gather(*(gated(number) for number in numbers)))


async def won_disputes(market: Marketplace, charges: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Dispute `count` charges, evenly spread, and win. Return the `data` of the dropped `charge.dispute.resolve`."""

    async def one(number: int) -> dict[str, Any]:
        charge = charges[number * len(charges) // count]
        opened = await market.sandbox.post(f"/control/charges/{charge['reference']}/dispute")
        won = await market.sandbox.post(f"/control/disputes/{opened.raise_for_status().json()['id']}/win")
        dispute = won.raise_for_status().json()
        return {
            "id": dispute["id"],
            "refund_amount": dispute["amount_minor"],
            "currency": dispute["currency"],
            "status": dispute["status"],
            "resolution": dispute["resolution"],
            "category": "chargeback",
            "transaction": {"id": charge["id"], "reference": charge["reference"]},
        }

    (await market.sandbox.put("/control/faults", json={"dispute_webhook": {"drop": True}})).raise_for_status()
    try:
        return await _some_at_once(one, range(count))
    finally:
        await market.sandbox.put("/control/faults", json={"dispute_webhook": None})


def in_disorder(charges: Sequence[dict[str, Any]], disputes: Sequence[dict[str, Any]], duplicates: int) -> list[bytes]:
    """Return the bodies in sending order: won disputes come before their charge, and duplicates are spread evenly."""
    bodies = [msgspec.json.encode({"event": "charge.success", "data": charge}) for charge in charges]
    for number, dispute in enumerate(disputes):
        place = number * len(charges) // len(disputes)
        # The earlier insertions have moved the charge by `number`.
        bodies.insert(
            max(0, place + number - AHEAD), msgspec.json.encode({"event": "charge.dispute.resolve", "data": dispute})
        )
    for number in range(duplicates):
        place = (number * 37) % len(bodies)
        bodies.insert(min(len(bodies), place + 1 + number % AHEAD), bodies[place])
    return bodies


async def _send(system: System, bodies: Sequence[bytes], rate: float) -> list[float]:
    secret = system.secrets["GATEWAY_SECRET_KEY"].split(",", 1)[0].encode()
    signatures = (hmac.digest(secret, body, "sha512").hex() for body in bodies)
    headers = [{"X-Gateway-Signature": signature, "Content-Type": "application/json"} for signature in signatures]
    requests = [request_bytes("POST", PATH, head, body) for head, body in zip(headers, bodies, strict=True)]
    address = urlsplit(system.base_url)
    return await send_at_rate(address.hostname or "", address.port or 80, requests, rate=rate)


async def kill_repeatedly(
    worker: SupervisedProcess, times: int, seconds: float, before_kill: Callable[[], None] = lambda: None
) -> int:
    """`kill -9` at equal intervals, each after the restart of the kill before; the number of kills."""
    began = time.monotonic()
    for number in range(times):
        await asyncio.sleep(max(0.0, began + (number + 1) * seconds / (times + 1) - time.monotonic()))
        before_kill()
        before = await asyncio.to_thread(worker.kill)
        await asyncio.to_thread(worker.wait_restarted, before, _KILL_WAIT_SECONDS)
    return times


async def count_held(system: System) -> int:
    """Orders whose money is held in escrow."""
    return int(await value_of(system, "orders", _HELD))


async def wait_for_effects(system: System, held: int) -> None:
    """Until `held` orders hold their money, and no webhook and no outbox row is unfinished. Raises TimeoutError.

    Payments queries the gateway about an attempt without an outcome after 30 s: the money of an order may be held
    before its webhook arrives, which is ignored then.
    """

    async def check() -> bool | None:
        unfinished = await value_of(system, "payments", _UNFINISHED)
        return True if unfinished == 0 and await count_held(system) >= held else None

    await Marketplace.until("the effects of all webhooks", check, 3 * EFFECTS_SECONDS_MAX)
