"""A killed worker process with claimed deliveries: which of them are sent again.

The tests stop it at a step by unanswered provider calls or by a database lock.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from starlette.responses import Response

from common.primitives.clock import ManualClock, SystemClock
from notifications.deliveries.domain.channels import CHANNELS
from notifications.deliveries.streams.delivery_dispatcher import DeliveryDispatcher
from notifications.deliveries.templates.examples import example_of
from notifications.deliveries.timers import resolve_abandoned_once
from notifications.deliveries.use_cases.deliveries.record_delivery_status import StatusReport, record_delivery_status
from testkit.fixtures import DatabaseFactory, eventually
from testkit.service_kit import BASE_URL, CURSOR_KEY

from ..conftest import KEYS, SERVICE_ROLE_KEY, OpenScenario, Scenario
from ..providers import Providers

CLAIMED = [
    ("email", "order_dispatched"), ("sms", "order_dispatched"), ("messaging", "order_dispatched"),
    ("push", "order_dispatched"), ("sms", "delivery_pin"),
]  # fmt: skip
_RECORDING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND query LIKE '%INSERT INTO notification_delivery_logs%'
"""


async def start_worker(scenario: Scenario, urls, broker_url: str, settings, held_port: Callable[[], int]):
    """`python -m notifications worker` on the test's database, broker and providers."""
    environment = {
        **{name.upper(): str(value) for name, value in settings.items()},
        "PORT": str(held_port()), "METRICS_PORT": str(held_port()), "BASE_URL": BASE_URL,
        "JWKS_URL": scenario.settings.jwks_url, "API_DATABASE_URL": urls.api, "SERVICE_DATABASE_URL": urls.service,
        "BROKER_URL": broker_url, "BROKER_VERIFIED_PUBLISHERS": "false",
        "CURSOR_KEY": CURSOR_KEY, "SERVICE_ROLE_KEY": SERVICE_ROLE_KEY,
        **{name.upper(): key for name, key in KEYS.items()},
    }  # fmt: skip
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "notifications",
        "worker",
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.DEVNULL,
    )


async def no_session_of(watch, process):
    sessions = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1"
    return not await watch.fetch(sessions, process)


async def queue_messages(scenario: Scenario):
    """Queue one delivery of each kind that the worker claims."""
    await scenario.project_users()
    assert (await scenario.register(scenario.buyer_id, kind="android", token="a" * 40)).status_code == 201
    for channel, template in CLAIMED:
        await request_delivery(scenario, channel, template)


async def request_delivery(scenario: Scenario, channel: str, template: str) -> None:
    data = {**example_of(template), "orderId": str(scenario.order_id), "pin": "042917"}
    response = await scenario.request_delivery(channel, template, data)
    assert response.status_code == 200, response.text


def received(providers: Providers):
    """Return the number of claimed deliveries that each provider received."""
    pins = sum("042917" in text["sms"] for text in providers.texts)
    return {
        "email": len(providers.mails), "sms": len(providers.texts) - pins, "messaging": len(providers.approved),
        "push": len(providers.native), "pin": pins,
    }  # fmt: skip


@pytest.mark.parametrize("step", ["during the call", "before the record"])
async def test_messages_of_a_killed_worker_are_resent_only_where_harmless(
    open_scenario: OpenScenario,
    every_channel: dict[str, Any],
    fresh_database: DatabaseFactory,
    broker_url: str,
    providers: Providers,
    held_port: Callable[[], int],
    step: str,
) -> None:
    urls = await fresh_database("notifications")
    settings = {
        **every_channel, "sms_api_url": f"{providers.url}/sms", "smtp_url": providers.smtp_url,
        "messaging_app_secret": "app secret"
    }  # fmt: skip
    providers.hold_responses = asyncio.Event()
    async with open_scenario(clock=SystemClock(), urls=urls, **settings) as scenario:
        await queue_messages(scenario)
        watch, lock = await asyncpg.connect(urls.admin), await asyncpg.connect(urls.admin)
        worker = await start_worker(scenario, urls, broker_url, settings, held_port)
        try:
            await eventually(lambda: set(received(providers).values()) == {1})
            if step == "before the record":
                await lock.execute("BEGIN; LOCK TABLE notification_delivery_logs IN SHARE ROW EXCLUSIVE MODE")
                providers.hold_responses.set()

                async def is_recording():
                    return await watch.fetchval(_RECORDING) > 0

                await eventually(is_recording)
        finally:
            worker.send_signal(signal.SIGKILL)
            await worker.wait()
            await lock.close()
        providers.hold_responses.set()
        # The database releases the locks when it has closed the sessions.
        await eventually(lambda: no_session_of(watch, "notifications-worker"))
        await watch.close()
        assert await scenario.attempts() == []
        claims = [(row["status"], row["claim_id"] is not None) for row in await scenario.deliveries()]
        assert claims == [("queued", True)] * len(CLAIMED)

        # The messaging app reports a status with the id of our delivery.
        [delivery] = [row for row in await scenario.deliveries() if row["channel"] == "messaging"]
        async with scenario.unit_of_work() as uow:
            report = StatusReport("messaging", "wamid.1", "delivered", datetime.now(UTC), delivery_id=delivery["id"])
            assert await record_delivery_status(uow, report)
        dependencies = scenario.dependencies
        later = replace(
            dependencies,
            clock=ManualClock(datetime.now(UTC) + timedelta(minutes=5)),
            delivery_sender=replace(dependencies.delivery_sender, reports_statuses=True),
        )
        assert await resolve_abandoned_once(later) == 4
        sender = replace(later.delivery_sender, clock=later.clock)
        await DeliveryDispatcher(sender, dict.fromkeys(CHANNELS, len(CLAIMED))).run_once()

        assert received(providers) == {"email": 1, "sms": 1, "messaging": 1, "push": 2, "pin": 2}
        # The second push replaces the first on the device.
        assert len({push["message"]["android"]["notification"]["tag"] for push in providers.native}) == 1
        statuses = {(row["channel"], row["template"]): row["status"] for row in await scenario.deliveries()}
        assert statuses == {
            ("email", "order_dispatched"): "failed", ("sms", "order_dispatched"): "failed",
            ("messaging", "order_dispatched"): "delivered", ("push", "order_dispatched"): "sent",
                ("sms", "delivery_pin"): "sent",
        }  # fmt: skip
        alerts = await scenario.published("operations.alert_raised.v1")
        assert {alert["dedupKey"] for alert in alerts} == {
            "delivery-failed:email:order_dispatched", "delivery-failed:sms:order_dispatched"
        }  # fmt: skip


async def test_an_unanswered_message_with_a_status_is_not_sent_again(
    open_scenario: OpenScenario, every_channel: dict[str, Any], providers: Providers
) -> None:
    async with open_scenario(**every_channel, messaging_app_secret="app secret") as scenario:
        await scenario.project_users()
        await request_delivery(scenario, "messaging", "order_dispatched")
        # The connection ends in the middle of the response.
        providers.approved_faults.append(Response(status_code=200, headers={"Content-Length": "10"}))
        await scenario.send_queued()
        [delivery] = await scenario.deliveries()
        async with scenario.unit_of_work() as uow:
            now = scenario.clock.now()
            report = StatusReport("messaging", "wamid.1", "sent", now, delivery_id=delivery["id"])
            assert await record_delivery_status(uow, report)
        await scenario.retry_queued()
        assert providers.approved == []
        assert await scenario.delivery_statuses() == ["sent"]
