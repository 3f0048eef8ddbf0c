"""Messages of a service that arrive together are handled in one batch, whatever their queues."""

import asyncio
from collections.abc import Callable
from typing import cast

import pytest
from aio_pika.abc import AbstractIncomingMessage

from common.messaging.batches import MESSAGES_MAX, Arrivals, Batches, Channel

LONG_SECONDS = 3600.0


def message() -> AbstractIncomingMessage:
    return cast("AbstractIncomingMessage", object())


class Handler:
    """Holds each batch until the gate opens; then records for each of its queues whether its channel was settled
    before.
    """

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.oldest: list[dict[str, bool]] = []
        self.gates: list[asyncio.Event] = []

    async def handle(self, batch: Arrivals, is_oldest: Callable[[Channel], bool]) -> None:
        self.batches.append([one.channel.queue for one in batch])
        gate = asyncio.Event()
        self.gates.append(gate)
        await gate.wait()
        self.oldest.append({one.channel.queue: is_oldest(one.channel) for one in batch})


async def turns() -> None:
    """Let all tasks run that do not wait for a gate."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_messages_of_two_queues_share_a_batch() -> None:
    handler = Handler()
    batches = Batches(handler.handle)
    orders, payments = batches.of_queue("tests.orders"), batches.of_queue("tests.payments")
    async with asyncio.TaskGroup() as group:
        for add in (orders, payments, orders):
            group.create_task(add(message()))
        await turns()
        handler.gates[0].set()
    assert handler.batches == [["tests.orders", "tests.payments", "tests.orders"]]


async def test_one_acknowledgement_covers_a_channel_without_earlier_unsettled_messages() -> None:
    handler = Handler()
    batches = Batches(handler.handle)
    orders, payments = batches.of_queue("tests.orders"), batches.of_queue("tests.payments")
    async with asyncio.TaskGroup() as group:
        group.create_task(orders(message()))
        await turns()
        group.create_task(orders(message()))
        group.create_task(payments(message()))
        await turns()
        handler.gates[1].set()
        await turns()
        handler.gates[0].set()
    assert handler.oldest == [{"tests.orders": False, "tests.payments": True}, {"tests.orders": True}]


async def test_messages_of_a_channel_that_was_opened_again_are_settled_apart() -> None:
    handler = Handler()
    batches = Batches(handler.handle)
    async with asyncio.TaskGroup() as group:
        group.create_task(batches.of_queue("tests.orders")(message()))
        await turns()
        group.create_task(batches.of_queue("tests.orders")(message()))
        await turns()
        handler.gates[1].set()
        await turns()
        handler.gates[0].set()
    assert handler.oldest == [{"tests.orders": True}, {"tests.orders": True}]


@pytest.mark.parametrize("count", [1, MESSAGES_MAX - 1])
async def test_a_message_waits_for_others(count: int) -> None:
    handler = Handler()
    add = Batches(handler.handle, LONG_SECONDS).of_queue("tests.orders")
    waiting = [asyncio.create_task(add(message())) for _ in range(count)]
    await turns()
    assert handler.batches == []
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_full_batch_waits_for_no_others() -> None:
    handler = Handler()
    add = Batches(handler.handle, LONG_SECONDS).of_queue("tests.orders")
    waiting = [asyncio.create_task(add(message())) for _ in range(MESSAGES_MAX)]
    await turns()
    assert [len(batch) for batch in handler.batches] == [MESSAGES_MAX]
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
