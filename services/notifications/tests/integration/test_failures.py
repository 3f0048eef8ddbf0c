"""Providers fail, workers die, brokers repeat: what a person gets all the same, and what is written down."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import pytest
from starlette.responses import JSONResponse

from common.auth.caller import THE_SERVICE
from common.process.service import background
from contracts.payouts import BankDetailsChanged
from notifications.app import SERVICE
from notifications.domain.deliveries import ATTEMPTS_MAX, CLAIM_LIFETIME
from notifications.domain.errors import ProviderUnavailable
from notifications.timers import resolve_abandoned_once
from notifications.use_cases.deliveries.send_delivery import send_delivery
from testkit.fixtures import eventually

from .conftest import without_drawn

QUEUE = "notifications.deliveries"


@asynccontextmanager
async def working(story):
    """The worker of the service, over the real broker."""
    service = story.service
    running = [
        asyncio.ensure_future(task) for task in background(SERVICE, service.runtime, service.dependencies, "worker")
    ]
    try:
        yield
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def say(story, *events):
    async with story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for event in events:
            uow.publish(event)


async def sweep(story):
    return await resolve_abandoned_once(story.service.dependencies)


async def statuses(story):
    return [attempt["status"] for attempt in await story.attempts()]


async def test_a_provider_that_is_down_and_comes_back_gets_the_message_by_the_ladder(open_story, outside):
    async with open_story(retry_delays_seconds=(0.1, 0.3, 0.5, 60)) as story, working(story):
        await story.service.hear(story.buyer())
        outside.sms_faults += [JSONResponse({"message": "down for maintenance"}, 503) for _ in range(2)]
        await say(story, story.pin())

        async def settled():
            return [row["status"] for row in await story.deliveries()] == ["sent"]

        await eventually(settled)
        assert await statuses(story) == ["failed", "failed", "sent"]
        assert len(outside.texts) == 1


async def test_after_the_last_retry_the_message_is_failed_somebody_is_paged_and_staff_see_it(open_story, outside):
    async with open_story(retry_delays_seconds=(0.05, 0.1)) as story, working(story):
        outside.sms_down = True
        # Told by hand: over the broker the PIN could be faster, and climb the short ladder to its end.
        await story.service.hear(story.buyer())
        await say(story, story.pin())
        await eventually(lambda: outside.pages)
        [delivery] = await story.deliveries()
        assert delivery["status"] == "failed"
        assert await statuses(story) == ["failed"] * 3
        [alert] = await story.service.fetch("SELECT * FROM alerts")
        assert (alert["severity"], alert["source"]) == ("SEV-2", "notifications")
        assert alert["runbook"] == "notification-not-delivered"
        [(path, page)] = outside.pages
        assert (path, page["dedupKey"]) == ("/on-call/webhook", "delivery-failed:sms:delivery_pin")
        assert [said["status"] for said in await story.service.published("notifications.delivery_settled.v1")] == [
            "failed"
        ]


async def test_a_refusal_for_good_is_not_repeated(story, outside):
    await story.project_people()
    await story.service.hear(story.pin("042917"))
    outside.sms_faults.append(JSONResponse({"message": "Invalid number for: your PIN is 042917"}, 400))
    await story.service.work(QUEUE)
    [attempt] = await story.attempts()
    assert (attempt["status"], attempt["error"]) == ("failed", "400 Invalid number for: your PIN is ***")
    assert [row["status"] for row in await story.deliveries()] == ["failed"]
    [alert] = await story.service.published("operations.alert_raised.v1")
    assert "042917" not in without_drawn(str(alert))


@pytest.mark.parametrize(("answer", "status"), [("550 no such user", "failed"), ("451 come again", "queued")])
async def test_a_mail_server_is_believed_for_good_or_asked_again(story, outside, answer, status):
    await story.project_people(phone=None)
    await story.service.hear(story.pin())
    outside.mail_faults.append(answer)
    if status == "queued":
        with pytest.raises(ProviderUnavailable):
            await story.service.work(QUEUE)
    else:
        await story.service.work(QUEUE)
    assert [row["status"] for row in await story.deliveries()] == [status]
    assert await statuses(story) == ["failed"]


async def test_a_mail_server_that_is_away_is_asked_again(open_story):
    async with open_story(smtp_url="smtp://127.0.0.1:1") as story:
        await story.project_people(phone=None)
        await story.service.hear(story.pin())
        with pytest.raises(ProviderUnavailable):
            await story.service.work(QUEUE)
        assert await statuses(story) == ["failed"]


async def test_an_sms_company_that_refuses_our_key_is_asked_again_after_somebody_mended_it(story, outside):
    await story.project_people()
    await story.service.hear(story.pin())
    outside.sms_faults.append(JSONResponse({"message": "Invalid API key"}, 401))
    with pytest.raises(ProviderUnavailable):
        await story.service.work(QUEUE)
    assert [row["status"] for row in await story.deliveries()] == ["queued"]


async def die_while_sending(story, outside):
    """A worker that dies between the provider's acceptance and the record."""
    outside.hold_sms = asyncio.Event()
    worker = asyncio.create_task(story.service.work(QUEUE))
    await eventually(lambda: outside.texts)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    outside.hold_sms.set()
    outside.hold_sms = None


