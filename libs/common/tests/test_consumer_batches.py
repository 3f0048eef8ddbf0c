"""Messages that arrive together, and one of them that fails."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from common.messaging import inbox
from common.messaging.batches import BATCHES_AT_ONCE
from common.messaging.bus import Bus, Outgoing
from common.primitives.ids import new_id
from contracts.orders import OrderDispatched
from testkit.fixtures import PATIENT, eventually

from .conftest import Mechanisms
from .notebook import (
    Notebook,
    all_published,
    consuming,
    dispatched,
    duplicates,
    publish,
    publish_again,
    queue_is_empty,
    rows,
    written,
)

# The transaction that wrote a row.
TRANSACTIONS = "SELECT DISTINCT xmin::text FROM notes"


class GatedNotebook(Notebook):
    """A consumer whose handlers wait for a gate, so that messages queue up."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.failing: str | None = None

    async def on_order_dispatched(self, event, received, uow, dependencies):
        await self.gate.wait()
        await super().on_order_dispatched(event, received, uow, dependencies)
        if event.subject == self.failing and self.attempts[event.subject] <= 2:
            raise self.fault("set to fail")


@asynccontextmanager
async def collected(mechanisms: Mechanisms, bus: Bus, notebook: GatedNotebook, *events, body: bytes | None = None):
    """Yield once the events have left the queue and wait for the handlers at the gate, which opens here."""
    async with consuming(mechanisms, bus, notebook):
        # All batches that may be under way.
        for _ in range(BATCHES_AT_ONCE):
            await publish(mechanisms, dispatched())
        if body is not None:
            assert await bus.publish([Outgoing(body, str(new_id()), OrderDispatched.TYPE, None, {})]) == [True]
        await publish(mechanisms, *events)
        await eventually(lambda: all_published(mechanisms))
        await eventually(lambda: queue_is_empty(bus))
        notebook.gate.set()
        yield


async def test_messages_that_arrive_together_share_a_transaction(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, events = GatedNotebook(), [dispatched() for _ in range(20)]
    async with collected(mechanisms, bus, notebook, *events):
        await eventually(lambda: len(notebook.attempts) == len(events) + BATCHES_AT_ONCE)
        await eventually(lambda: written(mechanisms, len(events) + BATCHES_AT_ONCE))
    assert len(await rows(mechanisms, TRANSACTIONS)) < len(events)
    assert set(notebook.attempts.values()) == {1}
    # The broker would deliver unacknowledged messages again.
    await bus.close()
    bus = Bus(bus._url, bus.topology, "test", PATIENT.broker_connect)
    assert await queue_is_empty(bus)
    await bus.close()


async def test_a_failing_message_does_not_undo_those_of_its_batch(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, events = GatedNotebook(), [dispatched() for _ in range(8)]
    notebook.failing = events[3].subject
    async with collected(mechanisms, bus, notebook, *events):
        await eventually(lambda: written(mechanisms, len(events) + BATCHES_AT_ONCE))
    assert notebook.attempts[events[3].subject] == 3
    assert await rows(mechanisms, "SELECT 1 FROM dead_letters") == []
    # The others still share a transaction.
    assert len(await rows(mechanisms, TRANSACTIONS)) <= len(events)


async def test_a_batch_of_failing_messages_is_handled_one_by_one(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, events = GatedNotebook(), [dispatched() for _ in range(8)]
    notebook.failures = 1
    async with collected(mechanisms, bus, notebook, *events):
        await eventually(lambda: written(mechanisms, len(events) + BATCHES_AT_ONCE))
    assert await rows(mechanisms, "SELECT 1 FROM dead_letters") == []
    assert await queue_is_empty(bus)


async def test_a_malformed_message_does_not_harm_those_of_its_batch(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, events = GatedNotebook(), [dispatched() for _ in range(4)]
    async with collected(mechanisms, bus, notebook, *events, body=b"not json"):
        await eventually(lambda: written(mechanisms, len(events) + BATCHES_AT_ONCE))
        await eventually(lambda: rows(mechanisms, "SELECT 1 FROM dead_letters"))
    assert set(notebook.attempts.values()) == {1}


async def test_a_message_twice_in_a_batch_is_applied_once(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = GatedNotebook(), dispatched()
    repeated = duplicates()
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, dispatched(), dispatched(), event)
        for _ in range(3):
            await publish_again(mechanisms, bus)
        await eventually(lambda: queue_is_empty(bus))
        notebook.gate.set()
        await eventually(lambda: duplicates() >= repeated + 9)
    assert set(notebook.attempts.values()) == {1}
    assert await written(mechanisms, 3)


async def test_only_the_new_messages_of_a_batch_are_named(mechanisms: Mechanisms) -> None:
    known, new = (new_id(), "on_order_dispatched"), (new_id(), "on_order_dispatched")
    for keys, expected in (
        ([known], {known}),
        ([new, known, new], {new}),
        ([known, new], set()),
        ([], set()),
    ):
        async with inbox.consuming(mechanisms.database, keys) as (_, found):
            assert found == expected


async def test_the_name_of_a_consumer_is_an_identifier(mechanisms: Mechanisms) -> None:
    with pytest.raises(ValueError, match="identifier"):
        async with inbox.consuming(mechanisms.database, [(new_id(), "x'); --")]):
            pass
