"""Webhooks that are done with leave, and come again without a doubled effect; what is not done stays."""

import json
from typing import Any

from common.primitives.ids import new_id
from contracts.orders import RefundRequested

_AGE = "UPDATE processed_webhook_events SET processed_at = processed_at - make_interval(days => $1) RETURNING id"
_AGE_LETTERS = """
UPDATE dead_letter_webhooks SET failed_at = failed_at - make_interval(days => $1), replayed_at = replayed_at - make_interval(days => $1)
RETURNING id
"""
# What a webhook leaves behind by itself, whatever it says.
_TRACES = {"processed_webhook_events", "outbox"}


async def _ids(story: Any, table: str = "processed_webhook_events") -> list[str]:
    return [row["id"] for row in await story.service.fetch(f"SELECT id FROM {table} ORDER BY id")]


async def test_webhooks_that_were_forgotten_and_come_again_are_answered_200_and_move_nothing(story: Any) -> None:
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    charge = story.charge(intent["reference"], placed.total_minor)
    await story.tell(charge)
    asked = RefundRequested(
        order_id=placed.order_id,
        refund_id=new_id(),
        buyer_id=placed.buyer_id,
        vendor_id=placed.vendor_id,
        amount_minor=100_000,
        reason="dispute",
    )
    await story.service.hear(asked)
    await story.service.work("payments.refunds")
    refund = {"id": story.gateway.refunds[-1]["id"], "amount": 100_000, "currency": "NGN"}
    dispute = {
        "id": 70_001,
        "refund_amount": 200_000,
        "currency": "NGN",
        "status": "resolved",
        "resolution": "merchant-accepted",
        "category": "chargeback",
        "transaction": {"reference": intent["reference"], "currency": "NGN", "status": "success"},
    }
    said = [
        charge,
        {"event": "refund.processed", "data": refund},
        {"event": "charge.dispute.create", "data": {**dispute, "status": "pending", "resolution": None}},
        {"event": "charge.dispute.resolve", "data": dispute},
    ]
    for body in said[1:]:
        await story.tell(body)
    assert await story.outcomes() == ["done"] * 4
    await story.service.fetch_as_owner(_AGE, 91)
    assert await story.service.remove_old() == 4
    assert await _ids(story) == []
    before, spoken = await story.everything(), len(await story.service.fetch("SELECT FROM outbox WHERE queue IS NULL"))
    for body in said:
        assert (await story.send(json.dumps(body).encode())).status_code == 200
    assert await story.service.work("payments.webhooks") == 4
    after = await story.everything()
    assert {name for name in after if after[name] != before[name]} == _TRACES
    assert await story.outcomes() == ["ignored"] * 4
    assert len(await story.service.fetch("SELECT FROM outbox WHERE queue IS NULL")) == spoken
    await story.check_books()


async def test_what_is_young_or_waits_for_work_or_for_people_is_never_removed(story: Any) -> None:
    for number, outcome in enumerate(("queued", "dead", "done", "ignored")):
        await story.send({"event": "subscription.create", "data": {"id": number}})
        await story.service.fetch(
            "UPDATE processed_webhook_events SET outcome = $2 WHERE id = $1 RETURNING id",
            f"subscription.create:{number}",
            outcome,
        )
    await story.service.fetch_as_owner(_AGE, 89)
    assert await story.service.remove_old() == 0
    await story.service.fetch_as_owner(_AGE, 2)
    assert await story.service.remove_old() == 2
    assert await _ids(story) == ["subscription.create:0", "subscription.create:1"]


async def test_a_dead_letter_stays_until_its_replay_had_its_effect_and_is_as_old_as_a_webhook(story: Any) -> None:
    await story.send({"event": "subscription.create", "data": {"id": 1}})
    webhook = "subscription.create:1"
    await story.service.fetch("UPDATE processed_webhook_events SET outcome = 'dead' RETURNING id")
    await story.service.fetch(
        "INSERT INTO dead_letter_webhooks (id, webhook_id, event_type, error, attempts) VALUES ($1, $2, 'e', 'e', 6) "
        "RETURNING id",
        new_id(),
        webhook,
    )
    for statement in (_AGE, _AGE_LETTERS):
        await story.service.fetch_as_owner(statement, 400)
    assert await story.service.remove_old() == 0
    await story.service.fetch("UPDATE dead_letter_webhooks SET replayed_at = now() RETURNING id")
    await story.service.fetch("UPDATE processed_webhook_events SET outcome = 'ignored' RETURNING id")
    assert await story.service.remove_old() == 0
    await story.service.fetch_as_owner(_AGE_LETTERS, 91)
    assert await story.service.remove_old() == 1
    assert await _ids(story) == await _ids(story, "dead_letter_webhooks") == []
