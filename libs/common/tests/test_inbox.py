"""The inbox row of a message in the statement of its only write."""

import asyncio
from collections.abc import Awaitable
from typing import Final
from uuid import UUID

import asyncpg
import msgspec
import pytest

from common.database.outbox import Writes
from common.messaging.bus import Bus
from common.messaging.consumers import Consumers
from common.messaging.inbox import InboxWrite
from common.messaging.messages import Received, Subscription
from common.primitives.ids import new_id
from contracts.orders import OrderDispatched

from .conftest import Mechanisms
from .notebook import OF_OWNER, Notebook, duplicates, rows

_WRITE: Final = Writes(
    "noted AS (INSERT INTO notes (id, owner_id, text) VALUES ($1, $2, 'heard') ON CONFLICT DO NOTHING RETURNING 1)",
    "EXISTS (SELECT FROM noted) AS is_new",
)


class WritesOnce(Notebook):
    """A consumer with one write, which is its transaction where its message is handled alone."""

    writers: list[str]
    writes = 1

    def __init__(self) -> None:
        super().__init__()
        self.writers = []

    async def on_order_dispatched(self, event, received, writer, dependencies):
        self.attempts[event.subject] += 1
        self.writers.append(type(writer).__name__)
        for _ in range(self.writes):
            await writer.write(_WRITE, new_id(), event.order_id)


def deliver(mechanisms: Mechanisms, bus: Bus, notebook: Notebook, *messages: Received) -> Awaitable[None]:
    subscriptions = [Subscription(OrderDispatched, notebook.on_order_dispatched, writes_once=True)]
    consumers = Consumers("tests", mechanisms.database, bus, None, subscriptions, account_required=False)
    return consumers.handle("tests.orders", [(one, _data_of(one.subject)) for one in messages])


def _data_of(order_id: str) -> msgspec.Raw:
    event = OrderDispatched(order_id=UUID(order_id), buyer_id=new_id(), vendor_id=new_id())
    return msgspec.Raw(msgspec.json.encode(event))


def received(order_id: UUID) -> Received:
    return Received(new_id(), OrderDispatched.TYPE, "/services/orders", str(order_id), 1, "", 1, False)


async def test_a_handler_that_writes_once_has_one_statement(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, order_id = WritesOnce(), new_id()
    message, repeated = received(order_id), duplicates()
    for _ in range(3):
        await deliver(mechanisms, bus, notebook, message)
    assert notebook.writers == ["InboxWrite"] * 3
    assert len(await rows(mechanisms, OF_OWNER, order_id)) == 1
    inbox = await rows(mechanisms, "SELECT consumer FROM inbox WHERE event_id = $1", message.event_id)
    assert [row["consumer"] for row in inbox] == ["on_order_dispatched"]
    assert duplicates() == repeated + 2


async def test_concurrent_deliveries_to_such_a_handler_have_one_effect(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, order_id = WritesOnce(), new_id()
    message = received(order_id)
    await asyncio.gather(*(deliver(mechanisms, bus, notebook, message) for _ in range(5)))
    assert len(await rows(mechanisms, OF_OWNER, order_id)) == 1


async def test_such_a_handler_shares_the_transaction_of_other_messages(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, order_ids = WritesOnce(), [new_id(), new_id()]
    await deliver(mechanisms, bus, notebook, *map(received, order_ids))
    assert notebook.writers == ["UnitOfWork"] * 2
    assert [len(await rows(mechanisms, OF_OWNER, order_id)) for order_id in order_ids] == [1, 1]


@pytest.mark.parametrize("writes", [0, 2])
async def test_such_a_handler_fails_with_no_write_or_two(mechanisms: Mechanisms, bus: Bus, writes: int) -> None:
    notebook, message = WritesOnce(), received(new_id())
    notebook.writes = writes
    with pytest.raises(AssertionError):
        await deliver(mechanisms, bus, notebook, message)


async def test_an_error_of_the_only_write_rolls_its_inbox_row_back(mechanisms: Mechanisms) -> None:
    message = received(new_id())
    missing = Writes("missing AS (INSERT INTO notes (id) VALUES ($1) RETURNING 1)", "EXISTS (SELECT FROM missing)")
    with pytest.raises(asyncpg.NotNullViolationError):
        await InboxWrite(mechanisms.database, (message.event_id, "on_order_dispatched")).write(missing, new_id())
    assert not await rows(mechanisms, "SELECT FROM inbox WHERE event_id = $1", message.event_id)
