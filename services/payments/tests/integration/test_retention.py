"""Processed webhooks expire, and have no second effect when repeated; unprocessed ones stay."""

import json

from common.primitives.ids import new_id

from .conftest import PaymentsApp
from .steps import AGE_DEAD_LETTERS, AGE_WEBHOOKS

# The rows of every webhook, for any content.
_TRACES = {"processed_webhook_events", "outbox"}


async def _ids(app: PaymentsApp, table: str = "processed_webhook_events") -> list[str]:
    return [row["id"] for row in await app.fetch(f"SELECT id FROM {table} ORDER BY id")]


async def test_a_webhook_resent_after_its_retention_gets_200_and_has_no_effect(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    charge = await app.pay(intent["reference"])
    await app.process_webhook(charge)
    requested = app.refund_requested(placed, 100_000)
    await app.receive(requested)
    await app.work("payments.refunds")
    [sent] = await app.gateway.refunds()
    await app.gateway.settle_refund(sent, "processed")
    refund = {"transaction_reference": intent["reference"], "amount": "100000", "currency": "NGN"}
    dispute = {
        "id": 70_001,
        "refund_amount": 200_000,
        "currency": "NGN",
        "status": "resolved",
        "resolution": "merchant-accepted",
        "category": "chargeback",
        "transaction": {"reference": intent["reference"], "currency": "NGN", "status": "success"},
    }
    published = [
        charge,
        {"event": "refund.processed", "data": refund},
        {"event": "charge.dispute.create", "data": {**dispute, "status": "pending", "resolution": None}},
        {"event": "charge.dispute.resolve", "data": dispute},
    ]
    for body in published[1:]:
        await app.process_webhook(body)
    assert await app.outcomes() == ["done"] * 4
    await app.fetch_as_owner(AGE_WEBHOOKS, 91)
    assert await app.remove_old() == 4
    assert await _ids(app) == []
    before, spoken = await app.snapshot(), len(await app.fetch("SELECT FROM outbox WHERE queue IS NULL"))
    for body in published:
        assert (await app.send(json.dumps(body).encode())).status_code == 200
    assert await app.work("payments.webhooks") == 4
    after = await app.snapshot()
    assert {name for name in after if after[name] != before[name]} == _TRACES
    assert await app.outcomes() == ["ignored"] * 4
    assert len(await app.fetch("SELECT FROM outbox WHERE queue IS NULL")) == spoken
    await app.check_ledger()


async def test_young_and_unprocessed_webhooks_are_never_removed(app: PaymentsApp) -> None:
    for number, outcome in enumerate(("queued", "dead", "done", "ignored")):
        await app.send({"event": "subscription.create", "data": {"id": number}})
        await app.fetch(
            "UPDATE processed_webhook_events SET outcome = $2 WHERE id = $1 RETURNING id",
            f"subscription.create:{number}",
            outcome,
        )
    await app.fetch_as_owner(AGE_WEBHOOKS, 89)
    assert await app.remove_old() == 0
    await app.fetch_as_owner(AGE_WEBHOOKS, 2)
    assert await app.remove_old() == 2
    assert await _ids(app) == ["subscription.create:0", "subscription.create:1"]


async def test_a_dead_letter_is_stored_until_its_replay_and_then_as_long_as_a_webhook(app: PaymentsApp) -> None:
    await app.send({"event": "subscription.create", "data": {"id": 1}})
    webhook = "subscription.create:1"
    await app.fetch("UPDATE processed_webhook_events SET outcome = 'dead' RETURNING id")
    await app.fetch(
        "INSERT INTO dead_letter_webhooks (id, webhook_id, event_type, error, attempts) VALUES ($1, $2, 'e', 'e', 6) "
        "RETURNING id",
        new_id(),
        webhook,
    )
    for statement in (AGE_WEBHOOKS, AGE_DEAD_LETTERS):
        await app.fetch_as_owner(statement, 400)
    assert await app.remove_old() == 0
    await app.fetch("UPDATE dead_letter_webhooks SET replayed_at = now() RETURNING id")
    await app.fetch("UPDATE processed_webhook_events SET outcome = 'ignored' RETURNING id")
    assert await app.remove_old() == 0
    await app.fetch_as_owner(AGE_DEAD_LETTERS, 91)
    assert await app.remove_old() == 1
    assert await _ids(app) == await _ids(app, "dead_letter_webhooks") == []
