"""Events that reach an endpoint: signatures, test events, owners and content."""

from datetime import datetime, timedelta

import pytest
from starlette.responses import PlainTextResponse

from common.observability import telemetry
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.orders import ProductChanged
from contracts.payments import EscrowReleased, PaymentFailed, ReleaseStatement
from contracts.payouts import PayoutProcessed
from contracts.webhook_types import EVENT_TYPES, VENDOR_TYPES
from testkit.fixtures import eventually

from ..conftest import Scenario
from .webhook_receiver import Receiver
from .webhook_steps import COMPLETED, DISPATCHED, admin, create, deliveries, patch, send, send_after, send_test, vendor


async def test_an_event_arrives_with_a_valid_signature(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, f"{receiver.url}/hooks?shop=1")
    received = await scenario.receive(scenario.dispatched())
    assert await send(scenario) == 1
    [webhook] = receiver.webhooks
    assert (webhook.id, webhook.path) == (str(received.event_id), "/hooks")
    assert webhook.timestamp == int(scenario.clock.now().timestamp())
    assert webhook.is_signed_by(endpoint["secret"])
    assert webhook.content == {
        "type": DISPATCHED,
        "timestamp": iso(datetime.fromisoformat(received.time)),
        "data": {
            name: str(value)
            for name, value in zip(("orderId", "buyerId", "vendorId"), scenario.parties.values(), strict=True)
        },
    }
    [delivery] = await deliveries(scenario, endpoint)
    expected = {"eventId": webhook.id, "eventType": DISPATCHED, "status": "delivered", "attempts": 1}
    assert {name: delivery[name] for name in expected} == expected
    assert (delivery["responseStatus"], delivery["responseExcerpt"], delivery["error"]) == (200, "received", None)


async def test_a_test_event_is_signed_marked_and_listed(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, f"{receiver.url}/hooks")
    await create(scenario, f"{receiver.url}/other")
    response = await send_test(scenario, endpoint, vendor(scenario))
    assert response.status_code == 201, response.text
    queued = response.json()["data"]
    assert (queued["eventType"], queued["status"]) == ("notifications.webhook_test.v1", "pending")
    assert await send(scenario) == 1
    [webhook] = receiver.webhooks
    assert (webhook.id, webhook.path) == (queued["eventId"], "/hooks")
    assert webhook.is_signed_by(endpoint["secret"])
    assert webhook.content["type"] == "notifications.webhook_test.v1"
    assert webhook.content["data"] == {"test": True, "endpointId": endpoint["id"]}
    [delivery] = await deliveries(scenario, endpoint)
    assert (delivery["id"], delivery["status"], delivery["responseStatus"]) == (queued["id"], "delivered", 200)


@pytest.mark.parametrize("status", [500, 410])
async def test_a_failed_test_has_one_attempt_and_never_disables(
    scenario: Scenario, receiver: Receiver, status: int
) -> None:
    endpoint = await create(scenario, receiver.url)
    receiver.default = status
    assert (await send_test(scenario, endpoint, vendor(scenario))).status_code == 201
    assert await send(scenario) == 1
    assert await send_after(scenario, days=6) == 0
    [delivery] = await deliveries(scenario, endpoint)
    assert (delivery["status"], delivery["attempts"], delivery["responseStatus"]) == ("failed", 1, status)
    [row] = await scenario.fetch("SELECT status, failing_since FROM webhook_endpoints")
    assert tuple(row) == ("enabled", None)


