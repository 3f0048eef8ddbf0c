"""Messages from commit to effect over the real broker, with faults."""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager

import msgspec
import pytest
from prometheus_client import REGISTRY

from common.auth.caller import THE_SERVICE
from common.messaging import consumers as consumers_module
from common.messaging import dead_letters
from common.messaging import relay as relay_module
from common.messaging.batches import BATCHES_AT_ONCE
from common.messaging.bus import Bus, Outgoing
from common.messaging.consumers import Consumers
from common.messaging.faults import PermanentFault
from common.messaging.messages import Outcome, Subscription, WorkItem
from common.messaging.outbox import Handover
from common.messaging.relay import Relay, measure_once, relay_once, run_relay
from common.messaging.republishing import republish
from common.observability.telemetry import INBOX_DUPLICATES, OUTBOX_PUBLISHED, OUTBOX_REFUSED, STALE_EVENTS
from common.primitives.ids import new_id
from contracts.notifications import TicketOpened
from contracts.orders import OrderDispatched, OrderPlaced
from testkit.fixtures import PATIENT, eventually

from .conftest import Mechanisms


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
    """Publishes all messages once more, after the relay has marked them."""
    await eventually(lambda: all_published(mechanisms))
    await rows(mechanisms, "UPDATE outbox SET published_at = NULL, next_attempt_at = now() RETURNING id")
    assert await relay_once(mechanisms.database, bus) > 0


async def all_published(mechanisms: Mechanisms) -> bool:
    return not await rows(mechanisms, "SELECT * FROM outbox WHERE published_at IS NULL")


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
            raise self.fault("told to fail")


