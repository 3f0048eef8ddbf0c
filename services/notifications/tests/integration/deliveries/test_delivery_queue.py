"""The table of deliveries is their queue: who claims what, in which order, and what wakes a worker."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.messaging.messages import Received
from common.primitives.clock import SystemClock
from common.primitives.ids import new_id
from contracts.orders import OrderDispatched
from contracts.payouts import BankDetailsChanged
from notifications.deliveries.consumers.orders import on_order_delivered, on_order_dispatched
from notifications.deliveries.domain.deliveries import CLAIM_LIFETIME, NotificationRequest
from notifications.deliveries.domain.feed import FEED_START
from notifications.deliveries.domain.sms_receipts import read_receipt
from notifications.deliveries.streams.delivery_dispatcher import DeliveryDispatcher
from notifications.deliveries.templates.examples import example_of
from notifications.deliveries.timers import resolve_abandoned_once
from notifications.deliveries.use_cases.deliveries.deliver_notification import deliver_notification
from notifications.deliveries.use_cases.deliveries.notify_user import notify_user
from notifications.deliveries.use_cases.deliveries.receive_receipt import receive_receipt
from testkit.fixtures import eventually

from ..conftest import DELIVERIES, OpenScenario, Scenario
from ..providers import Providers, text_of
from ..steps import code_issued

SHOWN = "notifications.notification_shown.v1"
RECEIVED = Received(new_id(), "", "", "", 1, "", 1, False)


async def wakeups(scenario: Scenario) -> list[Any]:
    return await scenario.fetch("SELECT 1 FROM outbox WHERE starts_with(queue, $1)", DELIVERIES)


async def queue_mails(scenario: Scenario, count: int) -> None:
    for _ in range(count):
        await scenario.receive(BankDetailsChanged(vendor_id=scenario.vendor_id, last4="1234", bank_code="058"))


@asynccontextmanager
async def dispatching(scenario: Scenario) -> AsyncIterator[None]:
    """Yield the dispatcher of the scenario's process, as its loop runs it."""
    task = asyncio.create_task(scenario.dependencies.dispatcher.run())
    await asyncio.sleep(0)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_work_item_of_the_release_before_sends_its_delivery_once(
    scenario: Scenario, providers: Providers
) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin())
    # The release before left `due_at` empty, and enqueued a work item that the broker may deliver twice.
    await scenario.fetch("UPDATE notification_deliveries SET due_at = NULL RETURNING 1")
    assert await scenario.send_queued() == 0
    [delivery] = await scenario.deliveries()
    for _ in range(2):
        async with scenario.unit_of_work() as uow:
            uow.enqueue_work(f"{DELIVERIES}.sms", delivery["id"], {"deliveryId": str(delivery["id"])})
        await scenario.send_queued()
    assert len(providers.texts) == 1
    assert await scenario.delivery_statuses() == ["sent"]


