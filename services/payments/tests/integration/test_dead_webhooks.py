"""A webhook of any type may fail at every attempt: it changes nothing, and has its effect once it is replayed."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import asyncpg
import pytest

from payments.clients.paystack_records import KNOWN_EVENTS

from .conftest import PaymentsApp
from .disputes import CREATE, LOST, REMIND, RESOLVE, dispute, numbers, paid
from .steps import exhaust_webhook, replay_dead_webhook

Body = dict[str, Any]
MoveRefund = Callable[[PaymentsApp, Body], Awaitable[None]]


async def _opened(app: PaymentsApp) -> str:
    """Return the reference of an open payment."""
    return str((await app.open_intent((await app.place_order()).order_id))["reference"])


async def _paid(app: PaymentsApp) -> Body:
    return await app.pay(await _opened(app))


async def _declined(app: PaymentsApp) -> Body:
    return await app.gateway.decline(await _opened(app), "Insufficient Funds")


async def _dispute_opened(app: PaymentsApp) -> Body:
    return dispute(next(numbers), CREATE, (await paid(app))[1])


async def _dispute_after_opening(app: PaymentsApp, event: str, **changes: Any) -> Body:
    opened = await _dispute_opened(app)
    await app.process_webhook(opened)
    reference = opened["data"]["transaction"]["reference"]
    return dispute(opened["data"]["id"], event, reference, due_at="2100-01-01T00:00:00.000Z", **changes)


def _refund(status: str, action: str | None = None) -> Callable[[PaymentsApp], Awaitable[Body]]:
    """Return what makes the webhook of a refund that the gateway has moved so."""

    async def body(app: PaymentsApp) -> Body:
        event = app.refund_requested(await app.paid_order(), 500_000)
        await app.receive(event)
        await app.work("payments.refunds")
        refund = (await app.gateway.refunds())[-1]
        if action is not None:
            await app.gateway.control("POST", f"refunds/{refund['id']}/{action}", {"reason": "the card is closed"})
        data = {name: refund[name] for name in ("transaction_reference", "currency")}
        return {"event": f"refund.{status}", "data": {**data, "status": status, "amount": str(refund["amount"])}}

    return body


def _transfer(status: str) -> Callable[[PaymentsApp], Awaitable[Body]]:
    async def body(app: PaymentsApp) -> Body:
        transfer = {"id": 77, "reference": "po-" + "1" * 32, "amount": 120_000, "currency": "NGN", "status": status}
        return {"event": f"transfer.{status}", "data": transfer}

    return body


BODIES: Mapping[str, Callable[[PaymentsApp], Awaitable[Body]]] = {
    "charge.success": _paid,
    "charge.failed": _declined,
    CREATE: _dispute_opened,
    REMIND: lambda app: _dispute_after_opening(app, REMIND),
    RESOLVE: lambda app: _dispute_after_opening(app, RESOLVE, resolution=LOST),
    "refund.pending": _refund("pending"),
    "refund.processing": _refund("processing"),
    "refund.processed": _refund("processed", "process"),
    "refund.failed": _refund("failed", "fail"),
    "refund.needs-attention": _refund("needs-attention", "attention"),
    **{f"transfer.{status}": _transfer(status) for status in ("success", "failed", "reversed")},
}
OUTCOME = "SELECT outcome FROM processed_webhook_events WHERE event_type = $1"
# The refund is as it was: the gateway has accepted it already.
UNCHANGED = {"refund.pending", "refund.processing"}


def test_each_type_of_a_webhook_has_its_case() -> None:
    assert BODIES.keys() == KNOWN_EVENTS


@pytest.mark.parametrize("event_type", sorted(BODIES))
async def test_a_dead_webhook_changes_nothing_and_its_replay_has_the_effect_once(
    app: PaymentsApp, event_type: str
) -> None:
    body = await BODIES[event_type](app)
    before = await app.balances(), len(await app.fetch("SELECT 1 FROM outbox WHERE queue IS NULL"))
    async with app.crashing("NEW.outcome <> 'dead'", operation="UPDATE", table="processed_webhook_events"):
        with pytest.raises(asyncpg.RaiseError):
            await app.process_webhook(body, is_last_attempt=True)
    assert (await app.balances(), len(await app.fetch("SELECT 1 FROM outbox WHERE queue IS NULL"))) == before
    dead_letter_id = await exhaust_webhook(app, "crash")
    assert (await replay_dead_webhook(app, dead_letter_id)).status_code == 200
    assert await app.work("payments.webhooks") == 1
    [processed] = await app.fetch(OUTCOME, event_type)
    assert processed["outcome"] == ("ignored" if event_type in UNCHANGED else "done")
    [alert], [cleared] = [
        [one for one in await app.published(f"operations.alert_{word}.v1") if "webhook" in one["dedupKey"]]
        for word in ("raised", "cleared")
    ]
    assert cleared["dedupKey"] == alert["dedupKey"]
    assert (await replay_dead_webhook(app, dead_letter_id)).json()["data"]["requeued"] is False
    after = await app.snapshot()
    await app.process_webhook(body)
    assert await app.snapshot() == after
    await app.check_ledger()


async def test_a_reminder_after_the_decision_changes_nothing(app: PaymentsApp) -> None:
    resolved = await _dispute_after_opening(app, RESOLVE, resolution=LOST)
    await app.process_webhook(resolved)
    before = await app.balances()
    reference = resolved["data"]["transaction"]["reference"]
    await app.process_webhook(dispute(resolved["data"]["id"], REMIND, reference))
    assert [row["outcome"] for row in await app.fetch(OUTCOME, REMIND)] == ["ignored"]
    assert await app.balances() == before


async def test_a_request_for_an_account_after_the_payment_changes_nothing(app: PaymentsApp) -> None:
    paid_out = await _refund("processed", "process")(app)
    await app.process_webhook(paid_out)
    assert await app.balances() == {}
    requested = {**paid_out["data"], "status": "needs-attention"}
    await app.process_webhook({"event": "refund.needs-attention", "data": requested})
    rows = await app.fetch(OUTCOME, "refund.needs-attention")
    assert [row["outcome"] for row in rows] == ["ignored"]
    assert await app.balances() == {}