@asynccontextmanager
async def consuming(mechanisms: Mechanisms, bus: Bus, notebook, work_items=()):
    subscriptions = [Subscription(OrderDispatched, notebook.on_order_dispatched)]
    consumers = Consumers("tests", mechanisms.database, bus, None, subscriptions, work_items, account_required=False)
    tasks = [asyncio.create_task(consumers.run()), asyncio.create_task(run_relay(mechanisms.database, bus))]
    try:
        yield consumers
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_an_event_is_marked_as_published_after_the_confirm(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        await eventually(lambda: rows(mechanisms, "SELECT * FROM notes WHERE owner_id = $1", event.order_id))
        await eventually(lambda: rows(mechanisms, "SELECT * FROM outbox WHERE published_at IS NOT NULL"))
    assert notebook.attempts[event.subject] == 1


async def test_an_event_after_an_idle_time_does_not_wait_for_the_next_poll(
    mechanisms: Mechanisms, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_module, "IDLE_SECONDS", 3600.0)
    relay = Relay(mechanisms.database, bus)
    relay._pause_seconds = 3600.0
    publishing = asyncio.create_task(relay.run())
    try:
        await eventually(lambda: relay._poll_at > asyncio.get_running_loop().time() + 3000)
        await publish(mechanisms, dispatched())
        await eventually(lambda: all_published(mechanisms))
    finally:
        publishing.cancel()
        await asyncio.gather(publishing, return_exceptions=True)
        # No consumer runs here, and other tests share the queue.
        await (await bus._publishing_channel()).queue_purge("tests.orders")


class Latecomer(Notebook):
    """A consumer that has seen later events already."""

    async def on_order_dispatched(self, event, received, uow, dependencies):
        await super().on_order_dispatched(event, received, uow, dependencies)
        return Outcome.STALE


async def test_the_consumer_counts_a_stale_event_by_its_type(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Latecomer(), dispatched()
    counter = STALE_EVENTS.labels(OrderDispatched.TYPE)._value
    before = counter.get()
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        await eventually(lambda: counter.get() - before == 1)
        # The transaction of a stale event commits, too.
        await eventually(lambda: rows(mechanisms, "SELECT * FROM notes WHERE owner_id = $1", event.order_id))
    assert notebook.attempts[event.subject] == 1


async def test_a_message_delivered_five_times_is_applied_once(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    await publish(mechanisms, event)
    async with consuming(mechanisms, bus, notebook):
        await eventually(lambda: rows(mechanisms, "SELECT * FROM outbox WHERE published_at IS NOT NULL"))
        for _ in range(4):
            await publish_again(mechanisms, bus)
        last = dispatched()
        await publish(mechanisms, last)
        await eventually(lambda: rows(mechanisms, "SELECT * FROM notes WHERE owner_id = $1", last.order_id))
        assert len(await rows(mechanisms, "SELECT * FROM notes WHERE owner_id = $1", event.order_id)) == 1


async def test_republished_messages_are_applied_once(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, received_event, lost, waiting = Notebook(), dispatched(), dispatched(), dispatched()
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, received_event)
        await eventually(lambda: rows(mechanisms, "SELECT * FROM notes WHERE owner_id = $1", received_event.order_id))
        await eventually(lambda: rows(mechanisms, "SELECT * FROM outbox WHERE published_at IS NOT NULL"))
    await publish(mechanisms, lost, waiting)
    # The state after the broker confirmed the message and then lost its queues.
    await rows(mechanisms, "UPDATE outbox SET published_at = now() WHERE subject = $1 RETURNING id", lost.subject)
    [[long_ago]] = await rows(mechanisms, "SELECT now() - interval '1 hour'")
    [[to_come]] = await rows(mechanisms, "SELECT now() + interval '1 hour'")
    assert await republish(mechanisms.database, to_come) == 0
    assert await republish(mechanisms.database, long_ago) == 2
    async with consuming(mechanisms, bus, notebook):
        for event in (lost, waiting):
            await eventually(lambda event=event: rows(mechanisms, OF_OWNER, event.order_id))
        await eventually(lambda: published(mechanisms, 3))
    assert notebook.attempts == {received_event.subject: 1, lost.subject: 1, waiting.subject: 1}


OF_OWNER = "SELECT * FROM notes WHERE owner_id = $1"


async def published(mechanisms: Mechanisms, count: int) -> bool:
    return len(await rows(mechanisms, "SELECT * FROM outbox WHERE published_at IS NOT NULL")) == count


def shown(metric: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(metric, labels) or 0.0


async def test_lag_and_duplicates_of_messages_are_counted(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    lags, seconds = (shown(f"message_lag_seconds_{part}", queue="tests.orders") for part in ("count", "sum"))
    repeated = duplicates()
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        await eventually(lambda: shown("message_lag_seconds_count", queue="tests.orders") == lags + 1)
        assert duplicates() == repeated
        await publish_again(mechanisms, bus)
        await eventually(lambda: duplicates() == repeated + 1)
    assert shown("message_lag_seconds_sum", queue="tests.orders") - seconds < 120


def duplicates() -> float:
    return sum(sample.value for sample in INBOX_DUPLICATES.collect()[0].samples if sample.name.endswith("_total"))


async def test_metrics_include_dead_letters_and_pools(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    notebook.fault, notebook.failures = PermanentFault, 9
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        await eventually(lambda: rows(mechanisms, "SELECT * FROM dead_letters"))
    waiting = len(await rows(mechanisms, "SELECT * FROM dead_letters WHERE replayed_at IS NULL"))
    await measure_once(mechanisms.database)
    assert shown("dead_letters_waiting") == waiting > 0
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE):
        in_use = [shown("database_connections", role=role, state="in_use") for role in ("api", "service")]
    assert in_use[1] >= 1
    assert shown("database_connections", role="service", state="max") >= in_use[1]


async def test_a_failed_message_is_rolled_back_and_retried(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    notebook.failures = 2
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        received_event = await eventually(
            lambda: rows(mechanisms, "SELECT * FROM notes WHERE owner_id = $1", event.order_id)
        )
    assert len(received_event) == 1
    assert notebook.attempts[event.subject] == 3


async def test_a_message_whose_retry_cannot_be_enqueued_is_requeued(
    mechanisms: Mechanisms, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook, event = Notebook(), dispatched()
    notebook.failures = 1

    async def fail(*_arguments: object) -> None:
        raise ValueError("an error that no one expects")

    monkeypatch.setattr(consumers_module, "UNAVAILABLE_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(bus, "delay", fail)
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        await eventually(lambda: rows(mechanisms, "SELECT * FROM notes WHERE owner_id = $1", event.order_id))
        await eventually(lambda: queue_is_empty(bus))
    assert notebook.attempts[event.subject] == 2


async def test_a_message_becomes_a_dead_letter_after_the_last_retry(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    notebook.failures = 3
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        dead_letter_rows = await eventually(lambda: rows(mechanisms, "SELECT * FROM dead_letters"))
        assert (dead_letter_rows[0]["queue"], dead_letter_rows[0]["event_type"], dead_letter_rows[0]["attempts"]) == (
            "tests.orders",
            event.TYPE,
            3,
        )
        assert len(await rows(mechanisms, "SELECT * FROM outbox WHERE type = 'operations.alert_raised.v1'")) == 1
        async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await dead_letters.replay_dead_letter(uow, bus, dead_letter_rows[0]["id"])
        assert len(await rows(mechanisms, "SELECT * FROM outbox WHERE type = 'operations.alert_cleared.v1'")) == 1
        await eventually(lambda: rows(mechanisms, "SELECT * FROM notes WHERE owner_id = $1", event.order_id))


async def test_a_permanent_fault_skips_the_ladder(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    notebook.failures, notebook.fault = 99, PermanentFault
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        await eventually(lambda: rows(mechanisms, "SELECT * FROM dead_letters"))
    assert notebook.attempts[event.subject] == 1


@pytest.mark.parametrize("body", [b"not json", b'{"specversion":"1.0"}', b"\xff\xfe"])
async def test_a_malformed_message_becomes_a_dead_letter_at_once(mechanisms: Mechanisms, bus: Bus, body: bytes) -> None:
    async with consuming(mechanisms, bus, Notebook()):
        assert await bus.publish([Outgoing(body, str(new_id()), OrderDispatched.TYPE, None, {})]) == [True]
        dead_letter_rows = await eventually(lambda: rows(mechanisms, "SELECT * FROM dead_letters"))
    assert dead_letter_rows[0]["body"] == body


async def test_an_unknown_field_is_ignored(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    async with consuming(mechanisms, bus, notebook) as consumers:
        extended = {**msgspec.to_builtins(event), "colour": "green"}
        received = msgspec.json.encode(
            {
                "id": str(new_id()),
                "type": event.TYPE,
                "source": "/services/orders",
                "subject": event.subject,
                "sequence": 1,
                "time": "t",
                "data": extended,
                "extension": 1,
            }
        )
        assert await bus.publish([Outgoing(received, str(new_id()), event.TYPE, None, {})]) == [True]
        await eventually(lambda: rows(mechanisms, "SELECT * FROM notes WHERE owner_id = $1", event.order_id))
        assert consumers is not None


class Job(msgspec.Struct, frozen=True):
    number: int


async def test_enqueued_work_is_processed_by_the_worker_until_exhausted(mechanisms: Mechanisms, bus: Bus) -> None:
    done, exhausted = [], []

    async def do_job(item, received, dependencies):
        if item.number == 2:
            raise RuntimeError("cannot")
        done.append(item.number)

    async def note_exhausted(item, received, uow, error):
        exhausted.append((item.number, error))

    work = [WorkItem("tests.work", Job, do_job, note_exhausted)]
    async with consuming(mechanisms, bus, Notebook(), work):
        async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            uow.enqueue_work("tests.work", "errand", {"number": 1})
            uow.enqueue_work("tests.work", "errand", {"number": 2})
        await eventually(lambda: done and exhausted)
    assert done == [1]
    assert exhausted == [(2, "RuntimeError: cannot")]


async def test_concurrent_relays_publish_each_message_once(mechanisms: Mechanisms, bus: Bus, broker_url: str) -> None:
    events = [dispatched() for _ in range(300)]
    await publish(mechanisms, *events)
    seen = await asyncio.gather(*(relay_once(mechanisms.database, bus) for _ in range(5)))
    while any(seen):
        seen = [await relay_once(mechanisms.database, bus)]
    notebook = Notebook()
    async with consuming(mechanisms, bus, notebook):
        await eventually(lambda: len(notebook.attempts) == 300)
    assert set(notebook.attempts.values()) == {1}


async def test_other_relays_publish_a_committed_row_only_after_its_lease(mechanisms: Mechanisms, bus: Bus) -> None:
    with mechanisms.database.handover.to_relay():
        await publish(mechanisms, dispatched())
    assert await relay_once(mechanisms.database, bus) == 0
    await rows(mechanisms, "UPDATE outbox SET next_attempt_at = now() RETURNING id")
    assert await relay_once(mechanisms.database, bus) == 1
    async with consuming(mechanisms, bus, Notebook()):
        await eventually(lambda: written(mechanisms, 1))


async def test_a_relay_that_ends_marks_what_it_has_published(
    mechanisms: Mechanisms, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("common.messaging.relay.POLL_SECONDS", 3600.0)
    before = OUTBOX_PUBLISHED._value.get()
    async with consuming(mechanisms, bus, Notebook()):
        await publish(mechanisms, dispatched())
        await eventually(lambda: OUTBOX_PUBLISHED._value.get() > before)
        await eventually(lambda: written(mechanisms, 1))
    assert await all_published(mechanisms)


async def test_a_row_that_did_not_fit_in_memory_is_published_from_the_table(
    mechanisms: Mechanisms, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("common.messaging.outbox.LEASE_SECONDS", 0.1)
    monkeypatch.setattr("common.messaging.outbox.HANDED_OVER_MAX", 1)
    mechanisms.database.handover = Handover()
    notebook, events = Notebook(), [dispatched() for _ in range(5)]
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, *events)
        for event in events:
            await eventually(lambda event=event: rows(mechanisms, OF_OWNER, event.order_id))
    assert notebook.attempts == {event.subject: 1 for event in events}


async def test_a_returned_message_stays_in_the_outbox(mechanisms: Mechanisms, bus: Bus) -> None:
    await (await bus._publishing_channel()).queue_delete("tests.orders")
    before = OUTBOX_REFUSED._value.get()
    relay = asyncio.create_task(run_relay(mechanisms.database, bus))
    await eventually(lambda: mechanisms.database.handover.lease_seconds)
    # No other queue is bound to this type.
    await publish(mechanisms, TicketOpened(ticket_id=new_id(), source="app", user_id=new_id()))
    await eventually(lambda: OUTBOX_REFUSED._value.get() > before)
    relay.cancel()
    await asyncio.gather(relay, return_exceptions=True)
    assert not await all_published(mechanisms)


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
            raise self.fault("told to fail")


@asynccontextmanager
async def collected(mechanisms: Mechanisms, bus: Bus, notebook: GatedNotebook, *events, body: bytes | None = None):
    """The events have left the queue and wait for the handlers at the gate, which opens here."""
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


async def queue_is_empty(bus: Bus) -> bool:
    declared = await (await bus._publishing_channel()).queue_declare("tests.orders", passive=True)
    return declared.message_count == 0


# The transaction that wrote a row.
TRANSACTIONS = "SELECT DISTINCT xmin::text FROM notes"


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


async def written(mechanisms: Mechanisms, count: int) -> bool:
    return len(await rows(mechanisms, "SELECT 1 FROM notes")) == count


async def test_only_an_event_with_a_declared_consumer_must_be_routed(mechanisms: Mechanisms, bus: Bus) -> None:
    await publish(
        mechanisms,
        OrderPlaced(
            order_id=new_id(),
            buyer_id=new_id(),
            vendor_id=new_id(),
            total_minor=1,
            commission_minor=0,
            delivery_fee_minor=0,
            currency="NGN",
            payment_due_at="",
            items=(),
        ),
    )
    await relay_once(mechanisms.database, bus)
    assert await rows(mechanisms, "SELECT * FROM outbox WHERE published_at IS NULL") == []
    channel = await bus._publishing_channel()
    await channel.queue_delete("tests.orders")
    await publish(mechanisms, TicketOpened(ticket_id=new_id(), source="app", user_id=new_id()))
    await relay_once(mechanisms.database, bus)
    assert len(await rows(mechanisms, "SELECT * FROM outbox WHERE published_at IS NULL")) == 1
