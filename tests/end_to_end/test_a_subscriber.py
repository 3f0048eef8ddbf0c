"""A subscriber receives public events with the guide's example, and its account can do nothing else
(docs/guides/subscribing.md).
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import aio_pika
import pytest
from aiormq.exceptions import ChannelAccessRefused

from campus_tools.launcher.system import System
from contracts.topology import EVENTS_EXCHANGE, PUBLIC_EXCHANGE
from operations.journey import Marketplace
from tests.end_to_end.steps import placed_order

from .conftest import Users

EXAMPLE = Path(__file__).parents[2] / "docs/examples/subscriber.py"
SECONDS_MAX = 60


@asynccontextmanager
async def own_queue(url: str) -> AsyncIterator[str]:
    """Yield a name of the team's own; the queue is deleted after the test."""
    name = f"sub.demo.{uuid4().hex}"
    connection = await aio_pika.connect(url)
    async with connection:
        yield name
        await (await connection.channel()).queue_delete(name)


async def test_the_example_subscriber_receives_events_and_after_a_restart_the_missed_ones(
    system: System, market: Marketplace, users: Users, tmp_path: Path
) -> None:
    url = system.secrets["SUBSCRIBER_BROKER_URL"]

    async def listening(queue: str) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(EXAMPLE),
            "--queue", queue, "--types", "orders.order_placed.v1", "--count", "1", "--store", str(tmp_path / "seen"),
            env={**os.environ, "SUBSCRIBER_BROKER_URL": url},
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert await asyncio.wait_for(process.stdout.readline(), SECONDS_MAX) == b"listening\n"
        return process

    async def printed_event(process: asyncio.subprocess.Process) -> list[str]:
        output, _ = await asyncio.wait_for(process.communicate(), SECONDS_MAX)
        assert process.returncode == 0
        return output.decode().split()

    async with own_queue(url) as queue:
        process = await listening(queue)
        order = await placed_order(market, users)
        assert await printed_event(process) == ["1", "orders.order_placed.v1", order["id"]]
        while_stopped = await placed_order(market, users)
        assert await printed_event(await listening(queue)) == ["1", "orders.order_placed.v1", while_stopped["id"]]


async def publish(channel: aio_pika.abc.AbstractChannel, exchange: str, routing_key: str) -> None:
    aimed = await channel.get_exchange(exchange, ensure=False) if exchange else channel.default_exchange
    await aimed.publish(aio_pika.Message(b"{}"), routing_key)


async def bind(channel: aio_pika.abc.AbstractChannel, queue: str, exchange: str) -> None:
    await (await channel.declare_queue(queue)).bind(exchange, "#")


async def let_die(channel: aio_pika.abc.AbstractChannel, queue: str) -> None:
    """Declare a queue whose expired messages the broker itself would publish to the services."""
    await channel.declare_queue(queue, arguments={"x-message-ttl": 0, "x-dead-letter-exchange": EVENTS_EXCHANGE})


async def empty(channel: aio_pika.abc.AbstractChannel, queue: str) -> None:
    await (await channel.get_queue(queue, ensure=False)).purge()


async def receive(channel: aio_pika.abc.AbstractChannel, queue: str) -> None:
    await (await channel.get_queue(queue, ensure=False)).get(fail=False)


REFUSED = {
    "publish to subscribers": lambda channel, own: publish(channel, PUBLIC_EXCHANGE, "orders.order_placed.v1"),
    "publish to the services": lambda channel, own: publish(channel, EVENTS_EXCHANGE, "orders.order_placed.v1"),
    "publish into a queue": lambda channel, own: publish(channel, "", "payments.orders"),
    "publish to the services by dead letters": let_die,
    "bind to the services' exchange": lambda channel, own: bind(channel, own, EVENTS_EXCHANGE),
    "read a service's queue": lambda channel, own: receive(channel, "payments.orders"),
    "empty a service's queue": lambda channel, own: empty(channel, "payments.orders"),
    "delete a service's queue": lambda channel, own: channel.queue_delete("payments.orders"),
    "delete the exchange": lambda channel, own: channel.exchange_delete(PUBLIC_EXCHANGE),
    "declare a queue of another team": lambda channel, own: channel.declare_queue("sub.other.orders"),
    "declare a queue of no team": lambda channel, own: channel.declare_queue("anything"),
    "declare an exchange": lambda channel, own: channel.declare_exchange("anything"),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_the_account_of_a_subscriber_may_not(what: str, system: System) -> None:
    url = system.secrets["SUBSCRIBER_BROKER_URL"]
    async with own_queue(url) as own, await aio_pika.connect(url) as connection:
        channel = await connection.channel()
        with pytest.raises(ChannelAccessRefused):
            await REFUSED[what](channel, own)


async def test_the_queue_that_is_refused_to_a_subscriber_is_there(system: System) -> None:
    async with await aio_pika.connect(system.secrets["BROKER_URL"]) as connection:
        assert await (await connection.channel()).get_queue("payments.orders")
