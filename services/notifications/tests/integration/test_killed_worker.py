"""The worker as a process of its own, killed with messages in hand: what goes out once more, and what does not.

The steps are reached from outside: providers that hold their answers back, or a lock of the database that the test holds.
"""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from starlette.responses import Response

from common.auth.caller import THE_SERVICE
from common.primitives.clock import ManualClock, SystemClock
from common.primitives.ids import new_id
from notifications.domain.errors import ProviderTimeout
from notifications.templates.examples import example_of
from notifications.timers import resolve_abandoned_once
from notifications.use_cases.deliveries.record_delivery_status import record_delivery_status
from notifications.use_cases.deliveries.send_delivery import send_delivery
from testkit.fixtures import eventually
from testkit.service_kit import BASE_URL, CURSOR_KEY

from .conftest import KEYS, SERVICE_ROLE_KEY

QUEUE = "notifications.deliveries"
IN_HAND = [
    ("email", "order_dispatched"), ("sms", "order_dispatched"), ("messaging", "order_dispatched"),
    ("push", "order_dispatched"), ("sms", "delivery_pin"),
]  # fmt: skip
_RECORDING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%UPDATE notification_delivery_logs%'
"""


async def started_apart(story, urls, broker_url, settings, held_port):
    """`python -m notifications worker` on the test's database, broker and providers."""
    told = {
        **{name.upper(): str(value) for name, value in settings.items()},
        "PORT": str(held_port()), "METRICS_PORT": str(held_port()), "BASE_URL": BASE_URL,
        "JWKS_URL": story.service.settings.jwks_url, "API_DATABASE_URL": urls.api, "SERVICE_DATABASE_URL": urls.service,
        "BROKER_URL": broker_url, "BROKER_VERIFIED_PUBLISHERS": "false",
        "CURSOR_KEY": CURSOR_KEY, "SERVICE_ROLE_KEY": SERVICE_ROLE_KEY,
        **{name.upper(): key for name, key in KEYS.items()},
    }  # fmt: skip
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "notifications", "worker", env={**os.environ, **told}, stdout=asyncio.subprocess.DEVNULL
    )


async def no_session_of(watch, process):
    sessions = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1"
    return not await watch.fetch(sessions, process)


async def take(story):
    """Everything that the worker shall have in hand; each message as the services ask for it."""
    await story.project_people()
    assert (await story.register(story.buyer_id, kind="android", token="a" * 40)).status_code == 201
    for channel, template in IN_HAND:
        await ask_for(story, channel, template)


async def ask_for(story, channel, template):
    body = {
        "notificationId": str(new_id()), "userId": str(story.buyer_id), "channel": channel, "template": template,
        "data": {**example_of(template), "orderId": str(story.order_id), "pin": "042917"},
    }  # fmt: skip
    answer = await story.service.client.post(
        "/functions/v1/deliver-notification", json=body, headers={"Authorization": f"Bearer {SERVICE_ROLE_KEY}"}
    )
    assert answer.status_code == 200, answer.text


def received(outside):
    """How often each provider has what was in hand."""
    pins = sum("042917" in text["sms"] for text in outside.texts)
    return {
        "email": len(outside.mails), "sms": len(outside.texts) - pins, "messaging": len(outside.approved),
        "push": len(outside.native), "pin": pins,
    }  # fmt: skip


@pytest.mark.parametrize("step", ["during the call", "before the record"])
async def test_a_killed_workers_messages_go_out_again_only_where_they_may(
    open_story, every_channel, fresh_database, broker_url, outside, held_port, step
):
    urls = await fresh_database("notifications")
    providers = {
        **every_channel, "sms_api_url": f"{outside.url}/sms", "smtp_url": outside.smtp_url, "messaging_app_secret": "app secret"
    }  # fmt: skip
    outside.hold_answers = asyncio.Event()
    async with open_story(clock=SystemClock(), urls=urls, **providers) as story:
        await take(story)
        watch, lock = await asyncpg.connect(urls.admin), await asyncpg.connect(urls.admin)
        worker = await started_apart(story, urls, broker_url, providers, held_port)
        try:
            await eventually(lambda: set(received(outside).values()) == {1})
            if step == "before the record":
                await lock.execute("BEGIN; LOCK TABLE notification_delivery_logs IN SHARE ROW EXCLUSIVE MODE")
                outside.hold_answers.set()

                async def all_want_to_record():
                    return await watch.fetchval(_RECORDING) == len(IN_HAND)

                await eventually(all_want_to_record)
        finally:
            worker.send_signal(signal.SIGKILL)
            await worker.wait()
            await lock.close()
        outside.hold_answers.set()
        # What its sessions still held is free when they have noticed that it is gone.
        await eventually(lambda: no_session_of(watch, "notifications-worker"))
        await watch.close()
        assert [row["status"] for row in await story.attempts()] == ["sending"] * len(IN_HAND)

        # The messaging app tells of what it took, with our id of it.
        database = story.service.runtime.database
        [told] = [row for row in await story.deliveries() if row["channel"] == "messaging"]
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            assert await record_delivery_status(
                uow, "messaging", "wamid.1", "delivered", datetime.now(UTC), delivery_id=told["id"]
            )
        dependencies = story.service.dependencies
        later = replace(
            dependencies,
            clock=ManualClock(datetime.now(UTC) + timedelta(minutes=5)),
            delivery_sender=replace(dependencies.delivery_sender, reports_statuses=True),
        )
        assert await resolve_abandoned_once(later) == 4
        for row in await story.deliveries():
            await send_delivery(row["id"], dependencies.delivery_sender)

        assert received(outside) == {"email": 1, "sms": 1, "messaging": 1, "push": 2, "pin": 2}
        # The device shows one of the two: the second replaces the first.
        assert len({push["message"]["android"]["notification"]["tag"] for push in outside.native}) == 1
        statuses = {(row["channel"], row["template"]): row["status"] for row in await story.deliveries()}
        assert statuses == {
            ("email", "order_dispatched"): "failed", ("sms", "order_dispatched"): "failed",
            ("messaging", "order_dispatched"): "delivered", ("push", "order_dispatched"): "sent", ("sms", "delivery_pin"): "sent",
        }  # fmt: skip
        alerts = await story.service.published("operations.alert_raised.v1")
        assert {alert["dedupKey"] for alert in alerts} == {
            "delivery-failed:email:order_dispatched", "delivery-failed:sms:order_dispatched"
        }  # fmt: skip


async def test_what_the_messaging_app_did_not_answer_is_known_by_its_status_and_not_sent_again(
    open_story, every_channel, outside
):
    async with open_story(**every_channel, messaging_app_secret="app secret") as story:
        await story.project_people()
        await ask_for(story, "messaging", "order_dispatched")
        # Cut off in the middle of its answer.
        outside.approved_faults.append(Response(status_code=200, headers={"Content-Length": "10"}))
        with pytest.raises(ProviderTimeout):
            await story.service.work(QUEUE)
        [delivery] = await story.deliveries()
        async with story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            now = story.service.runtime.clock.now()
            assert await record_delivery_status(uow, "messaging", "wamid.1", "sent", now, delivery_id=delivery["id"])
        await send_delivery(delivery["id"], story.service.dependencies.delivery_sender)
        assert outside.approved == []
        assert [row["status"] for row in await story.deliveries()] == ["sent"]