async def test_codes_are_sent_before_older_mails(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await queue_mails(scenario, 2)
    scenario.clock.advance(timedelta(seconds=1))
    await scenario.receive(code_issued(scenario.encryptor, "email", "bisi@unilag.edu.ng"))
    one_at_a_time = DeliveryDispatcher(scenario.dependencies.delivery_sender, {"email": 1})
    assert [await one_at_a_time.run_once() for _ in range(3)] == [1, 1, 1]
    assert ["770031" in text_of(mail) for mail in providers.mails] == [True, False, False]


async def test_a_hanging_provider_delays_no_other_channel(open_scenario: OpenScenario, providers: Providers) -> None:
    async with open_scenario(clock=SystemClock(), deliveries_at_once=2) as scenario, dispatching(scenario):
        await scenario.project_users()
        providers.hold_sms = asyncio.Event()
        for _ in range(5):
            assert (await scenario.request_delivery("sms", "order_dispatched")).status_code == 200
        await eventually(lambda: len(providers.texts) == 2)
        await queue_mails(scenario, 6)
        await eventually(lambda: len(providers.mails) == 6)
        claimed = [row["channel"] for row in await scenario.deliveries() if row["claim_id"] is not None]
        assert (len(providers.texts), claimed.count("sms")) == (2, 2)
        providers.hold_sms.set()
        await eventually(lambda: len(providers.texts) == 5)

        async def all_are_sent() -> bool:
            return await scenario.delivery_statuses() == ["sent"] * 11

        await eventually(all_are_sent)


async def test_a_process_with_a_dispatcher_needs_no_message_for_its_deliveries(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with open_scenario(clock=SystemClock()) as scenario:
        await scenario.project_users()
        async with dispatching(scenario):
            await scenario.receive(scenario.dispatched())
            await eventually(lambda: len(providers.mails) == 1)
            assert await wakeups(scenario) == []
        # This process ends its dispatcher, as an API process has none: a worker is woken over the broker.
        await scenario.receive(scenario.delivered())
        assert len(await wakeups(scenario)) == 1


async def test_a_stopping_worker_records_its_calls(open_scenario: OpenScenario, providers: Providers) -> None:
    async with open_scenario(clock=SystemClock()) as scenario:
        await scenario.project_users()
        providers.hold_sms = asyncio.Event()
        async with dispatching(scenario):
            await scenario.receive(scenario.pin())
            await eventually(lambda: providers.texts)
            asyncio.get_running_loop().call_later(0.1, providers.hold_sms.set)
        assert await scenario.delivery_statuses() == ["sent"]


async def test_an_outcome_that_cannot_be_recorded_stops_no_other(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await queue_mails(scenario, 3)
    [broken, *_] = await scenario.deliveries()
    owner = scenario.fetch_as_owner
    await owner(
        "CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF NEW.delivery_id = '{broken['id']}' THEN RAISE 'rejected'; END IF; RETURN NEW; END $$"
    )
    await owner(
        "CREATE TRIGGER reject BEFORE INSERT ON notification_delivery_logs FOR EACH ROW EXECUTE FUNCTION reject()"
    )
    await scenario.send_queued()
    assert len(providers.mails) == 3
    assert {row["id"]: row["status"] for row in await scenario.deliveries()}.pop(broken["id"]) == "queued"
    assert sorted(await scenario.delivery_statuses()) == ["queued", "sent", "sent"]
    # The claim stays: the message is not sent again before the sweep decides.
    assert await scenario.send_queued() == 0
    await owner("DROP TRIGGER reject ON notification_delivery_logs")
    scenario.clock.advance(CLAIM_LIFETIME + timedelta(seconds=1))
    assert await resolve_abandoned_once(scenario.dependencies) == 1


async def test_a_message_that_cannot_be_rendered_is_retried(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin())
    await scenario.fetch("UPDATE notification_deliveries SET sealed = '{}' RETURNING 1")
    await scenario.send_queued()
    assert (providers.texts, await scenario.delivery_statuses()) == ([], ["queued"])
    assert [row["error"] for row in await scenario.attempts()] == ["the message cannot be rendered"]
    for _ in range(5):
        scenario.clock.advance(timedelta(hours=1))
        await scenario.send_queued()
    assert await scenario.delivery_statuses() == ["failed"]
    assert len(await scenario.published("operations.alert_raised.v1")) == 1


async def test_only_a_streamed_feed_publishes_its_entries(scenario: Scenario) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.dispatched())
    assert await scenario.published(SHOWN) == []
    streams = scenario.dependencies.feed_streams
    stream = streams.open(Caller(user_id=scenario.buyer_id), FEED_START, 0)
    events = streams.events(stream)
    assert [b"retry" in await anext(events), b"event: notification" in await anext(events)] == [True, True]
    await scenario.receive(scenario.delivered())
    assert [event["userId"] for event in await scenario.published(SHOWN)] == [str(scenario.buyer_id)]
    await events.aclose()
    streams.remove(stream)
    scenario.clock.advance(timedelta(minutes=2))
    await scenario.receive(scenario.pin())
    assert len(await scenario.published(SHOWN)) == 1


async def test_a_receipt_before_its_message_id_is_recorded_by_the_worker(
    scenario: Scenario, providers: Providers
) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin())
    receipt = read_receipt("termii", "sms-1", "DELIVERED")
    assert receipt is not None
    await receive_receipt(scenario.database, receipt, scenario.clock.now())
    assert await scenario.dependencies.dispatcher.run_once() == 1
    assert await scenario.delivery_statuses() == ["sent"]
    await scenario.send_queued()
    assert await scenario.delivery_statuses() == ["delivered"]
    # A repetition is recorded at once, and changes nothing.
    await receive_receipt(scenario.database, receipt, scenario.clock.now())
    assert await scenario.send_queued() == 0


async def test_a_notification_id_of_another_user_records_nothing(scenario: Scenario) -> None:
    await scenario.project_users()
    notification_id = str(new_id())
    first = await scenario.request_delivery("email", "order_dispatched", notificationId=notification_id)
    recorded = await scenario.request_delivery(
        "email", "order_dispatched", notificationId=notification_id, userId=str(scenario.owner_id)
    )
    assert (first.status_code, recorded.status_code) == (200, 409)
    assert len(await scenario.deliveries()) == 1


async def test_a_worker_claims_with_the_insertion_while_it_has_a_free_place(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with open_scenario(clock=SystemClock(), deliveries_at_once=2) as scenario, dispatching(scenario):
        await scenario.project_users()
        providers.hold_sms = asyncio.Event()
        dependencies = scenario.dependencies
        async with scenario.unit_of_work() as uow:
            for _ in range(3):
                request = NotificationRequest(
                    new_id(), "sms", "order_dispatched", example_of("order_dispatched"), user_id=scenario.buyer_id
                )
                await deliver_notification(uow, request, dependencies.delivery_context())
            rows = await uow.fetch(
                "SELECT claim_id, attempts, due_at FROM notification_deliveries ORDER BY created_at, id"
            )
        states = [(row["claim_id"] is not None, row["attempts"], row["due_at"] is None) for row in rows]
        assert sorted(states) == [(False, 0, False), (True, 1, True), (True, 1, True)]
        await eventually(lambda: len(providers.texts) == 2)
        providers.hold_sms.set()
        await eventually(lambda: len(providers.texts) == 3)

        async def all_are_sent() -> bool:
            return await scenario.delivery_statuses() == ["sent"] * 3

        await eventually(all_are_sent)


async def test_a_worker_claims_all_messages_of_a_transaction_with_their_insertion(open_scenario: OpenScenario) -> None:
    claims: list[bool] = []

    async def read_claims(uow: UnitOfWork, _items: Sequence[None]) -> None:
        rows = await uow.fetch("SELECT claim_id IS NOT NULL AS is_claimed FROM notification_deliveries")
        claims.extend(row["is_claimed"] for row in rows)

    async with open_scenario(clock=SystemClock()) as scenario, dispatching(scenario):
        await scenario.project_users()
        async with scenario.unit_of_work() as uow:
            await on_order_dispatched(scenario.dispatched(), RECEIVED, uow, scenario.dependencies)
            await on_order_delivered(scenario.delivered(), RECEIVED, uow, scenario.dependencies)
            uow.defer(read_claims, None)
    assert claims == [True, True]


async def test_a_transaction_that_fails_sends_nothing_and_frees_its_places(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with open_scenario(clock=SystemClock(), deliveries_at_once=1) as scenario, dispatching(scenario):
        await scenario.project_users()
        for _ in range(3):
            with pytest.raises(LookupError):
                async with scenario.unit_of_work() as uow:
                    await on_order_dispatched(scenario.dispatched(), RECEIVED, uow, scenario.dependencies)
                    uow.defer(_fail, None)
        assert await scenario.deliveries() == []
        await scenario.receive(scenario.dispatched())
        await eventually(lambda: len(providers.mails) == 1)


async def _fail(_uow: UnitOfWork, _items: Sequence[None]) -> None:
    raise LookupError


async def test_one_fact_twice_in_a_transaction_is_one_notification(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    async with scenario.unit_of_work() as uow:
        for event in (scenario.dispatched(), scenario.delivered(), scenario.dispatched()):
            handler = on_order_dispatched if isinstance(event, OrderDispatched) else on_order_delivered
            await handler(event, RECEIVED, uow, scenario.dependencies)
    rows = await scenario.fetch("SELECT template, place FROM notifications ORDER BY place")
    assert [tuple(row) for row in rows] == [("order_dispatched", 1), ("order_delivered", 2)]
    assert await scenario.send_queued() == 2


async def test_transactions_over_the_same_users_in_any_order_do_not_deadlock(scenario: Scenario) -> None:
    await scenario.project_users()
    users = [scenario.buyer_id, scenario.owner_id]

    async def notify_all(order: Sequence[UUID]) -> None:
        async with scenario.unit_of_work() as uow:
            for user_id in order:
                notify_user(
                    uow,
                    scenario.dependencies.delivery_context(),
                    user_id,
                    "order_dispatched",
                    example_of("order_dispatched"),
                    new_id(),
                )

    await asyncio.gather(*(notify_all(users[:: 1 if turn % 2 else -1] * 5) for turn in range(20)))
    places = await scenario.fetch(
        "SELECT user_id, array_agg(place ORDER BY place) AS places FROM notifications GROUP BY 1"
    )
    assert [list(row["places"]) for row in places] == [list(range(1, 101))] * 2
