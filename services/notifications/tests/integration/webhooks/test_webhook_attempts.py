"""Attempts to send an event: the ladder, two workers, redirects, addresses and slow endpoints."""

import asyncio
from datetime import datetime, timedelta

import pytest
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from notifications.clients.outbound import OutboundClient
from notifications.clients.outbound_addresses import OutboundRules
from notifications.webhooks import streams as webhook_sender
from notifications.webhooks.clients import BODY_BYTES_MAX, EXCERPT_CHARACTERS_MAX, WebhookClient
from notifications.webhooks.domain.webhooks import LADDER, LEASE
from notifications.webhooks.streams import WebhookSender
from testkit.fixtures import eventually

from ..conftest import Scenario
from .webhook_receiver import Receiver
from .webhook_steps import (
    create,
    deliveries,
    send,
    send_after,
)


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