async def test_a_test_needs_an_own_enabled_endpoint(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    assert (await send_test(scenario, endpoint, vendor(scenario, new_id()))).status_code == 404
    buyer = scenario.headers(new_id(), roles=("buyer",))
    assert (await send_test(scenario, endpoint, buyer)).status_code == 403
    await patch(scenario, endpoint, status="disabled")
    response = await send_test(scenario, endpoint, vendor(scenario))
    assert (response.status_code, response.json()["detail"]) == (
        409,
        "The webhook endpoint is disabled. Enable it first.",
    )
    assert await scenario.fetch("SELECT 1 FROM webhook_events") == []


async def test_a_failed_payment_reaches_the_platform(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url, "payments.payment_failed.v1", headers=admin(scenario))
    order_id, payment_id = new_id(), new_id()
    failed = PaymentFailed(
        order_id=order_id,
        buyer_id=scenario.buyer_id,
        payment_id=payment_id,
        reference="pay-1",
        amount_minor=250_000,
        currency="NGN",
        failure_reason="Declined by the bank",
    )
    await scenario.receive(failed)
    assert await send(scenario) == 1
    [webhook] = receiver.webhooks
    assert webhook.content["data"] == {
        "orderId": str(order_id),
        "buyerId": str(scenario.buyer_id),
        "paymentId": str(payment_id),
        "reference": "pay-1",
        "amountMinor": 250_000,
        "currency": "NGN",
        "failureReason": "Declined by the bank",
    }


async def test_a_webhook_continues_the_trace_of_its_event(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, f"{receiver.url}/hooks")
    receiver.responses.append(PlainTextResponse("busy", 503))
    traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with telemetry.span("work", headers={"traceparent": traceparent}):
        await scenario.receive(scenario.dispatched())
    assert await send(scenario) == 1
    scenario.clock.advance(timedelta(hours=1))
    assert await send(scenario) == 1
    assert [webhook.traceparent for webhook in receiver.webhooks] == [traceparent, traceparent]


async def test_a_vendor_receives_only_its_own_events(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, f"{receiver.url}/own", *VENDOR_TYPES)
    await create(scenario, f"{receiver.url}/other", *VENDOR_TYPES, headers=vendor(scenario, new_id()))
    await create(scenario, f"{receiver.url}/platform", *EVENT_TYPES, headers=admin(scenario))
    await scenario.receive(scenario.dispatched())
    await scenario.receive(PayoutProcessed(payout_id=new_id(), vendor_id=scenario.vendor_id, amount_minor=5))
    changed = ProductChanged(
        product_id=new_id(), vendor_id=scenario.vendor_id, name="Rice", price_minor=1, in_stock=True, removed=False
    )
    await scenario.receive(changed)
    assert await send(scenario) == 5
    assert sorted(webhook.path for webhook in receiver.webhooks) == ["/own"] * 2 + ["/platform"] * 3


async def test_internal_fields_stay_inside(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url, "payments.escrow_released.v1", "orders.order_delivered.v1")
    statement = ReleaseStatement(sequence=1, net_minor=1, key_id="k", signature="a signature")
    amounts = {"gross_minor": 3, "commission_minor": 1, "delivery_fee_minor": 1, "net_minor": 1}
    rest = {"remaining_minor": 0, "remaining_vendor_minor": 0, "statement": statement}
    await scenario.receive(EscrowReleased(**scenario.parties, release_id=new_id(), **amounts, **rest))
    await scenario.receive(scenario.delivered())
    assert await send(scenario) == 2
    fields = {webhook.content["type"]: set(webhook.content["data"]) for webhook in receiver.webhooks}
    assert "statement" not in fields["payments.escrow_released.v1"]
    assert fields["orders.order_delivered.v1"] == {"orderId", "buyerId", "vendorId", "deliveredAt"}
    assert len(await deliveries(scenario, endpoint)) == 2


async def test_an_event_without_subscribers_is_not_stored(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url, COMPLETED)
    await scenario.receive(scenario.dispatched())
    assert await scenario.fetch("SELECT 1 FROM webhook_events") == []


async def test_an_event_that_is_consumed_twice_is_sent_once(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    await scenario.receive_twice(scenario.dispatched())
    assert await send(scenario) == 1
    assert await send_after(scenario, days=2) == 0


async def test_the_worker_sends_in_the_background(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    async with scenario.running("worker"):
        await scenario.publish(scenario.dispatched())
        await eventually(lambda: len(receiver.webhooks) == 1)
