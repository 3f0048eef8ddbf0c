"""Failing providers, killed workers and repeated messages: what is sent, and what is recorded."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest
from starlette.responses import JSONResponse

from common.primitives.clock import ManualClock, SystemClock
from contracts.payouts import BankDetailsChanged
from notifications.deliveries.domain.deliveries import ATTEMPTS_MAX, CLAIM_LIFETIME
from notifications.deliveries.streams.delivery_dispatcher import DeliveryDispatcher
from notifications.deliveries.timers import resolve_abandoned_once
from testkit.fixtures import DatabaseFactory, eventually
from testkit.service_kit import OpenService

from ..conftest import OpenScenario, Scenario
from ..providers import Providers
from ..steps import without_random_values


async def resolve_abandoned(scenario: Scenario):
    return await resolve_abandoned_once(scenario.dependencies)


async def attempt_statuses(scenario: Scenario):
    return [attempt["status"] for attempt in await scenario.attempts()]


async def test_a_message_is_retried_until_its_provider_recovers(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with (
        open_scenario(clock=SystemClock(), retry_delays_seconds=(0.1, 0.3, 0.5, 60)) as scenario,
        scenario.running("worker"),
    ):
        await scenario.receive(scenario.buyer())
        providers.sms_faults += [JSONResponse({"message": "down for maintenance"}, 503) for _ in range(2)]
        await scenario.publish(scenario.pin())

        async def sent():
            return await scenario.delivery_statuses() == ["sent"]

        await eventually(sent)
        assert await attempt_statuses(scenario) == ["failed", "failed", "sent"]
        assert len(providers.texts) == 1


async def test_a_message_fails_with_an_alert_after_the_last_retry(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with (
        open_scenario(clock=SystemClock(), retry_delays_seconds=(0.05, 0.1)) as scenario,
        scenario.running("worker"),
    ):
        providers.sms_down = True
        # Called directly: over the broker the PIN could arrive first and use up its short retry ladder.
        await scenario.receive(scenario.buyer())
        await scenario.publish(scenario.pin())
        await eventually(lambda: providers.pages)
        [delivery] = await scenario.deliveries()
        assert delivery["status"] == "failed"
        assert await attempt_statuses(scenario) == ["failed"] * 3
        [alert] = await scenario.fetch("SELECT * FROM alerts")
        assert (alert["severity"], alert["source"]) == ("SEV-2", "notifications")
        assert alert["runbook"] == "notification-not-delivered"
        [(path, page)] = providers.pages
        assert (path, page["dedupKey"]) == ("/on-call/webhook", "delivery-failed:sms:delivery_pin")
        assert [event["status"] for event in await scenario.published("notifications.delivery_settled.v1")] == [
            "failed"
        ]


async def test_a_permanent_rejection_is_not_repeated(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin("042917"))
    providers.sms_faults.append(JSONResponse({"message": "Invalid number for: your PIN is 042917"}, 400))
    await scenario.send_queued()
    [attempt] = await scenario.attempts()
    assert (attempt["status"], attempt["error"]) == ("failed", "400 Invalid number for: your PIN is ***")
    assert await scenario.delivery_statuses() == ["failed"]
    [alert] = await scenario.published("operations.alert_raised.v1")
    assert "042917" not in without_random_values(str(alert))


@pytest.mark.parametrize(("response", "status"), [("550 no such user", "failed"), ("451 come again", "queued")])
async def test_a_mail_error_fails_or_is_retried(
    scenario: Scenario, providers: Providers, response: str, status: str
) -> None:
    await scenario.project_users(phone=None)
    await scenario.receive(scenario.pin())
    providers.mail_faults.append(response)
    await scenario.send_queued()
    assert await scenario.delivery_statuses() == [status]
    assert await attempt_statuses(scenario) == ["failed"]


async def test_an_unavailable_mail_server_is_retried(open_scenario: OpenScenario) -> None:
    async with open_scenario(smtp_url="smtp://127.0.0.1:1") as scenario:
        await scenario.project_users(phone=None)
        await scenario.receive(scenario.pin())
        await scenario.send_queued()
        assert await attempt_statuses(scenario) == ["failed"]
        assert await scenario.delivery_statuses() == ["queued"]


async def test_an_invalid_sms_key_is_retried(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin())
    providers.sms_faults.append(JSONResponse({"message": "Invalid API key"}, 401))
    await scenario.send_queued()
    assert await scenario.delivery_statuses() == ["queued"]


async def cancel_while_sending(scenario: Scenario, providers: Providers):
    """Cancel a worker between the provider's acceptance and the record."""
    providers.hold_sms = asyncio.Event()
    worker = asyncio.create_task(scenario.send_queued())
    await eventually(lambda: providers.texts)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    providers.hold_sms.set()
    providers.hold_sms = None


async def test_a_pin_of_a_dead_worker_is_sent_once_more_after_the_claim(
    scenario: Scenario, providers: Providers, clock: ManualClock
) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin())
    await cancel_while_sending(scenario, providers)
    assert await scenario.send_queued() == 0
    assert await resolve_abandoned(scenario) == 0
    [delivery] = await scenario.deliveries()
    assert (len(providers.texts), delivery["status"], delivery["claimed_at"]) == (1, "queued", clock.now())
    clock.advance(CLAIM_LIFETIME + timedelta(seconds=1))
    assert await resolve_abandoned(scenario) == 1
    assert await resolve_abandoned(scenario) == 0
    await scenario.send_queued()
    assert len(providers.texts) == 2
    assert sorted(await attempt_statuses(scenario)) == ["sent", "unknown"]


