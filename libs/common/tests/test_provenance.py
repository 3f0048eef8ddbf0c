"""A message is accepted from the named service only, on every route that the broker's permissions allow."""

import json
from uuid import uuid4

import aio_pika
import pytest

from common.auth.caller import THE_SERVICE
from common.messaging import dead_letters
from common.messaging.bus import Bus
from common.messaging.messages import Received, WorkItem
from common.messaging.provenance import Route, UnprovenPublisher, check_broadcast, check_publisher, is_work_queue
from common.primitives.ids import new_id
from common.primitives.problems import Conflict
from contracts.orders import OrderDispatched
from contracts.topology import SUBSCRIPTIONS, WORK_QUEUES
from testkit.fixtures import eventually

from .conftest import Mechanisms
from .notebook import Job, Notebook, consuming, dispatched, rows

HELD, RELEASED = "payments.escrow_held.v1", "payments.escrow_released.v1"
ALERT = "operations.alert_raised.v1"


def received(event_type: str, source: str) -> Received:
    return Received(new_id(), event_type, f"/services/{source}", "subject", 1, "", 1, is_last_attempt=False)


GENUINE = {
    "an event": ("payouts.payments", Route("campus.events", HELD, "payments"), HELD, "payments"),
    "an alert": ("notifications.operations", Route("campus.events", ALERT, "orders"), ALERT, "orders"),
    "own work": ("payouts.transfers", Route("campus.work", "payouts.transfers", "payouts"), "payouts.transfers",
    "payouts"),
    "a replayed event": ("payouts.payments", Route("campus.work", "payouts.payments", "payouts"), HELD, "payments"),
    "a retried event": (
        "payouts.payments", Route("", "payouts.payments", "payouts", ("campus.delay.1000",)), HELD, "payments",
    ),
}  # fmt: skip

FORGED = {
    "type of another publisher": ("payouts.identity", Route("campus.events", RELEASED, "payments"), RELEASED,
    "payments"),
    "source of another service": ("payouts.payments", Route("campus.events", HELD, "payments"), HELD, "identity"),
    "source that is no service": ("payouts.payments", Route("campus.events", HELD, "payments"), HELD, "payments/x"),
    "account of another service": ("payouts.payments", Route("campus.events", HELD, "identity"), HELD, "payments"),
    "routing key of another type (CC)": (
        "payouts.payments", Route("campus.events", "identity.user_erased.v1", None), HELD, "payments",
    ),
    "expired into the exchange": (
        "payouts.payments", Route("campus.events", HELD, None, ("amq.gen-x",)), HELD, "payments",
    ),
    "expired into the work exchange": (
        "payouts.transfers", Route("campus.work", "payouts.transfers", None, ("amq.gen-x",)), "payouts.transfers",
        "payouts",
    ),
    "expired into the retries": (
        "payouts.payments", Route("", "payouts.payments", None, ("campus.delay.1000", "amq.gen-x")), HELD, "payments",
    ),
    "retry by another service": (
        "payouts.payments", Route("", "payouts.payments", "payments", ("campus.delay.1000",)), HELD, "payments",
    ),
    "retry of another key (BCC)": (
        "payouts.payments", Route("", "identity.orders", None, ("campus.delay.1000",)), HELD, "payments",
    ),
    "an exchange of nobody": ("payouts.payments", Route("amq.topic", HELD, "payments"), HELD, "payments"),
    "an event in a work queue": ("payouts.transfers", Route("campus.work", "payouts.transfers", "payouts"), HELD,
    "payouts"),
    "an alert in the name of another": (
        "notifications.operations", Route("campus.events", ALERT, "orders"), ALERT, "payments",
    ),
    "an alert of no service": ("notifications.operations", Route("campus.events", ALERT, "orders"), ALERT, "stranger"),
}  # fmt: skip


@pytest.mark.parametrize("name", GENUINE)
@pytest.mark.parametrize("account_required", [True, False])
def test_a_message_from_its_publisher_is_accepted(name: str, account_required: bool) -> None:
    queue, route, event_type, source = GENUINE[name]
    check_publisher(queue, route, received(event_type, source), account_required=account_required)


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("account_required", [True, False])
def test_a_message_that_names_another_publisher_is_rejected(name: str, account_required: bool) -> None:
    queue, route, event_type, source = FORGED[name]
    with pytest.raises(UnprovenPublisher):
        check_publisher(queue, route, received(event_type, source), account_required=account_required)


@pytest.mark.parametrize("account", [None, "operator"])
def test_a_message_without_an_account_depends_on_the_setting(account: str | None) -> None:
    route = Route("campus.events", HELD, account)
    check_publisher("payouts.payments", route, received(HELD, "payments"), account_required=False)
    with pytest.raises(UnprovenPublisher):
        check_publisher("payouts.payments", route, received(HELD, "payments"), account_required=True)


