"""A search through everything that a run leaves behind: no PIN and no code, in any form, anywhere."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta

import aio_pika
from starlette.responses import JSONResponse

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from common.process.service import background
from contracts.identity import OneTimeCodeIssued
from contracts.orders import DeliveryPinIssued
from notifications.app import SERVICE
from testkit.fixtures import eventually

from .conftest import without_drawn

PINS = ("042917", "583016", "690244", "318842")
CODE = "770031"
ADDRESS = "+2348039998877"
TOKEN = "token-of-a-phone"


@asynccontextmanager
async def tapped(broker_url):
    """Receives a copy of every event, of every work item, and of every retry."""
    connection = await aio_pika.connect(broker_url)
    channel = await connection.channel()
    heard = []
    tap = await channel.declare_queue(exclusive=True)
    await tap.bind("campus.events", "#")
    await tap.bind("campus.retry", "#")
    await tap.bind("campus.work", "#")

    async def keep(message):
        heard.append(message.body + repr(message.headers).encode())

    await tap.consume(keep, no_ack=True)
    yield heard
    await connection.close()


async def everything_stored(story):
    # What stands in a partition is read through its log.
    tables = await story.service.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
    )
    stored = []
    for table in tables:
        if table["relname"] != "alembic_version":
            stored.extend(row["row"] for row in await story.service.fetch(f"SELECT t::text AS row FROM {table[0]} t"))
    return "\n".join(stored)


async def test_no_pin_and_no_code_stands_readable_in_any_table_log_queue_or_dead_letter(
    open_story, outside, broker_url, every_channel, capfd
):
    delays = (0.05, 0.15)
    # Providers do not rest here: the ladder is to be climbed to its end.
    patient = {"provider_failures_max": 1000, "pin_receipt_seconds": 3600, "retry_delays_seconds": delays}
    async with open_story(**every_channel, **patient) as story:
        service = story.service
        running = [
            asyncio.ensure_future(task) for task in background(SERVICE, service.runtime, service.dependencies, "worker")
        ]
        await eventually(lambda: service.runtime.bus.is_connected)
        async with tapped(broker_url) as heard:
            # One PIN arrives, one is refused by a company that repeats the text, one finds the company down for ever,
            # one is of a buyer whom nobody knows and ends as a dead letter.
            code_id, stranger = new_id(), new_id()
            # One more goes on by the messaging app, which repeats it, by an app and by a browser, which do not take it.
            endpoint = f"{outside.url}/push/web/browser"
            await story.register(story.buyer_id, kind="web", subscription=outside.browser.subscription(endpoint))
            await story.register(story.buyer_id, kind="android", token=TOKEN)
            refusing = JSONResponse({"message": f"Rejected: your PIN is {PINS[1]}"}, 422)
            # Told by hand: over the broker the PIN could be faster, and climb the short ladder to its end.
            await service.hear(story.buyer())
            await say(story, story.pin(PINS[0], issue=1))
            await eventually(lambda: outside.texts)
            outside.sms_faults.append(refusing)
            await say(story, story.pin(PINS[1], issue=2))
            await eventually(lambda: service.published("operations.alert_raised.v1"))
            outside.approved_faults.append(JSONResponse({"error": {"message": f"Bad: {PINS[3]}", "code": 100}}, 400))
            outside.native_faults.append(JSONResponse({"error": {"status": PINS[3]}}, 404))
            outside.browser.faults.append(400)
            await say(story, story.pin(PINS[3], issue=4))

            async def both_recorded():
                sent = "SELECT 1 FROM notification_deliveries WHERE channel = 'sms' AND status = 'sent'"
                return len(await service.fetch(sent)) == 2

            await eventually(both_recorded)
            story.service.runtime.clock.advance(timedelta(hours=2))

            async def gone_on():
                pushes = "SELECT 1 FROM notification_deliveries WHERE channel = 'push' AND status = 'failed'"
                return len(await service.fetch(pushes)) == 2

            await eventually(gone_on)
            outside.sms_down = True
            sealed = story.encryptor.encrypt(PINS[2], str(stranger))
            await say(
                story,
                story.pin(PINS[2], issue=5),
                DeliveryPinIssued(order_id=stranger, buyer_id=stranger, pin_sealed=sealed, issue=1),
                OneTimeCodeIssued(
                    code_id=code_id,
                    purpose="sign_in",
                    channel="sms",
                    address_sealed=story.encryptor.encrypt(ADDRESS, str(code_id)),
                    code_sealed=story.encryptor.encrypt(CODE, str(code_id)),
                ),
            )

            async def all_ended():
                failed = await service.fetch("SELECT 1 FROM notification_deliveries WHERE status = 'failed'")
                letters = await service.fetch("SELECT 1 FROM dead_letters")
                return len(failed) == 6 and len(letters) == 1

            await eventually(all_ended)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        stored, completion, carried = await everything_stored(story), capfd.readouterr(), b"\n".join(heard)
    assert PINS[0] in outside.texts[0]["sms"]
    assert PINS[3] in outside.texts[1]["sms"]
    # The search would find something: these stand there.
    assert "message failed" in completion.out + completion.err
    assert story.order_id.hex in stored or str(story.order_id) in stored
    assert b"pinSealed" in carried
    assert b"x-attempt" in carried
    for place in (stored, completion.out + completion.err, carried.decode()):
        for secret in (*PINS, CODE, ADDRESS, ADDRESS[1:]):
            assert secret not in without_drawn(place)
            assert secret.encode().hex() not in place
    # The token of a device stands in its own row alone.
    assert stored.count(TOKEN) == 1
    assert TOKEN not in completion.out + completion.err
    assert TOKEN.encode() not in carried


async def say(story, *events):
    async with story.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for event in events:
            uow.publish(event)
