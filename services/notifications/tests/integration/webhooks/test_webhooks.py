"""Webhook endpoints and the sending of their events, over a real receiver."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from common.auth.caller import Caller
from common.observability import telemetry
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.identity import VendorClosed
from contracts.orders import OrderCompleted, ProductChanged
from contracts.payments import EscrowReleased, PaymentFailed, ReleaseStatement
from contracts.payouts import PayoutProcessed
from contracts.permissions import permissions_of
from contracts.webhook_types import EVENT_TYPES, VENDOR_TYPES
from notifications.app import SERVICE
from notifications.clients.outbound import OutboundClient
from notifications.clients.outbound_addresses import OutboundRules
from notifications.webhooks import streams as webhook_sender
from notifications.webhooks.clients import BODY_BYTES_MAX, EXCERPT_CHARACTERS_MAX, WebhookClient
from notifications.webhooks.domain.webhooks import FAILING_MAX, LADDER, LEASE
from notifications.webhooks.streams import WebhookSender
from testkit.fixtures import eventually

from ..conftest import OpenScenario, Scenario, running_tasks
from .webhook_receiver import Receiver, receiving

ENDPOINTS = "/api/webhook-endpoints"
DISPATCHED, COMPLETED = "orders.order_dispatched.v1", "orders.order_completed.v1"


@pytest_asyncio.fixture(loop_scope="session")
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario) -> AsyncIterator[Scenario]:
    async with open_scenario(webhook_allow_loopback=True) as opened_scenario:
        await opened_scenario.project_users()
        await opened_scenario.project_order()
        yield opened_scenario


def vendor(scenario: Scenario, vendor_id: UUID | None = None, **claims: Any) -> dict[str, str]:
    """Return the headers of the scenario's vendor, or of another one, with a second factor."""
    owned = {"roles": ("buyer", "merchant"), "vendor_id": vendor_id or scenario.vendor_id, "stepped_up": True}
    return scenario.headers(scenario.owner_id, **{**owned, **claims})


def admin(scenario: Scenario) -> dict[str, str]:
    return scenario.headers(new_id(), roles=("platform_admin",), stepped_up=True)


async def create(scenario: Scenario, url: str, *types: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    body = {"url": url, "eventTypes": list(types or (DISPATCHED,))}
    response = await scenario.client.post(ENDPOINTS, json=body, headers=headers or vendor(scenario))
    assert response.status_code == 201, response.text
    data: dict[str, Any] = response.json()["data"]
    return data


async def patch(scenario: Scenario, endpoint: dict[str, Any], **body: Any) -> httpx.Response:
    return await scenario.client.patch(f"{ENDPOINTS}/{endpoint['id']}", json=body, headers=vendor(scenario))


async def replay(scenario: Scenario, endpoint: dict[str, Any], **body: Any) -> httpx.Response:
    return await scenario.client.post(f"{ENDPOINTS}/{endpoint['id']}/replay", json=body, headers=vendor(scenario))


async def deliveries(scenario: Scenario, endpoint: dict[str, Any]) -> list[dict[str, Any]]:
    path = f"{ENDPOINTS}/{endpoint['id']}/deliveries"
    response = await scenario.client.get(path, headers=vendor(scenario))
    assert response.status_code == 200, response.text
    data: list[dict[str, Any]] = response.json()["data"]
    return data


async def send(scenario: Scenario) -> int:
    sent: int = await scenario.dependencies.webhook_sender.run_once()
    return sent


async def send_after(scenario: Scenario, **delay: float) -> int:
    scenario.clock.advance(timedelta(**delay))
    return await send(scenario)


def invalid(response: httpx.Response) -> dict[str, str]:
    assert response.status_code == 422, response.text
    return {param["name"]: param["reason"] for param in response.json()["invalid_params"]}


# Endpoints


async def test_a_secret_is_shown_at_creation_only(scenario: Scenario, receiver: Receiver) -> None:
    created = await create(scenario, receiver.url)
    assert set(created) == {
        *("id", "vendorId", "url", "eventTypes", "description", "status", "disabledReason", "createdAt", "secret")
    }
    assert created["secret"].startswith("whsec_")
    [listed] = (await scenario.client.get(ENDPOINTS, headers=vendor(scenario))).json()["data"]
    assert listed == {name: value for name, value in created.items() if name != "secret"}
    one = await scenario.client.get(f"{ENDPOINTS}/{created['id']}", headers=vendor(scenario))
    assert one.json()["data"] == listed
    [row] = await scenario.fetch("SELECT * FROM webhook_endpoints")
    assert created["secret"] not in str(dict(row))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://hooks.example.com/", "must be an https address"),
        ("https://10.0.0.1/", "must name a public host"),
        ("https://169.254.169.254/latest", "must name a public host"),
        ("https://metadata.internal/", "must name a public host"),
        ("https://hooks.example.com:25/", "must use port 443, or one from 1024"),
        ("https://user:password@hooks.example.com/", "is not a valid address"),
        ("ftp://hooks.example.com/", "must be an https address"),
    ],
)
async def test_an_address_that_is_not_public_https_is_rejected(scenario: Scenario, url: str, reason: str) -> None:
    body = {"url": url, "eventTypes": [DISPATCHED]}
    response = await scenario.client.post(ENDPOINTS, json=body, headers=vendor(scenario))
    assert invalid(response) == {"url": reason}


