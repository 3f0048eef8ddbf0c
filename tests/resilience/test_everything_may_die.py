"""`kill -9` of each part in the middle of running journeys: all end right, nothing is lost, nothing happens twice."""

import asyncio
from collections import Counter
from contextlib import suppress
from uuid import uuid4

import pytest

from campus_tools.launcher.system import System
from contracts.demo import ADA
from operations.audit import findings_of
from operations.journey import Marketplace, SignedInUser, StepFailed
from testkit.fixtures import eventually

pytestmark = pytest.mark.long

# How many journeys walk at once: enough that every kind of step is under way when the part dies.
AT_ONCE = 6
# Those under way when it dies, and as many that begin afterwards.
JOURNEYS = 2 * AT_ONCE
# The smallest payout, in kobo.
PAYOUT_MINOR = 10_000
STEP_SECONDS = 120.0
UNFINISHED = """
SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL)
    + (SELECT count(*) FROM dead_letters WHERE resolved_at IS NULL)
"""


async def journey(
    market: Marketplace, buyer: SignedInUser, vendor: SignedInUser, product_id: str, progress: Counter[str]
) -> str:
    """One purchase up to the released escrow; every step may be repeated with its own key until it gets a response."""
    order = await market.checkout(buyer, product_id, key=uuid4())
    progress["placed"] += 1
    await market.pay(await market.pay_intent(buyer, order["id"]))
    progress["paid"] += 1
    await market.order_reaches(buyer, order["id"], "paid_escrow", within=STEP_SECONDS)
    progress["held"] += 1
    await dispatched(market, vendor, order["id"])
    pin = await market.delivery_pin(buyer, order["id"])
    delivered = await market.verify_delivery(vendor, order["id"], pin, key=uuid4())
    # A lost response is requested again, and by then the money may have been released.
    assert delivered["status"] in ("delivered", "paid")
    progress["delivered"] += 1
    await market.order_reaches(buyer, order["id"], "paid", within=STEP_SECONDS)
    progress["released"] += 1
    return str(order["id"])


async def dispatched(market: Marketplace, vendor: SignedInUser, order_id: str) -> None:
    """Dispatch until done: a repeated dispatch is a success without effect, so a lost response is requested again."""
    await market.post(f"/api/orders/{order_id}/dispatch", {}, vendor, key=uuid4())


async def stocked_products(market: Marketplace) -> list[str]:
    products = await market.products(vendorId=str(ADA.id), inStock="true", limit=100)
    return [product["id"] for product in products for _ in range(min(product["stock"], 5))]


async def all_journeys(market: Marketplace, progress: Counter[str]) -> tuple[list[str], SignedInUser, SignedInUser]:
    buyer = await market.sign_in("buyer@unilag.edu.ng")
    vendor = await market.sign_in("vendor@unilag.edu.ng")
    stock = await stocked_products(market)
    assert len(stock) >= JOURNEYS
    gate = asyncio.Semaphore(AT_ONCE)

    async def walk(product_id: str) -> str:
        async with gate:
            return await journey(market, buyer, vendor, product_id, progress)

    orders = await asyncio.gather(*(walk(product_id) for product_id in stock[:JOURNEYS]))
    return list(orders), buyer, vendor


async def in_the_middle(progress: Counter[str]) -> None:
    """Until journeys are at every kind of step."""
    await eventually(lambda: progress["held"] >= 3 and progress["placed"] >= AT_ONCE, within=STEP_SECONDS, every=0.01)


async def kill_process(system: System, name: str) -> None:
    process = system.process(name)
    before = process.kill()
    await asyncio.to_thread(process.wait_restarted, before, 120)


async def kill_server(system: System, name: str) -> None:
    """Killed and started again on the same data and ports."""
    server = getattr(system.servers, name)
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)