async def test_a_sent_message_is_recorded_after_a_database_outage(
    open_scenario: OpenScenario, fresh_database: DatabaseFactory, providers: Providers
) -> None:
    urls = await fresh_database("notifications")
    administrator = await asyncpg.connect(urls.admin)
    async with open_scenario(urls=urls) as scenario:
        await scenario.project_users()
        await scenario.receive(scenario.pin())
        providers.hold_sms = asyncio.Event()
        worker = asyncio.create_task(scenario.send_queued())
        await eventually(lambda: providers.texts)
        await administrator.execute(f'ALTER DATABASE "{urls.name}" CONNECTION LIMIT 0')
        await administrator.execute(
            # Wait until the connections are closed: an open one would still record the result.
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        providers.hold_sms.set()
        finished, _ = await asyncio.wait({worker}, timeout=1)
        assert not finished
        await administrator.execute(f'ALTER DATABASE "{urls.name}" CONNECTION LIMIT -1')
        await administrator.close()
        await worker
        assert (len(providers.texts), await attempt_statuses(scenario)) == (1, ["sent"])


async def test_a_mail_that_is_sent_again_keeps_its_message_id(
    scenario: Scenario, providers: Providers, clock: ManualClock
) -> None:
    await scenario.project_users()
    change = BankDetailsChanged(vendor_id=scenario.vendor_id, last4="1234", bank_code="058")
    await scenario.receive(change)
    await scenario.send_queued()
    [delivery] = [row for row in await scenario.deliveries() if row["channel"] == "email"]
    await scenario.fetch(
        (
            "UPDATE notification_deliveries SET status = 'queued', claim_id = gen_random_uuid(), claimed_at = $1 "
            "RETURNING 1"
        ),
        clock.now() - CLAIM_LIFETIME - timedelta(seconds=1),
    )
    assert await resolve_abandoned(scenario) == 1
    await scenario.send_queued()
    first, second = providers.mails
    assert first["Message-ID"] == second["Message-ID"] == f"<{delivery['notification_id']}@campus.example>"


async def test_a_late_success_prevents_a_second_send(
    scenario: Scenario, providers: Providers, clock: ManualClock
) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin())
    providers.hold_sms = asyncio.Event()
    slow = asyncio.create_task(scenario.send_queued())
    await eventually(lambda: providers.texts)
    clock.advance(CLAIM_LIFETIME + timedelta(seconds=1))
    await resolve_abandoned(scenario)
    providers.hold_sms.set()
    await slow
    await scenario.send_queued()
    assert len(providers.texts) == 1
    assert await scenario.delivery_statuses() == ["sent"]


async def test_twenty_workers_with_the_same_messages_send_each_once(
    scenario: Scenario, providers: Providers, app: OpenService
) -> None:
    await scenario.project_users()
    for _ in range(30):
        assert (await scenario.request_delivery("sms", "order_dispatched")).status_code == 200
        await scenario.receive(BankDetailsChanged(vendor_id=scenario.vendor_id, last4="1234", bank_code="058"))
    sender = app.dependencies.delivery_sender
    workers = [DeliveryDispatcher(sender, {"sms": 2, "email": 2}) for _ in range(20)]
    while any(await asyncio.gather(*(worker.run_once() for worker in workers))):
        pass
    assert (len(providers.texts), len(providers.mails)) == (30, 30)
    assert await attempt_statuses(scenario) == ["sent"] * 60


async def test_a_message_that_kills_its_workers_fails(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    await scenario.receive(scenario.pin())
    await scenario.fetch("UPDATE notification_deliveries SET attempts = $1 RETURNING 1", ATTEMPTS_MAX)
    await scenario.send_queued()
    assert providers.texts == []
    assert await scenario.delivery_statuses() == ["failed"]
    assert len(await scenario.published("operations.alert_raised.v1")) == 1


async def test_an_unknown_key_is_retried_and_a_broken_value_fails(
    open_scenario: OpenScenario, providers: Providers, fresh_database: DatabaseFactory
) -> None:
    urls = await fresh_database("notifications")
    async with open_scenario(urls=urls) as scenario:
        await scenario.project_users()
        await scenario.receive(scenario.pin())
    async with open_scenario(urls=urls, pin_delivery_key="quite another key of PINs") as other:
        await other.send_queued()
        assert await other.delivery_statuses() == ["queued"]
        [attempt] = await other.attempts()
        assert attempt["error"] == "it is encrypted under a key that this process does not have yet"
        assert providers.texts == []
        await other.fetch(
            "UPDATE notification_deliveries SET sealed = jsonb_set(sealed, '{pin,context}', '\"another\"') RETURNING 1"
        )
    async with open_scenario(urls=urls) as full_scenario:
        await full_scenario.retry_queued()
        assert await full_scenario.delivery_statuses() == ["failed"]
        assert [attempt["error"] for attempt in await full_scenario.attempts()][
            -1
        ] == "the encrypted value cannot be decrypted"
    assert providers.texts == []


async def test_an_event_before_its_contact_is_processed_later(
    open_scenario: OpenScenario, providers: Providers
) -> None:
    async with (
        open_scenario(retry_delays_seconds=(0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6)) as scenario,
        scenario.running("worker"),
    ):
        await scenario.publish(scenario.pin())

        async def published():
            return await scenario.fetch("SELECT 1 FROM outbox WHERE published_at IS NOT NULL")

        await eventually(published)
        await scenario.publish(scenario.buyer())
        await eventually(lambda: providers.texts)
