"""Messages from the real broker to their effect, with faults."""

import asyncio
from typing import Any
from uuid import UUID

import aio_pika
import msgspec
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from common.auth.caller import THE_SERVICE
from common.messaging import consumers as consumers_module
from common.messaging import dead_letters
from common.messaging.bus import Bus, Outgoing
from common.messaging.faults import PermanentFault, UnderWay
from common.messaging.messages import Outcome, WorkItem
from common.messaging.relay import measure_once
from common.messaging.topology import declare_topology
from common.observability import telemetry
from common.observability.telemetry import STALE_EVENTS
from common.primitives.ids import new_id
from contracts.orders import OrderDispatched
from testkit.fixtures import eventually

from .conftest import FAST_LADDER, Mechanisms
from .notebook import (
    OF_OWNER,
    Job,
    Notebook,
    consuming,
    dispatched,
    duplicates,
    publish,
    publish_again,
    queue_is_empty,
    rows,
    shown,
)


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
        await eventually(lambda: rows(mechanisms, OF_OWNER, event.order_id))
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
        await eventually(lambda: rows(mechanisms, OF_OWNER, last.order_id))
        assert len(await rows(mechanisms, OF_OWNER, event.order_id)) == 1


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


async def test_metrics_include_dead_letters_and_pools(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    notebook.fault, notebook.failures = PermanentFault, 9
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        await eventually(lambda: rows(mechanisms, "SELECT * FROM dead_letters"))
    waiting = len(await rows(mechanisms, "SELECT * FROM dead_letters WHERE replayed_at IS NULL"))
    await measure_once(mechanisms.database)
    assert shown("dead_letters_waiting") == waiting > 0
    await rows(mechanisms, "UPDATE dead_letters SET replayed_at = now() RETURNING id")
    await measure_once(mechanisms.database)
    assert shown("dead_letters_waiting") == 0
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE):
        in_use = [shown("database_connections", role=role, state="in_use") for role in ("api", "service")]
    assert in_use[1] >= 1
    assert shown("database_connections", role="service", state="max") >= in_use[1]