@pytest.mark.parametrize("port", ["", ":443", ":8443"])
async def test_a_public_https_address_is_accepted(scenario: Scenario, port: str) -> None:
    await create(scenario, f"https://hooks.example.com{port}/campus?shop=1")


async def test_loopback_needs_the_setting(open_scenario: OpenScenario) -> None:
    async with open_scenario() as scenario:
        for url in ("http://127.0.0.1:9000/", "https://localhost/", "https://[::1]/"):
            body = {"url": url, "eventTypes": [DISPATCHED]}
            response = await scenario.client.post(ENDPOINTS, json=body, headers=vendor(scenario))
            assert set(invalid(response)) == {"url"}


async def test_an_unknown_event_type_is_named(scenario: Scenario, receiver: Receiver) -> None:
    body = {"url": receiver.url, "eventTypes": [DISPATCHED, "orders.no_such_event.v1"]}
    response = await scenario.client.post(ENDPOINTS, json=body, headers=vendor(scenario))
    assert "orders.no_such_event.v1" in invalid(response)["eventTypes"]
    changed = await patch(scenario, await create(scenario, receiver.url), eventTypes=["orders.no_such_event.v1"])
    assert "orders.no_such_event.v1" in invalid(changed)["eventTypes"]


async def test_a_vendor_cannot_choose_events_of_the_platform(scenario: Scenario, receiver: Receiver) -> None:
    foreign = sorted(set(EVENT_TYPES) - set(VENDOR_TYPES))
    body = {"url": receiver.url, "eventTypes": foreign}
    response = await scenario.client.post(ENDPOINTS, json=body, headers=vendor(scenario))
    assert invalid(response)["eventTypes"] == f"unknown event types: {', '.join(foreign)}"
    assert (await create(scenario, receiver.url, *EVENT_TYPES, headers=admin(scenario)))["vendorId"] is None


async def test_an_owner_has_at_most_ten_endpoints(scenario: Scenario, receiver: Receiver) -> None:
    body = {"url": receiver.url, "eventTypes": [DISPATCHED]}
    headers = vendor(scenario)
    responses = await asyncio.gather(*(scenario.client.post(ENDPOINTS, json=body, headers=headers) for _ in range(12)))
    assert sorted(response.status_code for response in responses) == [201] * 10 + [409] * 2
    await create(scenario, receiver.url, headers=vendor(scenario, new_id()))


