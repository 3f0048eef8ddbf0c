"""No PIN and no code is readable in tables, logs, queues and dead letters."""

from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import aio_pika
import pytest
from starlette.responses import JSONResponse

from common.primitives.ids import new_id
from contracts.orders import DeliveryPinIssued
from testkit.fixtures import eventually

from ..conftest import OpenScenario, Scenario
from ..providers import Providers
from ..steps import code_issued, without_random_values

PINS = ("042917", "583016", "690244", "318842")
CODE = "770031"
ADDRESS = "+2348039998877"
TOKEN = "token-of-a-phone"


@asynccontextmanager
async def captured_messages(broker_url: str):
    """Receives a copy of every event, of every work item, and of every retry."""
    connection = await aio_pika.connect(broker_url)
    channel = await connection.channel()
    captured = []
    tap = await channel.declare_queue(exclusive=True)
    await tap.bind("campus.events", "#")
    await tap.bind("campus.retry", "#")
    await tap.bind("campus.work", "#")

    async def capture(message):
        captured.append(message.body + repr(message.headers).encode())

    await tap.consume(capture, no_ack=True)
    yield captured
    await connection.close()


async def everything_stored(scenario: Scenario):
    tables = await scenario.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND "
        "NOT relispartition"
    )
    stored = []
    for table in tables:
        if table["relname"] != "alembic_version":
            stored.extend(row["row"] for row in await scenario.fetch(f"SELECT t::text AS row FROM {table[0]} t"))
    return "\n".join(stored)


async def test_no_pin_and_no_code_is_readable_anywhere(
    open_scenario: OpenScenario,
    providers: Providers,
    broker_url: str,
    every_channel: dict[str, Any],
    capfd: pytest.CaptureFixture[str],
) -> None:
    delays = (0.05, 0.15)
    # No circuit breaker here: the retry ladder runs to its end.
    limits = {"provider_failures_max": 1000, "pin_receipt_seconds": 3600, "retry_delays_seconds": delays}
    async with open_scenario(**every_channel, **limits) as scenario:
        app = scenario.app
        async with scenario.running("worker"), captured_messages(broker_url) as captured:
            await eventually(lambda: app.runtime.bus.is_connected)
            # The first PIN arrives. The provider rejects the second and repeats its text. The third meets an outage.
            # The PIN of an unknown buyer ends as a dead letter.
            other_user = new_id()
            # The fourth PIN falls back to the messaging app, which repeats its text, and to two devices, which fail.
            endpoint = f"{providers.url}/push/web/browser"
            await scenario.register(
                scenario.buyer_id, kind="web", subscription=providers.browser.subscription(endpoint)
            )
            await scenario.register(scenario.buyer_id, kind="android", token=TOKEN)
            rejection = JSONResponse({"message": f"Rejected: your PIN is {PINS[1]}"}, 422)
            # Delivered directly: over the broker the PIN could overtake it, and use up the short ladder.
            await scenario.receive(scenario.buyer())
            await scenario.publish(scenario.pin(PINS[0], issue=1))
            await eventually(lambda: providers.texts)
            providers.sms_faults.append(rejection)
            await scenario.publish(scenario.pin(PINS[1], issue=2))
            await eventually(lambda: scenario.published("operations.alert_raised.v1"))
            providers.approved_faults.append(JSONResponse({"error": {"message": f"Bad: {PINS[3]}", "code": 100}}, 400))
            providers.native_faults.append(JSONResponse({"error": {"status": PINS[3]}}, 404))
            providers.browser.faults.append(400)
            await scenario.publish(scenario.pin(PINS[3], issue=4))

            async def both_recorded():
                sent = "SELECT 1 FROM notification_deliveries WHERE channel = 'sms' AND status = 'sent'"
                return len(await scenario.fetch(sent)) == 2

            await eventually(both_recorded)
            scenario.clock.advance(timedelta(hours=2))

            async def pushes_failed():
                pushes = "SELECT 1 FROM notification_deliveries WHERE channel = 'push' AND status = 'failed'"
                return len(await scenario.fetch(pushes)) == 2

            await eventually(pushes_failed)
            providers.sms_down = True
            encrypted = scenario.encryptor.encrypt(PINS[2], str(other_user))
            await scenario.publish(
                scenario.pin(PINS[2], issue=5),
                DeliveryPinIssued(order_id=other_user, buyer_id=other_user, pin_sealed=encrypted, issue=1),
                code_issued(scenario.encryptor, "sms", ADDRESS, CODE),
            )

            async def all_failed():
                # The next attempt of the retry ladder is due.
                scenario.clock.advance(timedelta(seconds=1))
                failed = await scenario.fetch("SELECT 1 FROM notification_deliveries WHERE status = 'failed'")
                dead_letters = await scenario.fetch("SELECT 1 FROM dead_letters")
                return len(failed) == 6 and len(dead_letters) == 1

            await eventually(all_failed)
        stored, completion, messages = await everything_stored(scenario), capfd.readouterr(), b"\n".join(captured)
    assert PINS[0] in providers.texts[0]["sms"]
    assert PINS[3] in providers.texts[1]["sms"]
    # The search finds other content of the same run.
    assert "message failed" in completion.out + completion.err
    assert scenario.order_id.hex in stored or str(scenario.order_id) in stored
    assert b"pinSealed" in messages
    assert b"x-attempt" in messages
    for text in (stored, completion.out + completion.err, messages.decode()):
        for secret in (*PINS, CODE, ADDRESS, ADDRESS[1:]):
            assert secret not in without_random_values(text)
            assert secret.encode().hex() not in text
    # Only the row of the device contains its token.
    assert stored.count(TOKEN) == 1
    assert TOKEN not in completion.out + completion.err
    assert TOKEN.encode() not in messages