async def test_a_pin_whose_worker_died_while_sending_goes_out_once_more_and_only_after_the_claims_life(story, outside):
    await story.project_people()
    await story.service.hear(story.pin())
    await die_while_sending(story, outside)
    [delivery] = await story.deliveries()
    await send_delivery(delivery["id"], story.service.dependencies.delivery_sender)
    assert await sweep(story) == 0
    assert (len(outside.texts), await statuses(story)) == (1, ["sending"])
    story.service.runtime.clock.advance(CLAIM_LIFETIME + timedelta(seconds=1))
    assert await sweep(story) == 1
    assert await sweep(story) == 0
    await story.service.work(QUEUE)
    assert len(outside.texts) == 2
    assert sorted(await statuses(story)) == ["sent", "unknown"]


async def test_what_a_provider_took_is_written_down_when_the_database_comes_back(open_story, fresh_database, outside):
    urls = await fresh_database("notifications")
    administrator = await asyncpg.connect(urls.admin)
    async with open_story(urls=urls) as story:
        await story.project_people()
        await story.service.hear(story.pin())
        outside.hold_sms = asyncio.Event()
        worker = asyncio.create_task(story.service.work(QUEUE))
        await eventually(lambda: outside.texts)
        await administrator.execute(f'ALTER DATABASE "{urls.name}" CONNECTION LIMIT 0')
        await administrator.execute(
            # Waited for until they are gone: one that lives a moment longer would still take the record.
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        outside.hold_sms.set()
        ended, _ = await asyncio.wait({worker}, timeout=1)
        assert not ended
        await administrator.execute(f'ALTER DATABASE "{urls.name}" CONNECTION LIMIT -1')
        await administrator.close()
        await worker
        assert (len(outside.texts), await statuses(story)) == (1, ["sent"])


async def test_a_mail_that_is_sent_again_keeps_its_message_id(story, outside):
    await story.project_people()
    change = BankDetailsChanged(vendor_id=story.vendor_id, last4="1234", bank_code="058")
    await story.service.hear(change)
    await story.service.work(QUEUE)
    [delivery] = [row for row in await story.deliveries() if row["channel"] == "email"]
    await story.service.fetch(
        "UPDATE notification_deliveries SET status = 'queued', claim_id = gen_random_uuid(), claimed_at = $1 RETURNING 1",
        story.service.runtime.clock.now() - CLAIM_LIFETIME - timedelta(seconds=1),
    )
    await send_delivery(delivery["id"], story.service.dependencies.delivery_sender)
    first, second = outside.mails
    assert first["Message-ID"] == second["Message-ID"] == f"<{delivery['notification_id']}@campus.example>"


async def test_a_slow_claimant_that_succeeds_after_all_leaves_nothing_for_its_successor(story, outside):
    await story.project_people()
    await story.service.hear(story.pin())
    outside.hold_sms = asyncio.Event()
    slow = asyncio.create_task(story.service.work(QUEUE))
    await eventually(lambda: outside.texts)
    story.service.runtime.clock.advance(CLAIM_LIFETIME + timedelta(seconds=1))
    await sweep(story)
    outside.hold_sms.set()
    await slow
    await story.service.work(QUEUE)
    assert len(outside.texts) == 1
    assert [row["status"] for row in await story.deliveries()] == ["sent"]


async def test_twenty_workers_with_the_same_message_send_it_once(story, outside):
    await story.project_people()
    await story.service.hear(story.pin())
    [delivery] = await story.deliveries()
    post = story.service.dependencies.delivery_sender
    await asyncio.gather(*(send_delivery(delivery["id"], post) for _ in range(20)))
    assert len(outside.texts) == 1


async def test_a_message_that_takes_its_workers_down_is_given_up(story, outside):
    await story.project_people()
    await story.service.hear(story.pin())
    await story.service.fetch("UPDATE notification_deliveries SET attempts = $1 RETURNING 1", ATTEMPTS_MAX)
    await story.service.work(QUEUE)
    assert outside.texts == []
    assert [row["status"] for row in await story.deliveries()] == ["failed"]
    assert len(await story.service.published("operations.alert_raised.v1")) == 1


async def test_an_unknown_key_is_tried_again_and_a_broken_text_is_given_up(open_story, outside, fresh_database):
    urls = await fresh_database("notifications")
    async with open_story(urls=urls) as story:
        await story.project_people()
        await story.service.hear(story.pin())
        waiting = await story.deliveries()
    async with open_story(urls=urls, pin_delivery_key="quite another key of PINs") as other:
        with pytest.raises(ProviderUnavailable):
            await send_delivery(waiting[0]["id"], other.service.dependencies.delivery_sender)
        assert [row["status"] for row in await other.deliveries()] == ["queued"]
        [attempt] = await other.attempts()
        assert attempt["error"] == "it is encrypted under a key that this process does not have yet"
        assert outside.texts == []
        await other.service.fetch(
            "UPDATE notification_deliveries SET sealed = jsonb_set(sealed, '{pin,context}', '\"another\"') RETURNING 1"
        )
    async with open_story(urls=urls) as whole:
        await send_delivery(waiting[0]["id"], whole.service.dependencies.delivery_sender)
        assert [row["status"] for row in await whole.deliveries()] == ["failed"]
        assert [attempt["error"] for attempt in await whole.attempts()][-1] == "the encrypted value cannot be decrypted"
    assert outside.texts == []


async def test_news_before_its_subject_is_told_when_the_subject_comes(open_story, outside):
    # Rungs for a minute: the subject is told at some moment of it.
    async with open_story(retry_delays_seconds=(0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6)) as story, working(story):
        await say(story, story.pin())

        async def tried():
            return await story.service.fetch("SELECT 1 FROM outbox WHERE published_at IS NOT NULL")

        await eventually(tried)
        await say(story, story.buyer())
        await eventually(lambda: outside.texts)