async def test_a_second_factor_protects_secrets_and_addresses(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    path, at_aal1 = f"{ENDPOINTS}/{endpoint['id']}", vendor(scenario, stepped_up=False)
    body = {"url": receiver.url, "eventTypes": [DISPATCHED]}
    for method, target, content in (
        ("POST", ENDPOINTS, body),
        ("POST", f"{path}/rotate-secret", None),
        ("DELETE", path, None),
        ("PATCH", path, {"url": receiver.url}),
    ):
        response = await scenario.client.request(method, target, json=content, headers=at_aal1)
        assert (response.status_code, response.json()["code"]) == (403, "AUTH_AAL2_REQUIRED"), (method, target)
    response = await scenario.client.patch(path, json={"description": "Our till"}, headers=at_aal1)
    assert response.json()["data"]["description"] == "Our till"


async def test_a_foreign_endpoint_does_not_exist(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    outsider, path = vendor(scenario, new_id()), f"{ENDPOINTS}/{endpoint['id']}"
    assert (await scenario.client.get(ENDPOINTS, headers=outsider)).json()["data"] == []
    for method, target, content in (
        ("GET", path, None),
        ("PATCH", path, {"status": "disabled"}),
        ("DELETE", path, None),
        ("POST", f"{path}/rotate-secret", None),
        ("POST", f"{path}/replay", {"eventId": str(new_id())}),
        ("POST", f"{path}/test", None),
        ("GET", f"{path}/deliveries", None),
    ):
        response = await scenario.client.request(method, target, json=content, headers=outsider)
        assert response.status_code == 404, (method, target)


async def test_row_security_hides_the_rows_of_other_vendors(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    await scenario.receive(scenario.dispatched())
    merchant = permissions_of(["merchant"])
    visible = {}
    for name, vendor_id in (("own", scenario.vendor_id), ("foreign", new_id())):
        caller = Caller(user_id=new_id(), permissions=merchant, vendor_id=vendor_id)
        async with scenario.unit_of_work(caller) as uow:
            visible[name] = [
                await uow.fetch_value(f"SELECT count(*) FROM {table}")
                for table in ("webhook_endpoints", "webhook_events", "webhook_deliveries")
            ]
    assert visible == {"own": [1, 1, 1], "foreign": [0, 0, 0]}


async def test_a_platform_admin_sees_all_endpoints_and_rotates_no_vendor_s_secret(
    scenario: Scenario, receiver: Receiver
) -> None:
    endpoint = await create(scenario, receiver.url)
    own = await create(scenario, receiver.url, headers=admin(scenario))
    listed = (await scenario.client.get(ENDPOINTS, headers=admin(scenario))).json()["data"]
    assert {row["id"] for row in listed} == {endpoint["id"], own["id"]}
    response = await scenario.client.post(f"{ENDPOINTS}/{endpoint['id']}/rotate-secret", headers=admin(scenario))
    assert (response.status_code, response.json()["code"]) == (403, "AUTH_FORBIDDEN")


async def test_a_removed_endpoint_receives_nothing(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    await scenario.receive(scenario.dispatched())
    response = await scenario.client.delete(f"{ENDPOINTS}/{endpoint['id']}", headers=vendor(scenario))
    assert response.status_code == 204
    assert await send(scenario) == 0


async def test_a_closed_vendor_has_no_endpoints(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    await create(scenario, receiver.url, headers=vendor(scenario, other := new_id()))
    closed = VendorClosed(vendor_id=scenario.vendor_id, owner_user_id=scenario.owner_id, campus_id=new_id())
    await scenario.receive(closed)
    assert [row["vendor_id"] for row in await scenario.fetch("SELECT vendor_id FROM webhook_endpoints")] == [other]


# Events


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


async def send_test(scenario: Scenario, endpoint: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
    return await scenario.client.post(f"{ENDPOINTS}/{endpoint['id']}/test", headers=headers)


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
    async with running_tasks(scenario.app, "worker"):
        await scenario.publish(scenario.dispatched())
        await eventually(lambda: len(receiver.webhooks) == 1)


# Attempts


async def test_a_failed_event_is_sent_again_on_the_ladder(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    receiver.default = 500
    await scenario.receive(scenario.dispatched())
    assert await send(scenario) == 1
    [delivery] = await deliveries(scenario, endpoint)
    assert datetime.fromisoformat(delivery["nextAttemptAt"]) <= scenario.clock.now() + timedelta(minutes=2)
    for delay in LADDER.delays_seconds:
        # Jitter is at most a fifth.
        assert await send_after(scenario, seconds=delay * 0.79) == 0
        assert await send_after(scenario, seconds=delay * 0.42) == 1
    assert await send_after(scenario, days=3) == 0
    assert len(set(receiver.ids)) == 1
    assert len(receiver.webhooks) == LADDER.attempts_max == 9
    [delivery] = await deliveries(scenario, endpoint)
    assert (delivery["status"], delivery["attempts"], delivery["responseStatus"]) == ("failed", 9, 500)
    assert all(webhook.is_signed_by(endpoint["secret"]) for webhook in receiver.webhooks)


async def test_a_later_attempt_succeeds(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    receiver.responses = [Response(status_code=503)]
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    assert await send_after(scenario, seconds=7) == 1
    [delivery] = await deliveries(scenario, endpoint)
    assert (delivery["status"], delivery["attempts"]) == ("delivered", 2)
    [row] = await scenario.fetch("SELECT failing_since FROM webhook_endpoints")
    assert row["failing_since"] is None


async def test_an_attempt_without_a_record_is_repeated_with_its_id(scenario: Scenario, receiver: Receiver) -> None:
    """The worker dies between the response and the record."""
    await create(scenario, receiver.url)
    await scenario.receive(scenario.dispatched())
    sender = scenario.dependencies.webhook_sender
    [claimed] = [claimed for batch in (await sender._claim()).values() for claimed in batch]
    assert await send(scenario) == 0
    scenario.clock.advance(LEASE + timedelta(seconds=1))
    assert await send(scenario) == 1
    assert receiver.ids == [str(claimed.event.id)]
    # The first worker was only slow: its result has no effect.
    receiver.default = 410
    await sender._send(claimed)
    assert receiver.ids == [str(claimed.event.id)] * 2
    rows = await scenario.fetch("SELECT status, attempts FROM webhook_deliveries")
    assert [tuple(row) for row in rows] == [("delivered", 2)]
    [endpoint] = await scenario.fetch("SELECT status FROM webhook_endpoints")
    assert endpoint["status"] == "enabled"


async def test_two_workers_send_each_event_once(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    for _ in range(30):
        await scenario.receive(scenario.dispatched())
    dependencies = scenario.dependencies
    async with OutboundClient(dependencies.webhook_rules, seconds=15) as http:
        encryptor = dependencies.encryption.webhook_secrets
        workers = [
            WebhookSender(dependencies.database, scenario.clock, WebhookClient(http), encryptor) for _ in range(2)
        ]
        while sum(await asyncio.gather(*(worker.run_once() for worker in workers))):
            pass
    assert len(receiver.ids) == len(set(receiver.ids)) == 30


async def test_a_redirect_is_a_failure_and_not_followed(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, f"{receiver.url}/first")
    receiver.responses = [RedirectResponse(f"{receiver.url}/second", 307)]
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    assert [webhook.path for webhook in receiver.webhooks] == ["/first"]
    [delivery] = await deliveries(scenario, endpoint)
    assert (delivery["status"], delivery["responseStatus"]) == ("pending", 307)


async def test_only_the_start_of_a_response_is_read_and_stored(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    receiver.responses = [PlainTextResponse("\x00" + "x" * 100 * BODY_BYTES_MAX)]
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    [delivery] = await deliveries(scenario, endpoint)
    assert delivery["responseExcerpt"] == "x" * EXCERPT_CHARACTERS_MAX


@pytest.mark.parametrize(
    "number", ["10.0.0.5", "127.0.0.1", "169.254.169.254", "192.168.1.1", "::1", "fe80::1", "::ffff:10.0.0.5"]
)
async def test_a_name_that_resolves_into_a_private_network_is_not_called(
    scenario: Scenario, receiver: Receiver, number: str
) -> None:
    endpoint = await create(scenario, "https://hooks.example.com/")
    await scenario.receive(scenario.dispatched())
    dependencies = scenario.dependencies

    async def resolve(host: str, port: int) -> list[str]:
        return ["203.0.114.7", number]

    async with OutboundClient(OutboundRules(allow_high_ports=True), seconds=15, resolve=resolve) as http:
        encryptor = dependencies.encryption.webhook_secrets
        sender = WebhookSender(dependencies.database, scenario.clock, WebhookClient(http), encryptor)
        assert await sender.run_once() == 1
    [delivery] = await deliveries(scenario, endpoint)
    assert (delivery["status"], delivery["error"]) == ("pending", "the address leads into a private network")
    assert receiver.webhooks == []


async def test_a_removed_permission_of_loopback_stops_the_calls(scenario: Scenario, receiver: Receiver) -> None:
    """The address is checked at each call, not at its registration alone."""
    endpoint = await create(scenario, receiver.url)
    await scenario.receive(scenario.dispatched())
    dependencies = scenario.dependencies
    async with OutboundClient(OutboundRules(allow_high_ports=True), seconds=15) as http:
        encryptor = dependencies.encryption.webhook_secrets
        sender = WebhookSender(dependencies.database, scenario.clock, WebhookClient(http), encryptor)
        assert await sender.run_once() == 1
    assert receiver.webhooks == []
    [delivery] = await deliveries(scenario, endpoint)
    assert delivery["error"] == "the address must be an https address"


async def test_a_hanging_endpoint_delays_no_other(scenario: Scenario, receiver: Receiver) -> None:
    accepted, released, closed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def hang(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.set()
        await released.wait()
        writer.close()
        closed.set()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await create(scenario, f"http://127.0.0.1:{port}/")
    await create(scenario, receiver.url)
    await scenario.receive(scenario.dispatched())
    sending = asyncio.create_task(scenario.dependencies.webhook_sender.run())
    try:
        await accepted.wait()
        await eventually(lambda: len(receiver.webhooks) == 1)
        await scenario.receive(scenario.dispatched())
        await eventually(lambda: len(receiver.webhooks) == 2)
    finally:
        for task in [sending, *scenario.dependencies.webhook_sender._busy.values()]:
            task.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        released.set()
        await closed.wait()
        server.close()


async def test_a_worker_sends_the_events_that_it_recorded_without_waiting_for_its_poll(
    scenario: Scenario, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_sender, "POLL_SECONDS", 3600.0)
    sender = scenario.dependencies.webhook_sender
    await create(scenario, receiver.url)
    sending = asyncio.create_task(sender.run())
    try:
        await scenario.receive(scenario.dispatched())
        await eventually(lambda: len(receiver.webhooks) == 1)
        await scenario.receive(scenario.dispatched())
        await eventually(lambda: len(receiver.webhooks) == 2)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


# Rotation


async def test_both_secrets_sign_for_a_day_after_a_rotation(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    path = f"{ENDPOINTS}/{endpoint['id']}/rotate-secret"
    rotated = (await scenario.client.post(path, headers=vendor(scenario))).json()["data"]
    assert rotated["secret"] != endpoint["secret"]
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    scenario.clock.advance(timedelta(hours=24))
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    during, after = receiver.webhooks
    assert len(during.signatures) == 2
    assert during.is_signed_by(rotated["secret"])
    assert during.is_signed_by(endpoint["secret"])
    assert len(after.signatures) == 1
    assert after.is_signed_by(rotated["secret"])


async def test_secrets_survive_a_rotation_of_the_message_key(
    scenario: Scenario, open_scenario: OpenScenario, receiver: Receiver
) -> None:
    endpoint = await create(scenario, receiver.url)
    path = f"{ENDPOINTS}/{endpoint['id']}/rotate-secret"
    rotated = (await scenario.client.post(path, headers=vendor(scenario))).json()["data"]
    await scenario.receive(scenario.dispatched())
    old = scenario.settings.message_key
    keys = {"message_key": "the next key of messages", "webhook_allow_loopback": True, "urls": scenario.urls}
    async with open_scenario(**keys, message_key_previous=old) as during:
        await SERVICE.commands["re-encrypt"](during.app.dependencies)
    async with open_scenario(**keys) as after:
        assert await send(after) == 1
    [webhook] = receiver.webhooks
    assert webhook.is_signed_by(rotated["secret"])
    assert webhook.is_signed_by(endpoint["secret"])


# Disabling


async def test_an_endpoint_that_returns_410_is_disabled(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    receiver.responses = [Response(status_code=410)]
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    [listed] = (await scenario.client.get(ENDPOINTS, headers=vendor(scenario))).json()["data"]
    assert (listed["status"], listed["disabledReason"]) == ("disabled", "gone")
    [alert] = await scenario.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["subject"]) == ("SEV-3", endpoint["id"])
    await scenario.receive(scenario.dispatched())
    assert await send_after(scenario, days=1) == 0
    assert [delivery["status"] for delivery in await deliveries(scenario, endpoint)] == ["failed"]
    await patch(scenario, endpoint, status="enabled")
    [cleared] = await scenario.published("operations.alert_cleared.v1")
    assert cleared["dedupKey"] == alert["dedupKey"]


async def test_an_endpoint_that_fails_for_days_is_disabled_once(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    receiver.default = 500
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    scenario.clock.advance(FAILING_MAX)
    for _ in range(3):
        await scenario.receive(scenario.dispatched())
    while await send(scenario):
        pass
    [listed] = (await scenario.client.get(ENDPOINTS, headers=vendor(scenario))).json()["data"]
    assert (listed["status"], listed["disabledReason"]) == ("disabled", "failing")
    assert {delivery["status"] for delivery in await deliveries(scenario, endpoint)} == {"failed"}
    assert len(await scenario.published("operations.alert_raised.v1")) == 1


async def test_a_success_restarts_the_days_of_failures(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    receiver.responses = [Response(status_code=500), Response(status_code=200), Response(status_code=500)]
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    assert await send_after(scenario, days=4) == 1
    await scenario.receive(scenario.dispatched())
    assert await send_after(scenario, days=4) == 1
    [row] = await scenario.fetch("SELECT status, failing_since FROM webhook_endpoints")
    assert (row["status"], row["failing_since"]) == ("enabled", scenario.clock.now())


async def test_an_enabled_endpoint_can_have_the_missed_events_replayed(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    assert (await patch(scenario, endpoint, status="disabled")).json()["data"]["disabledReason"] == "owner"
    missed = await scenario.receive(scenario.dispatched())
    assert await send(scenario) == 0
    refused = await replay(scenario, endpoint, eventId=str(missed.event_id))
    assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    enabled = (await patch(scenario, endpoint, status="enabled")).json()["data"]
    assert (enabled["status"], enabled["disabledReason"]) == ("enabled", None)
    assert (await replay(scenario, endpoint, eventId=str(missed.event_id))).json()["data"] == {"queued": 1}
    assert await send(scenario) == 1
    assert receiver.ids == [str(missed.event_id)]


# Replay


async def test_a_replay_sends_with_the_same_webhook_id(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url, DISPATCHED, COMPLETED)
    await scenario.receive(OrderCompleted(**scenario.parties))
    assert await send(scenario) == 1
    scenario.clock.advance(timedelta(hours=1))
    since = scenario.clock.now()
    recent = await scenario.receive(scenario.dispatched())
    assert await send(scenario) == 1
    assert (await replay(scenario, endpoint, eventId=str(recent.event_id))).json()["data"] == {"queued": 1}
    # It waits already.
    assert (await replay(scenario, endpoint, since=since.isoformat())).json()["data"] == {"queued": 0}
    await send(scenario)
    assert (await replay(scenario, endpoint, since=since.isoformat())).json()["data"] == {"queued": 1}
    await send(scenario)
    assert receiver.ids[1:] == [str(recent.event_id)] * 3
    assert receiver.webhooks[1].content == receiver.webhooks[3].content
    assert len(await deliveries(scenario, endpoint)) == 4


async def test_a_replay_reaches_back_thirty_days(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    early = (scenario.clock.now() - timedelta(days=30, seconds=1)).isoformat()
    assert invalid(await replay(scenario, endpoint, since=early)) == {"since": "must be at most 30 days ago"}
    for body in ({}, {"since": early, "eventId": str(new_id())}):
        assert (await replay(scenario, endpoint, **body)).status_code == 422
    assert (await replay(scenario, endpoint, eventId=str(new_id()))).status_code == 404


async def test_an_event_of_another_vendor_cannot_be_replayed(scenario: Scenario, receiver: Receiver) -> None:
    await create(scenario, receiver.url)
    event = await scenario.receive(scenario.dispatched())
    outsider = vendor(scenario, new_id())
    endpoint = await create(scenario, receiver.url, headers=outsider)
    for body in ({"eventId": str(event.event_id)}, {"since": scenario.clock.now().isoformat()}):
        path = f"{ENDPOINTS}/{endpoint['id']}/replay"
        response = await scenario.client.post(path, json=body, headers=outsider)
        assert response.status_code == 404 or response.json()["data"] == {"queued": 0}
    # Nor by a platform_admin into the other vendor's endpoint.
    path = f"{ENDPOINTS}/{endpoint['id']}/replay"
    body = {"eventId": str(event.event_id)}
    assert (await scenario.client.post(path, json=body, headers=admin(scenario))).status_code == 404


async def test_events_are_deleted_after_thirty_days(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    await scenario.receive(scenario.dispatched())
    await send(scenario)
    scenario.clock.advance(timedelta(days=29))
    await scenario.remove_old()
    assert len(await deliveries(scenario, endpoint)) == 1
    scenario.clock.advance(timedelta(days=1, seconds=1))
    await scenario.remove_old()
    assert await deliveries(scenario, endpoint) == []
    assert await scenario.fetch("SELECT 1 FROM webhook_events") == []


async def test_the_pages_of_deliveries_continue_by_cursor(scenario: Scenario, receiver: Receiver) -> None:
    endpoint = await create(scenario, receiver.url)
    for _ in range(3):
        await scenario.receive(scenario.dispatched())
    path, seen, cursor = f"{ENDPOINTS}/{endpoint['id']}/deliveries", [], None
    while True:
        query = {"limit": 2, "status": "pending", **({"cursor": cursor} if cursor else {})}
        page = (await scenario.client.get(path, params=query, headers=vendor(scenario))).json()
        seen += [row["id"] for row in page["data"]]
        cursor = page["meta"]["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 3