async def test_a_failed_message_is_rolled_back_and_retried(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    notebook.failures = 2
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        received_event = await eventually(lambda: rows(mechanisms, OF_OWNER, event.order_id))
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
        await eventually(lambda: rows(mechanisms, OF_OWNER, event.order_id))
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
            await dead_letters.replay_dead_letter(uow, bus, event_id_of(dead_letter_rows), new_id())
        await eventually(lambda: rows(mechanisms, CLEARED))
        assert len(await rows(mechanisms, OF_OWNER, event.order_id)) == 1


async def test_the_last_attempt_is_repeated_while_the_work_is_under_way(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    notebook.failures, notebook.fault = 5, UnderWay
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        await eventually(lambda: rows(mechanisms, OF_OWNER, event.order_id))
    assert notebook.attempts[event.subject] == 6
    assert await rows(mechanisms, "SELECT * FROM dead_letters") == []


async def test_a_failed_replay_joins_the_alert_until_a_later_one_succeeds(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    notebook.failures = 6
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        for number in (1, 2):
            dead = await eventually(lambda number=number: dead_letters_at_least(mechanisms, number))
            assert await rows(mechanisms, CLEARED) == []
            async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
                await dead_letters.replay_dead_letter(uow, bus, event_id_of(dead), new_id())
        [cleared] = await eventually(lambda: rows(mechanisms, CLEARED))
        raised = await rows(mechanisms, "SELECT payload FROM outbox WHERE type = 'operations.alert_raised.v1'")
    keys = {msgspec.json.decode(row["payload"])["dedupKey"] for row in [*raised, cleared]}
    assert (len(raised), len(keys)) == (2, 1)


CLEARED = "SELECT payload FROM outbox WHERE type = 'operations.alert_cleared.v1'"


def event_id_of(dead_letter_rows: Any) -> UUID:
    event_id: UUID = dead_letter_rows[0]["event_id"]
    return event_id


async def dead_letters_at_least(mechanisms: Mechanisms, number: int) -> Any:
    found = await rows(mechanisms, "SELECT * FROM dead_letters")
    return found if len(found) >= number else None


@pytest.mark.parametrize("sqlstate", ["53100", "53200", "58030"], ids=["full disk", "no memory", "failed disk"])
async def test_a_failing_disk_of_the_database_costs_no_attempt(sqlstate: str, mechanisms: Mechanisms, bus: Bus) -> None:
    class OnFailingDisk(Notebook):
        async def on_order_dispatched(self, event, received, uow, dependencies):
            await super().on_order_dispatched(event, received, uow, dependencies)
            if self.attempts[event.subject] <= len(FAST_LADDER.delays_seconds) + 2:
                await uow.execute(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{sqlstate}'; END $$")

    notebook, event = OnFailingDisk(), dispatched()
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        await eventually(lambda: notebook.attempts[event.subject] > len(FAST_LADDER.delays_seconds) + 2)
        await eventually(lambda: rows(mechanisms, OF_OWNER, event.order_id))
    assert not await rows(mechanisms, "SELECT * FROM dead_letters")


async def test_a_consumer_whose_queue_was_deleted_is_not_ready_until_it_is_declared(
    mechanisms: Mechanisms, bus: Bus, broker_url: str
) -> None:
    async def on_message(message) -> None:
        await message.ack()

    notebook, event = Notebook(), dispatched()
    listening = asyncio.create_task(bus.listen(["orders.order_completed.v1"], on_message))
    async with consuming(mechanisms, bus, notebook), await aio_pika.connect(broker_url) as operator:
        await eventually(lambda: bus.is_consuming)
        await (await operator.channel()).queue_delete("tests.orders")
        await eventually(lambda: not bus.is_consuming)
        await declare_topology(broker_url, bus.topology)
        await eventually(lambda: bus.is_consuming)
        await publish(mechanisms, event)
        await eventually(lambda: rows(mechanisms, OF_OWNER, event.order_id))
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


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
        await eventually(lambda: rows(mechanisms, OF_OWNER, event.order_id))
        assert consumers is not None


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
            uow.enqueue_work("tests.work", "job", {"number": 1})
            uow.enqueue_work("tests.work", "job", {"number": 2})
        await eventually(lambda: done and exhausted)
    assert done == [1]
    assert exhausted == [(2, "RuntimeError: cannot")]


async def test_a_message_and_its_transaction_are_spans_by_the_conventions(
    mechanisms: Mechanisms, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exported))
    monkeypatch.setattr(telemetry, "_tracer", provider.get_tracer("test"))
    monkeypatch.setattr(telemetry, "is_recording", lambda: True)
    event = dispatched()
    async with consuming(mechanisms, bus, Notebook()):
        await publish(mechanisms, event)
        await eventually(lambda: rows(mechanisms, OF_OWNER, event.order_id))
    spans = {span.name: span for span in exported.get_finished_spans()}
    consumed = spans[f"tests.orders {OrderDispatched.TYPE}"]
    assert consumed.kind is SpanKind.CONSUMER
    attributes = dict(consumed.attributes)
    assert attributes.pop("messaging.message.id")
    assert attributes == {
        "messaging.system": "rabbitmq",
        "messaging.operation.type": "process",
        "messaging.operation.name": "process",
        "messaging.destination.name": "campus.events",
        "messaging.destination.subscription.name": "tests.orders",
        "messaging.rabbitmq.destination.routing_key": OrderDispatched.TYPE,
    }
    within = [span for span in exported.get_finished_spans() if span.parent == consumed.context]
    [transaction] = within
    assert transaction.kind is SpanKind.CLIENT
    assert dict(transaction.attributes) == {
        "db.system.name": "postgresql",
        "db.namespace": mechanisms.urls.name,
        "db.operation.name": "transaction",
    }
