"""A message that its publisher did not send has no effect; a copy of a genuine one is a duplicate (decision 31)."""

import json
import re
from contextlib import asynccontextmanager
from uuid import uuid4

import aio_pika
import httpx

from campus_tools.launcher.system import System
from contracts.demo import ADA
from operations.journey import Marketplace
from tests.end_to_end.steps import delivered_order

from .conftest import Users

RELEASED = "payments.escrow_released.v1"


@asynccontextmanager
async def operators_channel(system: System):
    async with await aio_pika.connect(system.secrets["BROKER_URL"]) as connection:
        yield await connection.channel()


async def alerts_about(market: Marketplace, users: Users, title: str) -> list[dict]:
    alerts = await market.get("/api/alerts", users.ops, params={"limit": 100})
    return [alert for alert in alerts if alert["title"] == title]


async def test_a_release_put_into_a_queue_of_another_publisher_credits_nothing(
    system: System, market: Marketplace, users: Users
) -> None:
    before = await market.wallet(users.vendor)
    ids = {name: str(uuid4()) for name in ("orderId", "buyerId", "releaseId")}
    amounts = {"grossMinor": 10_000_000, "commissionMinor": 0, "deliveryFeeMinor": 0, "netMinor": 10_000_000}
    forged = {
        "specversion": "1.0", "id": str(uuid4()), "source": "/services/payments", "type": RELEASED,
        "subject": ids["orderId"], "time": "2026-01-31T12:00:00.000Z", "datacontenttype": "application/json",
        "sequence": 1,
        "data": {**ids, "vendorId": str(ADA.id), **amounts, "remainingMinor": 0, "remainingVendorMinor": 0},
    }  # fmt: skip
    title = "Forged message in payouts: payments.escrow_released.v1"
    known = len(await alerts_about(market, users, title))
    async with operators_channel(system) as channel:
        message = aio_pika.Message(json.dumps(forged).encode(), message_id=forged["id"], type=RELEASED)
        await channel.default_exchange.publish(message, "payouts.identity")

    async def raised() -> bool | None:
        return len(await alerts_about(market, users, title)) > known or None

    assert await market.until("the alert", raised, 60)
    [alert, *_] = await alerts_about(market, users, title)
    assert alert["severity"] == "SEV-1"
    assert await market.wallet(users.vendor) == before


async def duplicates_in(system: System) -> float:
    async with httpx.AsyncClient(trust_env=False) as inside:
        shown = (await inside.get(f"{system.health_url('payouts-worker')}/metrics")).text
    return sum(float(count) for count in re.findall(r"^inbox_duplicates_total\{[^}]*\} (\S+)$", shown, re.MULTILINE))


async def test_an_operator_s_copy_of_a_genuine_event_is_a_duplicate_in_development(
    system: System, market: Marketplace, users: Users
) -> None:
    async with operators_channel(system) as channel:
        tap = await channel.declare_queue(exclusive=True)
        await tap.bind("campus.events", RELEASED)
        await delivered_order(market, users)
        captured = await tap.get(timeout=60, no_ack=True)
        await tap.unbind("campus.events", RELEASED)
        before, wallet = await duplicates_in(system), await market.wallet(users.vendor)
        assert captured.user_id == "payments"
        events = await channel.get_exchange("campus.events")
        # As captured, and without the properties.
        await events.publish(captured, RELEASED)
        await events.publish(aio_pika.Message(captured.body), RELEASED)

    async def counted() -> bool | None:
        return await duplicates_in(system) >= before + 2 or None

    assert await market.until("the duplicates", counted, 60)
    assert await market.wallet(users.vendor) == wallet
