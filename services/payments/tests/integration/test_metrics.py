"""The gauges equal the tables."""

from datetime import timedelta

import pytest

from payments.metrics import AUDIT_BROKEN, AUDIT_TIMESTAMP_SECONDS, DEAD_WEBHOOKS_WAITING, ESCROW_LIABILITY_MINOR
from payments.timers import update_metrics_once

from .conftest import PaymentsApp
from .steps import BROKEN, audit_body, dead_webhook, replay_dead_webhook, send_audit


async def test_what_is_held_for_orders_is_shown_until_it_is_released(app: PaymentsApp) -> None:
    placed, _ = await app.paid_order(), await app.paid_order(total_minor=300_000)
    await app.place_order(total_minor=900_000)
    await update_metrics_once(app.database)
    assert ESCROW_LIABILITY_MINOR._value.get() == 800_000
    await app.receive(app.delivered(placed))
    await update_metrics_once(app.database)
    assert ESCROW_LIABILITY_MINOR._value.get() == 300_000


async def test_a_webhook_that_was_given_up_is_shown_until_it_is_brought_through(app: PaymentsApp) -> None:
    await update_metrics_once(app.database)
    assert DEAD_WEBHOOKS_WAITING._value.get() == 0
    dead_letter_id = await dead_webhook(app)
    await update_metrics_once(app.database)
    assert DEAD_WEBHOOKS_WAITING._value.get() == 1
    assert (await replay_dead_webhook(app, dead_letter_id)).status_code == 200
    await update_metrics_once(app.database)
    assert DEAD_WEBHOOKS_WAITING._value.get() == 0


async def test_the_latest_audit_is_shown_and_its_time_when_the_gateway_was_compared(app: PaymentsApp) -> None:
    async def gauges() -> tuple[float, float]:
        await update_metrics_once(app.database)
        return AUDIT_BROKEN._value.get(), AUDIT_TIMESTAMP_SECONDS._value.get()

    AUDIT_TIMESTAMP_SECONDS.set(0)
    assert await gauges() == (0, 0)
    # Money without any audit: the time since its first posting counts.
    await app.paid_order()
    assert (await gauges())[1] > 0
    compared_at = app.clock.now()
    assert (await send_audit(app, audit_body(app))).status_code == 200
    assert await gauges() == (0, pytest.approx(compared_at.timestamp(), abs=0.01))
    app.clock.advance(timedelta(hours=1))
    assert (await send_audit(app, audit_body(app, BROKEN, gatewayReason="unreachable"))).status_code == 200
    assert await gauges() == (1, pytest.approx(compared_at.timestamp(), abs=0.01))
