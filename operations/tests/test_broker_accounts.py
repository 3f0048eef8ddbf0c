"""Rights of the accounts of the broker, tried on a real broker (decision 31)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aio_pika
import httpx
import pytest
import pytest_asyncio
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, HeadersType
from aio_pika.exceptions import AMQPError, ChannelPreconditionFailed
from aiormq.exceptions import ChannelAccessRefused, ConnectionNotAllowed

from campus_tools.servers import Servers
from common.messaging.bus import Bus, Outgoing
from common.messaging.declaring import DeclarationFailed, declare_broker
from common.messaging.messages import Received
from common.messaging.provenance import UnprovenPublisher, check_publisher, route_of
from common.messaging.topology import declared_topology
from common.primitives.ids import new_id
from common.primitives.retry import RetryLadder
from contracts.topology import BROADCASTS, EVENTS_EXCHANGE, PUBLIC_EXCHANGE, SUBSCRIPTIONS, WORK_QUEUES
from operations.broker_accounts import QUEUES_MAX, SUBSCRIBER_LIMITS, SUBSCRIBER_QUEUES_MAX
from operations.provision import (
    SUBSCRIBER,
    ProvisioningFailed,
    provision_broker,
    service_broker_url,
    subscriber_broker_url,
)
from operations.secrets import load_secrets
from operations.services import SERVICES, Service, service_named
from operations.subscriber_supervisor import SubscriberSupervisor, supervise
from testkit.fixtures import PATIENT, eventually

LADDER = RetryLadder((0.1, 0.2))
QUEUES = sorted(declared_topology(LADDER).bindings)
TYPES = sorted({event.TYPE for events in SUBSCRIPTIONS.values() for event in events})


class Broker:
    def __init__(self, servers: Servers, secrets: dict[str, str]) -> None:
        self.servers, self.secrets = servers, secrets

    def url(self, service: str) -> str:
        return service_broker_url(self.servers.broker_url, service_named(service), self.secrets)

    @property
    def subscriber_url(self) -> str:
        return subscriber_broker_url(self.servers.broker_url, self.secrets)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def broker(own_servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Broker:
    """Return the provisioned broker; a test that changes accounts, policies or queues restores them."""
    secrets = load_secrets(tmp_path_factory.mktemp("broker"), {})
    await asyncio.to_thread(own_servers.rabbitmq.start)
    # Several systems, or several starts of one, may provision at the same moment.
    ladder = {"RETRY_DELAYS_SECONDS": "0.1,0.2"}
    await asyncio.gather(*(declare_broker(own_servers.broker_url, ladder) for _ in range(3)))
    await asyncio.gather(
        *(provision_broker(own_servers.management_url, own_servers.broker_url, secrets) for _ in range(3))
    )
    return Broker(own_servers, secrets)


@asynccontextmanager
async def channel_of(url: str) -> AsyncIterator[AbstractChannel]:
    async with await aio_pika.connect(url) as connection:
        yield await connection.channel()


Attempt = Callable[[AbstractChannel], Awaitable[object]]


async def allowed_of(url: str, attempts: Mapping[str, Attempt]) -> list[str]:
    """Return the attempts that the broker does not reject, each on a channel of its own, which a rejection closes."""
    allowed = []
    async with await aio_pika.connect(url) as connection:
        for name, attempt in attempts.items():
            try:
                async with connection.channel() as channel:
                    await attempt(channel)
            except ChannelAccessRefused:
                continue
            allowed.append(name)
    return allowed


def publish(exchange: str, key: str) -> Attempt:
    async def attempt(channel: AbstractChannel) -> None:
        aimed = await channel.get_exchange(exchange, ensure=False) if exchange else channel.default_exchange
        await aimed.publish(aio_pika.Message(b"{}"), key, mandatory=False)

    return attempt


def read(queue: str) -> Attempt:
    async def attempt(channel: AbstractChannel) -> None:
        await (await channel.get_queue(queue, ensure=False)).get(fail=False, no_ack=False)

    return attempt


def listen(event_type: str) -> Attempt:
    async def attempt(channel: AbstractChannel) -> None:
        await (await channel.declare_queue(exclusive=True)).bind(EVENTS_EXCHANGE, event_type)

    return attempt


def bind_exchange(source: str, destination: str) -> Attempt:
    async def attempt(channel: AbstractChannel) -> None:
        await (await channel.get_exchange(destination, ensure=False)).bind(source, "#")

    return attempt


def expire_into(exchange: str) -> Attempt:
    async def attempt(channel: AbstractChannel) -> None:
        await channel.declare_queue(exclusive=True, arguments={"x-message-ttl": 0, "x-dead-letter-exchange": exchange})

    return attempt


services = pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)


@services
async def test_a_service_publishes_no_event_and_no_work_of_another_service(service: Service, broker: Broker) -> None:
    own = (f"{service.name}.", "operations.")
    foreign_types = [key for key in TYPES if not key.startswith(own)]
    foreign_queues = [queue for queue in QUEUES if not queue.startswith(own)]
    attempts = {
        **{f"event {key}": publish(EVENTS_EXCHANGE, key) for key in foreign_types},
        **{
            f"{exchange} {key}": publish(exchange, key)
            for exchange in ("campus.work", "campus.retry")
            for key in foreign_queues
        },
    }
    assert await allowed_of(broker.url(service.name), attempts) == []


@services
async def test_a_service_writes_to_no_other_exchange_and_reads_no_queue_of_another(
    service: Service, broker: Broker
) -> None:
    foreign = [queue for queue in QUEUES if not queue.startswith(f"{service.name}.")]
    dead = [f"{other.name}.dead" for other in SERVICES if other is not service]
    attempts = {
        "the default exchange": publish("", "payouts.identity"),
        "the public exchange": publish("campus.public", "payments.escrow_held.v1"),
        "the delays": publish("campus.delay", "payouts.identity"),
        "a system exchange": publish("amq.topic", "payouts.identity"),
        **{f"read {queue}": read(queue) for queue in [*foreign, *dead, "campus.delay.100"]},
    }
    assert await allowed_of(broker.url(service.name), attempts) == []


@services
async def test_a_service_declares_deletes_and_binds_nothing_of_the_map(service: Service, broker: Broker) -> None:
    own = next(queue for queue in QUEUES if queue.startswith(f"{service.name}."))
    attempts: dict[str, Attempt] = {
        "declare a queue of its name": lambda channel: channel.declare_queue(f"{service.name}.more", durable=True),
        "declare an exchange": lambda channel: channel.declare_exchange("campus.more"),
        "delete its own queue": lambda channel: channel.queue_delete(own),
        "delete the exchange": lambda channel: channel.exchange_delete(EVENTS_EXCHANGE),
        "listen to PINs": listen("orders.delivery_pin_issued.v1"),
        "listen to everything": listen("#"),
        "bind work to events": bind_exchange("campus.work", EVENTS_EXCHANGE),
        "bind retries to work": bind_exchange("campus.retry", "campus.work"),
        "let messages expire into queues": expire_into(""),
        "let messages expire into the public exchange": expire_into("campus.public"),
    }
    assert await allowed_of(broker.url(service.name), attempts) == []


@services
async def test_a_service_cannot_sign_with_the_account_of_another(service: Service, broker: Broker) -> None:
    other = next(each for each in SERVICES if each is not service)
    async with channel_of(broker.url(service.name)) as channel:
        events = await channel.get_exchange(EVENTS_EXCHANGE, ensure=False)
        with pytest.raises(ChannelPreconditionFailed):
            await events.publish(aio_pika.Message(b"{}", user_id=other.name), f"{service.name}.any", mandatory=False)


@services
async def test_a_service_is_no_administrator(service: Service, broker: Broker) -> None:
    async with httpx.AsyncClient(base_url=broker.servers.management_url, trust_env=False) as api:
        account = (await api.get(f"/api/users/{service.name}")).json()
    assert not account["tags"]
    address = broker.servers.management_url.rpartition("@")[2]
    url = broker.url(service.name)
    login = (service.name, url.partition("//")[2].partition("@")[0].partition(":")[2])
    async with httpx.AsyncClient(base_url=f"http://{address}", auth=login, trust_env=False) as api:
        assert (await api.get("/api/overview")).status_code == 401


@services
async def test_the_bus_of_a_service_publishes_retries_and_listens_with_its_account(
    service: Service, broker: Broker
) -> None:
    bus = Bus(broker.url(service.name), declared_topology(LADDER), "test", PATIENT.broker_connect)
    own = next(queue for queue in (*WORK_QUEUES, *QUEUES) if queue.startswith(f"{service.name}."))
    received: list[tuple[str, str | None]] = []

    async def keep(message: AbstractIncomingMessage) -> None:
        received.append((message.message_id or "", message.user_id))
        await message.ack()

    work, retry, event = (str(new_id()) for _ in range(3))
    tasks = [
        asyncio.create_task(bus.consume(own, lambda: keep)),
        asyncio.create_task(bus.listen([event.TYPE for event in BROADCASTS], keep)),
    ]
    try:
        assert await bus.publish([Outgoing(b"{}", work, own, own, {})]) == [True]
        await bus.delay(Outgoing(b"{}", retry, own, own, {"x-attempt": 2}), own, 0.1)
        assert await bus.publish([Outgoing(b"{}", event, f"{service.name}.nothing.v1", None, {})]) == [True]
        await eventually(lambda: {(work, service.name), (retry, service.name)} <= set(received))
        await eventually(lambda: bus.seconds_without_broadcasts() == 0)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await bus.close()


HELD = "payments.escrow_held.v1"
REVOKED = "identity.session_revoked.v1"


async def by_blind_copy(channel: AbstractChannel) -> None:
    """Before RabbitMQ 4 only the first routing key is compared with the topic permissions."""
    events = await channel.get_exchange(EVENTS_EXCHANGE, ensure=False)
    await events.publish(aio_pika.Message(b"{}", headers={"BCC": [HELD]}), "identity.any", mandatory=False)


async def by_blind_copy_of_a_retry(channel: AbstractChannel) -> None:
    retries = await channel.get_exchange("campus.retry", ensure=False)
    headers: HeadersType = {"BCC": ["payouts.payments"], "retry-delay": "100"}
    await retries.publish(aio_pika.Message(b"{}", headers=headers), "identity.any", mandatory=False)


async def by_expiry(channel: AbstractChannel, exchange: str = EVENTS_EXCHANGE, key: str = HELD) -> None:
    """From the one queue that a service may declare into the one exchange that it must write to."""
    arguments: dict[str, Any] = {
        "x-message-ttl": 0,
        "x-dead-letter-exchange": exchange,
        "x-dead-letter-routing-key": key,
    }
    queue = await channel.declare_queue(exclusive=True, arguments=arguments)
    await queue.bind(EVENTS_EXCHANGE, REVOKED)
    events = await channel.get_exchange(EVENTS_EXCHANGE, ensure=False)
    message = aio_pika.Message(b"{}", headers={"retry-delay": "100"})
    await events.publish(message, REVOKED, mandatory=False)
    await queue.unbind(EVENTS_EXCHANGE, REVOKED)


async def by_expiry_into_work(channel: AbstractChannel) -> None:
    await by_expiry(channel, "campus.work", "payouts.payments")


async def by_expiry_into_retries(channel: AbstractChannel) -> None:
    await by_expiry(channel, "campus.retry", "payouts.payments")


@pytest.mark.parametrize(
    "way", [by_blind_copy, by_blind_copy_of_a_retry, by_expiry, by_expiry_into_work, by_expiry_into_retries]
)
async def test_what_passes_the_permissions_of_the_broker_is_refused_by_the_consumer(
    way: Attempt, broker: Broker
) -> None:
    """Without an account in the message, as under `make run`: each arrives in the queue, and is not accepted."""
    async with channel_of(broker.servers.broker_url) as ours, channel_of(broker.url("identity")) as theirs:
        queue = await ours.get_queue("payouts.payments")
        await queue.purge()
        try:
            await way(theirs)
        except ChannelAccessRefused:
            # RabbitMQ 4 compares blind copies too.
            return

        found: list[AbstractIncomingMessage] = []

        async def arrived() -> bool:
            if (message := await queue.get(fail=False, no_ack=True)) is not None:
                found.append(message)
            return bool(found)

        assert await eventually(arrived)
        envelope = Received(new_id(), HELD, "/services/payments", "s", 1, "", 1, is_last_attempt=False)
        with pytest.raises(UnprovenPublisher):
            check_publisher("payouts.payments", route_of(found[0]), envelope, account_required=False)


async def test_an_account_without_the_right_to_create_accounts_gets_a_clear_error(broker: Broker) -> None:
    address = broker.servers.management_url.rpartition("@")[2]
    login = broker.url("orders").partition("//")[2].partition("@")[0]
    with pytest.raises(ProvisioningFailed, match="BROKER_MANAGEMENT_URL") as failed:
        await provision_broker(f"http://{login}@{address}", broker.servers.broker_url, broker.secrets)
    assert login.partition(":")[2] not in str(failed.value), "the message holds a password"


async def test_a_queue_that_differs_stops_the_provisioning(broker: Broker) -> None:
    async with channel_of(broker.servers.broker_url) as channel:
        await channel.queue_delete("payouts.identity")
        await channel.declare_queue("payouts.identity", durable=True)
    try:
        with pytest.raises(DeclarationFailed, match=r"payouts\.identity"):
            await declare_broker(broker.servers.broker_url, {"RETRY_DELAYS_SECONDS": "0.1,0.2"})
    finally:
        async with channel_of(broker.servers.broker_url) as channel:
            await channel.queue_delete("payouts.identity")
        await declare_broker(broker.servers.broker_url, {"RETRY_DELAYS_SECONDS": "0.1,0.2"})


async def test_a_process_whose_queues_were_not_declared_publishes_nothing(broker: Broker) -> None:
    bus = Bus(broker.url("orders"), declared_topology(RetryLadder((7.0,))), "test")
    try:
        assert await bus.publish([Outgoing(b"{}", str(new_id()), "orders.order_placed.v1", None, {})]) == [False]
        assert not bus.is_connected
    finally:
        await bus.close()


async def test_a_subscriber_opens_no_more_connections_than_its_limit(broker: Broker) -> None:
    async with AsyncExitStack() as opened:
        for _ in range(SUBSCRIBER_LIMITS["max-connections"]):
            await opened.enter_async_context(await aio_pika.connect(broker.subscriber_url))
        with pytest.raises(AMQPError):
            await aio_pika.connect(broker.subscriber_url)


async def test_a_subscriber_opens_no_more_channels_than_its_limit(broker: Broker) -> None:
    connection = await aio_pika.connect(broker.subscriber_url)
    for _ in range(SUBSCRIBER_LIMITS["max-channels"]):
        await connection.channel()
    with pytest.raises(ConnectionNotAllowed):
        await connection.channel()
    # The broker closed the connection.
    with suppress(ConnectionNotAllowed, RuntimeError):
        await connection.close()


async def test_subscribers_declare_no_more_queues_than_the_virtual_host_may_have(broker: Broker) -> None:
    async with httpx.AsyncClient(base_url=broker.servers.management_url, trust_env=False) as api:
        present = len((await api.get("/api/queues/%2F")).json())
        limit = {"value": present + 1}
        (await api.put("/api/vhost-limits/%2F/max-queues", json=limit)).raise_for_status()
        try:
            async with channel_of(broker.subscriber_url) as channel:
                await channel.declare_queue("sub.demo.last", exclusive=True)
                with pytest.raises(ChannelPreconditionFailed, match="queue limit"):
                    await channel.declare_queue("sub.demo.more", exclusive=True)
        finally:
            await provision_broker(broker.servers.management_url, broker.servers.broker_url, broker.secrets)
        [limits] = (await api.get("/api/vhost-limits/%2F")).json()
    assert limits["value"]["max-queues"] == QUEUES_MAX


@asynccontextmanager
async def supervised(broker: Broker) -> AsyncIterator[SubscriberSupervisor]:
    async with httpx.AsyncClient(base_url=broker.servers.management_url, trust_env=False) as api:
        yield SubscriberSupervisor(api, "/")
        for queue in await subscriber_queues(broker):
            await api.delete(f"/api/queues/%2F/{queue}")


async def declare(channel: AbstractChannel, names: list[str], **options: Any) -> None:
    for name in names:
        await (await channel.declare_queue(name, **options)).bind(PUBLIC_EXCHANGE, "orders.#")


async def subscriber_queues(broker: Broker) -> set[str]:
    async with httpx.AsyncClient(base_url=broker.servers.management_url, trust_env=False) as api:
        found = (await api.get("/api/queues/%2F", params={"columns": "name"})).json()
    return {queue["name"] for queue in found if queue["name"].startswith("sub.")}


async def has_listed_connection(broker: Broker) -> bool:
    async with httpx.AsyncClient(base_url=broker.servers.management_url, trust_env=False) as api:
        found = (await api.get("/api/connections", params={"columns": "name,user"})).json()
    return any(connection.get("user") == SUBSCRIBER for connection in found)


async def test_the_newest_queues_of_a_subscriber_above_its_limit_are_removed(broker: Broker) -> None:
    kept = {f"sub.demo.z{number}" for number in range(SUBSCRIBER_QUEUES_MAX - 1)} | {"sub.other.index"}
    async with supervised(broker) as supervisor:
        async with channel_of(broker.servers.broker_url) as channel:
            await declare(channel, sorted(kept), durable=True)
        assert await supervisor.run_once() == []
        channel = await (await aio_pika.connect(broker.subscriber_url)).channel()
        await declare(channel, [f"sub.demo.a{number}" for number in range(10)], durable=True)
        await declare(channel, [f"sub.demo.b{number}" for number in range(10)], exclusive=True)
        assert await supervisor.run_once() == [f"team demo: removed 19 queues above {SUBSCRIBER_QUEUES_MAX}"]

        async def only_the_limit_is_left() -> bool:
            await supervisor.run_once()
            queues = await subscriber_queues(broker)
            return channel.is_closed and kept <= queues and len(queues - kept) <= 1

        # The management API lists a new connection after some seconds.
        await eventually(only_the_limit_is_left)


async def test_an_exchange_of_a_subscriber_is_removed_and_its_connection_closed(broker: Broker) -> None:
    async with supervised(broker) as supervisor:
        channel = await (await aio_pika.connect(broker.subscriber_url)).channel()
        await channel.declare_exchange("sub.demo.own", "fanout")
        await declare(channel, ["sub.demo.index"], durable=True)
        await eventually(lambda: has_listed_connection(broker))
        assert await supervisor.run_once() == ["team demo: removed the exchange sub.demo.own"]
        await eventually(lambda: channel.is_closed)
        assert await supervisor.run_once() == []
        assert await subscriber_queues(broker) == {"sub.demo.index"}


async def test_a_full_queue_of_a_subscriber_drops_its_oldest_messages(broker: Broker) -> None:
    """With the same policy and a bound that a test can reach."""
    async with httpx.AsyncClient(base_url=broker.servers.management_url, trust_env=False) as api:
        policy = (await api.get("/api/policies/%2F/queues-of-subscribers")).json()
        small = {**policy, "definition": {**policy["definition"], "max-length-bytes": 1000}}
        (await api.put("/api/policies/%2F/queues-of-subscribers", json=small)).raise_for_status()
        try:
            async with channel_of(broker.subscriber_url) as theirs, channel_of(broker.servers.broker_url) as ours:
                queue = await theirs.declare_queue("sub.demo.small", exclusive=True)
                await queue.bind("campus.public", "#")
                public = await ours.get_exchange("campus.public")
                for number in range(20):
                    await public.publish(aio_pika.Message(bytes([number]) * 200), "orders.order_placed.v1")
                oldest = await queue.get(timeout=60)
                assert oldest is not None
                assert oldest.body[0] >= 15
        finally:
            await provision_broker(broker.servers.management_url, broker.servers.broker_url, broker.secrets)


async def test_a_complete_round_touches_its_file(broker: Broker, tmp_path: Path) -> None:
    file = tmp_path / "last-round"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(3):
            await supervise("http://127.0.0.1:1", broker.servers.broker_url, print, round_file=file)
    assert not file.exists()
    running = asyncio.create_task(
        supervise(broker.servers.management_url, broker.servers.broker_url, print, round_file=file)
    )
    await eventually(file.exists)
    running.cancel()