VICTIMS = {
    "the orders worker": lambda system: kill_process(system, "orders-worker"),
    "the payments worker": lambda system: kill_process(system, "payments-worker"),
    # It settles the charges whose webhooks it received.
    "the API of payments": lambda system: kill_process(system, "payments-api"),
    # Its relay publishes the API's events: orders placed, PINs verified.
    "the relay of orders": lambda system: kill_process(system, "orders-api"),
    "RabbitMQ": lambda system: kill_server(system, "rabbitmq"),
    "PostgreSQL": lambda system: kill_server(system, "postgresql"),
}


@pytest.mark.parametrize("victim", VICTIMS)
async def test_all_journeys_finish_after_a_kill_in_the_middle(victim: str, system: System, market: Marketplace) -> None:
    progress: Counter[str] = Counter()

    async def strike() -> None:
        await in_the_middle(progress)
        await VICTIMS[victim](system)

    (orders, buyer, _), _ = await asyncio.gather(all_journeys(market, progress), strike())
    assert len(set(orders)) == JOURNEYS
    assert progress["released"] == JOURNEYS
    for order_id in orders:
        assert (await market.order(buyer, order_id))["status"] == "paid"
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []
    await nothing_waits(system)


async def nothing_waits(system: System) -> None:
    """Wait for the last mails of all journeys; then every outbox is empty, without dead letters."""

    async def drained() -> bool:
        waiting = await waiting_messages(system)
        assert waiting == {}
        return True

    await eventually(drained, within=STEP_SECONDS, every=0.5)


async def waiting_messages(system: System) -> dict[str, int]:
    """Unpublished outbox rows and dead letters, by service; empty when no message is lost or stuck."""
    import asyncpg

    from operations.services import SERVICES

    waiting = {}
    for service in SERVICES:
        address = system.secrets["AUDIT_DATABASE_URL"].rsplit("/", 1)[0] + f"/campus_{service.import_name}"
        connection = await asyncpg.connect(address)
        try:
            count = await connection.fetchval(UNFINISHED)
        finally:
            await connection.close()
        if count:
            waiting[service.name] = count
    return waiting


async def test_a_payout_survives_the_death_of_its_dispatcher(system: System, market: Marketplace) -> None:
    """Killed while transfers are sent: each ends processed, and the gateway moved each once."""
    vendor = await market.sign_in("vendor@unilag.edu.ng")
    buyer = await market.sign_in("buyer@unilag.edu.ng")
    progress: Counter[str] = Counter()
    before = await market.wallet(vendor)
    await journey(market, buyer, vendor, (await stocked_products(market))[0], progress)
    # Other tests sell for as little as ten naira: the wallet may hold less at first.
    wallet = await market.wallet_reaches(vendor, max(5 * PAYOUT_MINOR, before["availableMinor"] + 1))
    payouts = [(await market.request_payout(vendor, PAYOUT_MINOR, key=uuid4()))["id"] for _ in range(5)]
    maker = await market.sign_in_with_two_factors("maker@campus.example", "MAKER")
    await market.sandbox.put("/control/faults", json={"transfer_call": {"delay": 0.3, "times": 5}})
    key = uuid4()

    async def dispatch() -> None:
        # The response may be lost with the process; the effect may not.
        with suppress(StepFailed):
            await market.post("/api/payouts/dispatch", {"payoutIds": payouts}, maker, key=key)

    async def newest_transfer() -> int:
        newest = {"kind": "transfer", "limit": 1}
        return sum(row["id"] for row in (await market.sandbox.get("/control/book/movements", params=newest)).json())

    earlier = await newest_transfer()

    async def strike() -> None:
        async def under_way() -> bool:
            return await newest_transfer() > earlier

        await market.until("the first transfer", under_way, 60)
        await kill_process(system, "payouts-api")

    await asyncio.gather(dispatch(), strike())
    for payout_id in payouts:
        await market.payout_reaches(vendor, payout_id, "processed", within=STEP_SECONDS)
    assert (await market.wallet(vendor))["availableMinor"] == wallet["availableMinor"] - 5 * PAYOUT_MINOR
    assert await findings_of(system.secrets, market.sandbox, settle_seconds=60) == []
