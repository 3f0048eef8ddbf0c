"""Committed messages reach the real broker, whatever stops a relay."""

import asyncio

import pytest

from common.database.outbox import Handover
from common.messaging import relay as relay_module
from common.messaging.bus import Bus
from common.messaging.relay import Relay, measure_once, outbox_age_seconds, relay_once, run_relay
from common.messaging.republishing import republish
from common.observability.telemetry import OUTBOX_AGE_SECONDS, OUTBOX_PUBLISHED, OUTBOX_REFUSED, OUTBOX_WAITING
from common.primitives.ids import new_id
from contracts.notifications import TicketOpened
from contracts.orders import OrderPlaced
from testkit.fixtures import eventually

from .conftest import Mechanisms
from .notebook import (
    OF_OWNER,
    Notebook,
    all_published,
    consuming,
    dispatched,
    publish,
    published,
    rows,
    written,
)


async def test_an_event_is_marked_as_published_after_the_confirm(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, event = Notebook(), dispatched()
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, event)
        await eventually(lambda: rows(mechanisms, OF_OWNER, event.order_id))
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


async def test_concurrent_relays_publish_each_message_once(mechanisms: Mechanisms, bus: Bus, broker_url: str) -> None:
    events = [dispatched() for _ in range(300)]
    await publish(mechanisms, *events)
    count = sum(await asyncio.gather(*(relay_once(mechanisms.database, bus) for _ in range(5))))
    while more := await relay_once(mechanisms.database, bus):
        count += more
    assert count == 300
    notebook = Notebook()
    async with consuming(mechanisms, bus, notebook):
        await eventually(lambda: len(notebook.attempts) == 300)
    assert set(notebook.attempts.values()) == {1}


async def test_other_relays_publish_a_committed_row_only_after_its_lease(mechanisms: Mechanisms, bus: Bus) -> None:
    with mechanisms.database.handover.to_relay():
        await publish(mechanisms, dispatched())
    assert mechanisms.database.handover.is_empty
    assert await relay_once(mechanisms.database, bus) == 0
    await rows(mechanisms, "UPDATE outbox SET next_attempt_at = now() RETURNING id")
    assert await relay_once(mechanisms.database, bus) == 1
    async with consuming(mechanisms, bus, Notebook()):
        await eventually(lambda: written(mechanisms, 1))


async def test_only_a_row_that_is_due_shortens_the_pause_of_a_relay(mechanisms: Mechanisms, bus: Bus) -> None:
    relay = Relay(mechanisms.database, bus)

    async def pause_after(published_at: str, next_attempt_at: str) -> float:
        """Return the seconds until the relay's next poll, after one that finds the row in this state."""
        state = f"UPDATE outbox SET published_at = {published_at}, next_attempt_at = {next_attempt_at} RETURNING id"
        assert len(await rows(mechanisms, state)) == 1
        relay._poll_at = 0.0
        await relay.run_once()
        return relay._pause_seconds

    await publish(mechanisms, dispatched())
    assert await pause_after("now()", "now()") == 2.0
    assert await pause_after("NULL", "now() + interval '1 hour'") == 4.0
    assert await pause_after("NULL", "now() + interval '1 hour'") == 4.0
    assert not await all_published(mechanisms)
    assert await pause_after("NULL", "now()") == 1.0
    assert await all_published(mechanisms)
    async with consuming(mechanisms, bus, Notebook()):
        await eventually(lambda: written(mechanisms, 1))


async def test_a_refused_row_waits_and_the_lease_of_another_stays(mechanisms: Mechanisms, bus: Bus) -> None:
    await (await bus._publishing_channel()).queue_delete("tests.orders")
    refused, leased = (TicketOpened(ticket_id=new_id(), source="app", user_id=new_id()) for _ in range(2))
    await publish(mechanisms, refused, leased)
    lease = "UPDATE outbox SET next_attempt_at = now() + interval '1 hour' WHERE subject = $1 RETURNING next_attempt_at"
    [[leased_until]] = await rows(mechanisms, lease, leased.subject)
    [[before]] = await rows(mechanisms, "SELECT now()")
    assert await relay_once(mechanisms.database, bus) == 1
    next_attempts = dict(await rows(mechanisms, "SELECT subject, next_attempt_at FROM outbox"))
    assert next_attempts[leased.subject] == leased_until
    assert next_attempts[refused.subject] > before


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
    monkeypatch.setattr("common.database.outbox.LEASE_SECONDS", 0.1)
    monkeypatch.setattr("common.database.outbox.HANDED_OVER_MAX", 1)
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


async def test_republished_messages_are_applied_once(mechanisms: Mechanisms, bus: Bus) -> None:
    notebook, received_event, lost, waiting = Notebook(), dispatched(), dispatched(), dispatched()
    async with consuming(mechanisms, bus, notebook):
        await publish(mechanisms, received_event)
        await eventually(lambda: rows(mechanisms, OF_OWNER, received_event.order_id))
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


async def test_unpublished_rows_are_counted_with_the_age_of_the_oldest(mechanisms: Mechanisms, bus: Bus) -> None:
    async def measured() -> tuple[float, int, int]:
        """Return the number of rows, and the age in whole hours of the metric and of readiness."""
        await measure_once(mechanisms.database)
        ages = OUTBOX_AGE_SECONDS._value.get(), await outbox_age_seconds(mechanisms.database)
        return (OUTBOX_WAITING._value.get(), *(int(age // 3600) for age in ages))

    events = [dispatched() for _ in range(3)]
    await publish(mechanisms, *events)
    change = "UPDATE outbox SET created_at = now() - make_interval(hours => $2) WHERE subject = $1 RETURNING id"
    for hours, event in zip((3, 2, 1), events, strict=True):
        await rows(mechanisms, change, event.subject, hours)
    await rows(mechanisms, "UPDATE outbox SET published_at = now() WHERE subject = $1 RETURNING id", events[0].subject)
    assert await measured() == (2, 2, 2)
    assert await relay_once(mechanisms.database, bus) == 2
    assert await measured() == (0, 0, 0)
    async with consuming(mechanisms, bus, Notebook()):
        await eventually(lambda: written(mechanisms, 2))
