"""Plans, their shrinking, and the double of the broker."""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from common.messaging.bus import Outgoing
from common.messaging.topology import DELIVERIES_MAX, declared_topology
from common.primitives.clock import ManualClock
from common.primitives.retry import RetryLadder
from lab.simulation import faults
from lab.simulation.plans import plan_of
from lab.simulation.shrinking import shrink
from lab.stepped.effects import CURRENT
from lab.stepped.reached import REACHED
from lab.stepped.simulated_broker import Broker, SimulatedBus
from lab.stepped.simulated_gateway import EarlyEnd, GatewayConnection, sandbox_time
from sandbox.clock import now_text

TOPOLOGY = declared_topology(RetryLadder())
QUEUE, EVENT = "payments.orders", "orders.order_placed.v1"


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    broker = Broker(ManualClock())
    monkeypatch.setattr(SimulatedBus, "broker", broker, raising=False)
    broker.consumed.add(QUEUE)
    return broker


@pytest.fixture
def bus(broker: Broker) -> SimulatedBus:
    return SimulatedBus("amqp://orders:secret@broker/", TOPOLOGY, "orders-worker")


def event(body: bytes) -> Outgoing:
    return Outgoing(body, "018cc251-f400-7003-8000-000000000001", EVENT, None, {})


class Consumer:
    """Collects messages, and acknowledges them if chosen."""

    def __init__(self, bus: SimulatedBus, *, acknowledges: bool = True) -> None:
        self.bodies: list[bytes] = []
        self.messages: list[Any] = []
        self.acknowledges = acknowledges
        bus._openers[QUEUE] = lambda: self.receive

    async def receive(self, message: Any) -> None:
        self.bodies.append(message.body)
        self.messages.append(message)
        if self.acknowledges:
            await message.ack()


async def test_an_acknowledged_message_is_delivered_once(bus: SimulatedBus) -> None:
    consumer = Consumer(bus)
    assert await bus.publish([event(b"1")]) == [True]
    assert await bus.deliver(QUEUE, (0, 0)) == 1
    bus.drop_connection()
    assert (bus.broker.waiting(), consumer.bodies) == ([], [b"1"])


async def test_a_lost_connection_returns_messages_to_their_place(bus: SimulatedBus) -> None:
    consumer = Consumer(bus, acknowledges=False)
    await bus.publish([event(b"1"), event(b"2"), event(b"3")])
    await bus.deliver(QUEUE, (1,))
    bus.drop_connection()
    consumer.acknowledges = True
    await bus.deliver(QUEUE, (0, 0, 0))
    assert consumer.bodies == [b"2", b"1", b"2", b"3"]
    assert [message.redelivered for message in consumer.messages] == [False, False, True, False]


async def test_a_message_whose_confirm_is_lost_arrives_and_is_unconfirmed(bus: SimulatedBus) -> None:
    bus.losses.add("confirm")
    assert await bus.publish([event(b"1")]) == [False]
    assert len(bus.broker.ready[QUEUE]) == 1


async def test_a_message_that_is_lost_with_the_connection_is_unconfirmed(bus: SimulatedBus) -> None:
    bus.losses.add("publish")
    assert await bus.publish([event(b"1")]) == [False]
    assert not bus.broker.ready[QUEUE]


async def test_a_lost_acknowledgement_delivers_again(bus: SimulatedBus) -> None:
    consumer = Consumer(bus)
    await bus.publish([event(b"1")])
    bus.losses.add("acknowledgement")
    with pytest.raises(ConnectionResetError):
        await bus.deliver(QUEUE, (0,))
    await bus.deliver(QUEUE, (0,))
    assert consumer.bodies == [b"1", b"1"]


async def test_a_delayed_message_arrives_when_its_delay_has_passed(bus: SimulatedBus, broker: Broker) -> None:
    await bus.delay(event(b"1"), QUEUE, 25.0)
    assert (broker.waiting(), broker.next_delay()) == ([], timedelta(seconds=25))
    broker.clock.advance(timedelta(seconds=25))
    assert broker.waiting() == [QUEUE]


async def test_a_delayed_message_names_the_queue_in_which_it_expired(bus: SimulatedBus, broker: Broker) -> None:
    consumer = Consumer(bus)
    await bus.delay(event(b"1"), QUEUE, 25.0)
    broker.clock.advance(timedelta(seconds=25))
    broker.waiting()
    await bus.deliver(QUEUE, (0,))
    [message] = consumer.messages
    assert (message.exchange, message.routing_key, message.user_id) == ("", QUEUE, "orders")
    assert [death["queue"] for death in message.headers["x-death"]] == ["campus.delay.25000"]


async def test_a_message_that_is_never_acknowledged_is_dead_lettered(bus: SimulatedBus, broker: Broker) -> None:
    Consumer(bus, acknowledges=False)
    await bus.publish([event(b"1")])
    for _ in range(DELIVERIES_MAX + 1):
        await bus.deliver(QUEUE, (0,))
        bus.drop_connection()
    [dead] = broker.ready["payments.dead"]
    assert (dead.routing_key, dead.deaths[0]["queue"]) == ("payments.dead", QUEUE)


def test_the_sandbox_follows_the_clock_of_each_system() -> None:
    for day in (1, 2):
        clock = ManualClock(datetime(2031, 1, day, tzinfo=UTC))
        with sandbox_time(clock):
            clock.advance(timedelta(hours=1))
            assert now_text() == f"2031-01-0{day}T01:00:00.000Z"
    assert not now_text().startswith("2031-01-0")


class CreatedRefund:
    """A gateway that responds to each call with a refund."""

    state = SimpleNamespace(world=None)

    async def __call__(self, _scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b'{"data": {"id": 7}}'})


@pytest.mark.parametrize("end", ["failure", "failure and no response"])
async def test_a_refund_ends_before_the_response_to_its_call(end: EarlyEnd) -> None:
    connection, ended = GatewayConnection(CreatedRefund(), {}), list[Any]()

    async def end_early(path: str, created: Any, is_paid: bool) -> None:
        ended.append((path, created["id"], is_paid, CURRENT.get()))

    connection.end_early, connection.creation_faults = end_early, [end]
    worker: Any = SimpleNamespace(name="payments-worker")
    token = CURRENT.set(worker)
    async with httpx.AsyncClient(transport=connection, base_url="http://gateway") as client:
        await client.get("/gateway/refund")
        assert not ended
        with nullcontext() if end == "failure" else pytest.raises(httpx.ReadTimeout):
            await client.post("/gateway/refund")
    CURRENT.reset(token)
    assert ended == [("/gateway/refund", 7, False, None)]
    assert f"end: {end} before the response of POST /gateway/refund" in REACHED


def test_a_seed_gives_the_same_plan() -> None:
    assert plan_of(4711) == plan_of(4711)
    assert plan_of(4711) != plan_of(4712)


def test_every_seed_has_a_plan() -> None:
    assert all(plan_of(seed) for seed in range(40_000, 41_000))


def test_plans_have_a_second_death_and_two_deaths_at_once() -> None:
    kinds = {step.kind for seed in range(1, 101) for step in plan_of(seed)}
    assert {faults.kill_twice, faults.kill_two} <= kinds


async def test_shrinking_keeps_only_the_steps_that_violate_the_rule() -> None:
    async def is_broken(items: Any) -> bool:
        return 7 in items and 93 in items and items.index(7) < items.index(93)

    assert await shrink(list(range(100)), is_broken) == [7, 93]
