"""A virtual host that modules use in turn: each finds the declared topology, without messages."""

import uuid
from collections.abc import AsyncIterator

import aio_pika
import httpx
import pytest
import pytest_asyncio

from campus_tools.servers import Servers
from common.messaging.topology import declared_topology, delay_queue_of
from common.primitives.retry import RetryLadder
from testkit.virtual_hosts import VirtualHost, virtual_host

TOPOLOGY = declared_topology(RetryLadder())
DELAYED = delay_queue_of(TOPOLOGY.ladder.delays_seconds[-1])


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def host(servers: Servers, management_url: str) -> AsyncIterator[VirtualHost]:
    async with virtual_host(servers.broker_url, management_url, f"test-{uuid.uuid4().hex[:12]}", kept=False) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def channel(host: VirtualHost) -> AsyncIterator[aio_pika.abc.AbstractChannel]:
    await host.prepare()
    async with await aio_pika.connect(host.url) as connection:
        yield await connection.channel()


async def acknowledged(message: aio_pika.abc.AbstractIncomingMessage) -> None:
    await message.ack()


async def test_messages_are_removed_and_the_queues_stay(
    host: VirtualHost, channel: aio_pika.abc.AbstractChannel
) -> None:
    for name in ("payments.orders", "payments.dead", DELAYED):
        await channel.default_exchange.publish(aio_pika.Message(b"left"), routing_key=name)
    await host.prepare()
    async with await aio_pika.connect(host.url) as connection:
        other = await connection.channel()
        counts = {
            name: (await other.declare_queue(name, passive=True)).declaration_result.message_count
            for name in ("payments.orders", "payments.dead", DELAYED)
        }
    assert set(counts.values()) == {0}


async def test_an_emptied_virtual_host_keeps_its_connections(
    host: VirtualHost, channel: aio_pika.abc.AbstractChannel
) -> None:
    await host.prepare()
    assert not channel.is_closed
    await TOPOLOGY.check(channel)


@pytest.mark.parametrize(
    "change", ["a queue is missing", "an exchange is new", "a binding is missing", "a consumer is left"]
)
async def test_a_changed_virtual_host_is_made_again(
    host: VirtualHost, channel: aio_pika.abc.AbstractChannel, change: str
) -> None:
    queue = await channel.declare_queue("payments.orders", passive=True)
    match change:
        case "a queue is missing":
            await channel.queue_delete("payments.orders")
        case "an exchange is new":
            await channel.declare_exchange("tests.new")
        case "a binding is missing":
            await queue.unbind(TOPOLOGY.events_exchange, TOPOLOGY.bindings["payments.orders"][0])
        case "a consumer is left":
            await queue.consume(acknowledged)
    await host.prepare()
    async with await aio_pika.connect(host.url) as connection:
        other = await connection.channel()
        await TOPOLOGY.check(other)
        assert (await other.declare_queue("payments.orders", passive=True)).declaration_result.consumer_count == 0


async def test_the_next_process_of_a_run_uses_the_same_one(
    host: VirtualHost, servers: Servers, management_url: str, channel: aio_pika.abc.AbstractChannel
) -> None:
    name = host.url.rpartition("/")[2]
    async with virtual_host(servers.broker_url, management_url, name, kept=True) as same:
        await same.prepare()
    assert not channel.is_closed
    async with virtual_host(servers.broker_url, management_url, name, kept=False):
        pass
    async with httpx.AsyncClient(base_url=management_url, timeout=60, trust_env=False) as api:
        assert (await api.get(f"/api/vhosts/{name}")).status_code == 404
