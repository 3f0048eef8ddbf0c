"""What the gauges of the service show is what its tables hold."""

from typing import Any

from payments.metrics import DEAD_WEBHOOKS_WAITING, ESCROW_LIABILITY_MINOR
from payments.timers import update_metrics_once

from .test_releases import _delivered
from .test_staff_reads import _dead, _replay


async def test_what_is_held_for_orders_is_shown_until_it_is_released(story: Any) -> None:
    placed, _ = await story.paid_order(), await story.paid_order(total_minor=300_000)
    await story.place_order(total_minor=900_000)
    await update_metrics_once(story.service.runtime.database)
    assert ESCROW_LIABILITY_MINOR._value.get() == 800_000
    await story.service.hear(_delivered(placed))
    await update_metrics_once(story.service.runtime.database)
    assert ESCROW_LIABILITY_MINOR._value.get() == 300_000


async def test_a_webhook_that_was_given_up_is_shown_until_it_is_brought_through(story: Any) -> None:
    await update_metrics_once(story.service.runtime.database)
    assert DEAD_WEBHOOKS_WAITING._value.get() == 0
    dead_letter_id = await _dead(story)
    await update_metrics_once(story.service.runtime.database)
    assert DEAD_WEBHOOKS_WAITING._value.get() == 1
    assert (await _replay(story, dead_letter_id)).status_code == 200
    await update_metrics_once(story.service.runtime.database)
    assert DEAD_WEBHOOKS_WAITING._value.get() == 0
