"""A replay publishes past events to one subscriber's queue, and to no other."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import aio_pika
import msgspec
import pytest
import pytest_asyncio
from aio_pika.abc import AbstractIncomingMessage, AbstractQueue

from common.auth.caller import THE_SERVICE
from common.messaging.bus import Bus
from common.messaging.relay import relay_once
from common.messaging.replaying import BATCH, ReplayRefused, replay
from common.primitives.ids import new_id
from contracts.orders import DeliveryPinIssued, OrderCompleted, OrderDispatched

from .conftest import Mechanisms

QUEUE = "sub.tests.replay"
DISPATCHED = [OrderDispatched.TYPE]
LONG_AGO = datetime.now(UTC) - timedelta(days=7)


def dispatched() -> OrderDispatched:
    return OrderDispatched(order_id=new_id(), buyer_id=new_id(), vendor_id=new_id())


async def publish(mechanisms: Mechanisms, bus: Bus, *events) -> None:
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for event in events:
            uow.publish(event)
    while await relay_once(mechanisms.database, bus):
        pass


@pytest_asyncio.fixture(loop_scope="session")
async def queue(broker_url: str, bus: Bus) -> AsyncIterator[AbstractQueue]:
    async with await aio_pika.connect(broker_url) as connection:
        queue = await (await connection.channel()).declare_queue(QUEUE, durable=True)
        yield queue
        await queue.delete(if_unused=False, if_empty=False)


@pytest_asyncio.fixture(loop_scope="session")
async def bystander(broker_url: str, bus: Bus) -> AsyncIterator[AbstractQueue]:
    """Yield a queue of another subscriber, bound to everything."""
    async with await aio_pika.connect(broker_url) as connection:
        queue = await (await connection.channel()).declare_queue("sub.others.all", exclusive=True)
        await queue.bind("campus.public", "#")
        await queue.bind("campus.events", "#")
        yield queue


async def messages_of(queue: AbstractQueue) -> list[AbstractIncomingMessage]:
    found = []
    while (message := await queue.get(fail=False, no_ack=True)) is not None:
        found.append(message)
    return found


async def test_events_arrive_again_with_their_ids_in_their_order(
    mechanisms: Mechanisms, bus: Bus, broker_url: str, queue: AbstractQueue
) -> None:
    # More than one batch. Events of one transaction are in the order of their subjects.
    events = sorted((dispatched() for _ in range(BATCH + 3)), key=lambda event: event.subject)
    await publish(mechanisms, bus, *events)
    assert await replay(mechanisms.database, broker_url, QUEUE, DISPATCHED, LONG_AGO) == len(events)
    received = [msgspec.json.decode(message.body) for message in await messages_of(queue)]
    assert [it["subject"] for it in received] == [event.subject for event in events]
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        ids = [str(row["id"]) for row in await uow.fetch("SELECT id FROM outbox ORDER BY position")]
    assert [it["id"] for it in received] == ids


async def test_no_other_queue_receives_a_replay(
    mechanisms: Mechanisms, bus: Bus, broker_url: str, queue: AbstractQueue, bystander: AbstractQueue
) -> None:
    await publish(mechanisms, bus, dispatched())
    await messages_of(bystander)
    assert await replay(mechanisms.database, broker_url, QUEUE, DISPATCHED, LONG_AGO) == 1
    assert len(await messages_of(queue)) == 1
    assert await messages_of(bystander) == []


async def test_only_the_given_types_are_replayed(
    mechanisms: Mechanisms, bus: Bus, broker_url: str, queue: AbstractQueue
) -> None:
    completed = OrderCompleted(order_id=new_id(), buyer_id=new_id(), vendor_id=new_id())
    await publish(mechanisms, bus, dispatched(), completed)
    assert await replay(mechanisms.database, broker_url, QUEUE, [OrderCompleted.TYPE], LONG_AGO) == 1
    [message] = await messages_of(queue)
    assert message.type == OrderCompleted.TYPE


async def test_events_before_the_instant_are_not_replayed(
    mechanisms: Mechanisms, bus: Bus, broker_url: str, queue: AbstractQueue
) -> None:
    await publish(mechanisms, bus, dispatched())
    later = datetime.now(UTC) + timedelta(hours=1)
    assert await replay(mechanisms.database, broker_url, QUEUE, DISPATCHED, later) == 0


@pytest.mark.parametrize("name", ["payouts.payments", "orders.dead", "sub.", "sub.tests", "campus.delay.1000"])
async def test_a_queue_of_the_services_is_refused(mechanisms: Mechanisms, broker_url: str, name: str) -> None:
    with pytest.raises(ReplayRefused, match="no queue of a subscriber"):
        await replay(mechanisms.database, broker_url, name, DISPATCHED, LONG_AGO)


async def test_a_missing_queue_is_refused(mechanisms: Mechanisms, broker_url: str) -> None:
    with pytest.raises(ReplayRefused, match=r"no queue sub\.tests\.missing"):
        await replay(mechanisms.database, broker_url, "sub.tests.missing", DISPATCHED, LONG_AGO)


async def test_an_event_that_is_not_public_is_refused(mechanisms: Mechanisms, broker_url: str) -> None:
    with pytest.raises(ReplayRefused, match="delivery_pin_issued"):
        await replay(mechanisms.database, broker_url, QUEUE, [DeliveryPinIssued.TYPE], LONG_AGO)