def test_a_broadcast_is_accepted_from_its_publisher_only() -> None:
    revoked = "identity.session_revoked.v1"
    good = Route("campus.events", revoked, "identity")
    check_broadcast(good, received(revoked, "identity"), account_required=True)
    for route, source in (
        (Route("campus.events", revoked, "orders"), "identity"),
        (Route("campus.events", "orders.product_changed.v1", "identity"), "identity"),
        (Route("campus.events", revoked, "identity", ("amq.gen-x",)), "identity"),
        (good, "orders"),
    ):
        with pytest.raises(UnprovenPublisher):
            check_broadcast(route, received(revoked, source), account_required=False)


def test_the_name_of_a_queue_shows_whether_it_holds_work() -> None:
    assert all(is_work_queue(queue) for queue in WORK_QUEUES)
    assert not any(
        is_work_queue(f"{service}.{event.publisher()}") for service, events in SUBSCRIPTIONS.items() for event in events
    )


def envelope(event, **changes) -> bytes:
    described = {
        "id": str(new_id()), "type": event.TYPE, "source": "/services/orders", "subject": event.subject, "sequence": 1,
        "time": "2026-01-31T12:00:00.000Z",
        "data": {"orderId": str(event.order_id), "buyerId": str(event.buyer_id), "vendorId": str(event.vendor_id)},
    }  # fmt: skip
    return json.dumps(described | changes).encode()


async def publish(broker_url: str, exchange, key, body, **properties):
    async with await aio_pika.connect(broker_url) as connection:
        channel = await connection.channel()
        aimed = await channel.get_exchange(exchange, ensure=False) if exchange else channel.default_exchange
        await aimed.publish(aio_pika.Message(body, **properties), key)


FORGERIES = {
    "a foreign type put into the queue": ("", "tests.orders", {"type": RELEASED, "source": "/services/payments"}),
    "the source of another service": ("campus.events", OrderDispatched.TYPE, {"source": "/services/payments"}),
    "another routing key than the type": ("campus.events", "orders.order_completed.v1", {}),
}


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_forged_message_is_stored_as_evidence_without_effect(
    mechanisms: Mechanisms, bus: Bus, broker_url: str, name: str
) -> None:
    exchange, key, changes = FORGERIES[name]
    notebook, event = Notebook(), dispatched()
    async with consuming(mechanisms, bus, notebook):
        await publish(broker_url, exchange, key, envelope(event, **changes))
        [dead_letter] = await eventually(lambda: rows(mechanisms, "SELECT * FROM dead_letters"))
    assert dead_letter["error"].startswith("UnprovenPublisher")
    assert notebook.attempts == {}
    [alert] = await rows(mechanisms, "SELECT payload FROM outbox WHERE type = 'operations.alert_raised.v1'")
    raised = json.loads(bytes(alert["payload"]))
    assert (raised["severity"], raised["runbook"]) == ("SEV-1", "unproven-publisher")
    async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        with pytest.raises(Conflict):
            await dead_letters.replay_dead_letter(uow, bus, dead_letter["id"], by=uuid4())


async def test_forged_work_does_not_run_the_handler_of_exhausted_work(
    mechanisms: Mechanisms, bus: Bus, broker_url: str
) -> None:
    exhausted = []

    async def do_job(item, received, dependencies):
        raise AssertionError("forged work was done")

    async def note_exhausted(item, received, uow, error):
        exhausted.append(item)

    work = [WorkItem("tests.work", Job, do_job, note_exhausted)]
    async with consuming(mechanisms, bus, Notebook(), work):
        forged = envelope(dispatched(), type="tests.work", source="/services/orders", data={"number": 1})
        await publish(broker_url, "", "tests.work", forged)
        await eventually(lambda: rows(mechanisms, "SELECT * FROM dead_letters"))
    assert exhausted == []


async def test_a_message_published_to_the_dead_letter_queue_is_stored_as_forged(
    mechanisms: Mechanisms, bus: Bus, broker_url: str
) -> None:
    async with consuming(mechanisms, bus, Notebook()):
        await publish(broker_url, "", "tests.dead", envelope(dispatched()), headers={"x-attempt": 1})
        [dead_letter] = await eventually(lambda: rows(mechanisms, "SELECT * FROM dead_letters"))
    assert dead_letter["error"].startswith("UnprovenPublisher")


async def test_a_message_that_the_broker_dead_lettered_can_be_replayed(
    mechanisms: Mechanisms, bus: Bus, broker_url: str
) -> None:
    notebook, event = Notebook(), dispatched()
    async with await aio_pika.connect(broker_url) as connection:
        channel = await connection.channel()
        queue = await channel.get_queue("tests.orders")
        await publish(broker_url, "campus.events", OrderDispatched.TYPE, envelope(event))
        # A rejected message is routed like one at its delivery limit.
        message = await queue.get(timeout=60)
        await message.reject(requeue=False)
    async with consuming(mechanisms, bus, notebook):
        [dead_letter] = await eventually(lambda: rows(mechanisms, "SELECT * FROM dead_letters"))
        assert (dead_letter["queue"], dead_letter["error"].partition(":")[0]) == ("tests.orders", "PermanentFault")
        async with mechanisms.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await dead_letters.replay_dead_letter(uow, bus, dead_letter["id"], by=uuid4())
        await eventually(lambda: notebook.attempts[event.subject] == 1)
