"""A consumer over the real broker that writes down what it receives, for the tests of messages."""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager

import msgspec
from prometheus_client import REGISTRY

from common.auth.caller import THE_SERVICE
from common.messaging.bus import Bus
from common.messaging.consumers import Consumers
from common.messaging.messages import Handlers, Subscription
from common.messaging.relay import relay_once, run_relay
from common.observability.telemetry import INBOX_DUPLICATES
from common.primitives.ids import new_id
from contracts.orders import OrderDispatched
from testkit.fixtures import eventually

from .conftest import Mechanisms

OF_OWNER = "SELECT * FROM notes WHERE owner_id = $1"


class Job(msgspec.Struct, frozen=True):
    number: int


def dispatched() -> OrderDispatched:
    return OrderDispatched(order_id=new_id(), buyer_id=new_id(), vendor_id=new_id())


async def publish(mechanisms: Mechanisms, *events) -> None:
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for event in events:
            uow.publish(event)


async def rows(mechanisms: Mechanisms, statement: str, *values):
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        return await uow.fetch(statement, *values)


async def publish_again(mechanisms: Mechanisms, bus: Bus) -> None:
    """Publish all messages once more, after the relay has marked them."""
    await eventually(lambda: all_published(mechanisms))
    await rows(mechanisms, "UPDATE outbox SET published_at = NULL, next_attempt_at = now() RETURNING id")
    assert await relay_once(mechanisms.database, bus) > 0


async def all_published(mechanisms: Mechanisms) -> bool:
    return not await rows(mechanisms, "SELECT * FROM outbox WHERE published_at IS NULL")


async def queue_is_empty(bus: Bus) -> bool:
    declared = await (await bus._publishing_channel()).queue_declare("tests.orders", passive=True)
    return declared.message_count == 0


async def written(mechanisms: Mechanisms, count: int) -> bool:
    return len(await rows(mechanisms, "SELECT 1 FROM notes")) == count


def duplicates() -> float:
    return sum(sample.value for sample in INBOX_DUPLICATES.collect()[0].samples if sample.name.endswith("_total"))


def shown(metric: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(metric, labels) or 0.0


async def published(mechanisms: Mechanisms, count: int) -> bool:
    return len(await rows(mechanisms, "SELECT * FROM outbox WHERE published_at IS NOT NULL")) == count


class Notebook:
    """A consumer that writes events as rows, and fails a set number of times."""

    def __init__(self) -> None:
        self.attempts: Counter[str] = Counter()
        self.failures = 0
        self.fault: type[Exception] = RuntimeError

    async def on_order_dispatched(self, event, received, uow, dependencies):
        self.attempts[event.subject] += 1
        await uow.execute(
            "INSERT INTO notes (id, owner_id, text) VALUES ($1, $2, $3)", new_id(), event.order_id, "heard"
        )
        if self.attempts[event.subject] <= self.failures:
            raise self.fault("set to fail")


@asynccontextmanager
async def consuming(mechanisms: Mechanisms, bus: Bus, notebook, work_items=()):
    subscriptions = [Subscription(OrderDispatched, notebook.on_order_dispatched)]
    consumers = Consumers(
        "tests", mechanisms.database, bus, None, Handlers(subscriptions, work_items), account_required=False
    )
    tasks = [asyncio.create_task(consumers.run()), asyncio.create_task(run_relay(mechanisms.database, bus))]
    try:
        yield consumers
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
