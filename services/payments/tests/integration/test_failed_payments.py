"""A declined payment has the gateway's reason; another attempt or a late success still pays (section 7.6)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from common.observability.telemetry import STALE_EVENTS
from contracts.orders import OrderExpired
from payments.domain.errors import SubjectUnknown
from payments.timers import query_unpaid_attempts_once

from .conftest import PaymentsApp

FAILED = "payments.payment_failed.v1"


async def _opened(app: PaymentsApp) -> tuple[Any, dict[str, Any]]:
    placed = await app.place_order()
    return placed, await app.open_intent(placed.order_id)


def _declined(app: PaymentsApp, reference: str, words: str = "Insufficient Funds", **changes: Any) -> dict[str, Any]:
    body = app.charge(reference, 500_000, status="failed", gateway_response=words, paid_at=None, **changes)
    return {"event": "charge.failed", "data": body["data"]}


async def _payments(app: PaymentsApp, **query: Any) -> list[dict[str, Any]]:
    response = await app.client.get("/api/payments", headers=app.headers(app.buyer), params={"order": "asc", **query})
    assert response.status_code == 200, response.text
    listed: list[dict[str, Any]] = response.json()["data"]
    return listed


def _stale() -> float:
    return float(STALE_EVENTS.labels("charge.failed")._value.get())


async def test_a_declined_payment_fails_once_with_the_gateways_reason(app: PaymentsApp) -> None:
    placed, intent = await _opened(app)
    body = _declined(app, intent["reference"], "Insufficient Funds on 5060666666666666666")
    for _ in range(3):
        await app.process_webhook(body)
    await app.process_webhook(_declined(app, intent["reference"], "another id, the same payment"))
    [payment] = await _payments(app)
    assert (payment["status"], payment["failureReason"]) == ("failed", "Insufficient Funds on ...")
    one = await app.client.get(f"/api/payments/{payment['id']}", headers=app.headers(app.buyer))
    assert one.json()["data"] == payment
    [data] = await app.published(FAILED)
    assert data == {
        "orderId": str(placed.order_id),
        "buyerId": str(app.buyer),
        "paymentId": intent["id"],
        "reference": intent["reference"],
        "amountMinor": 500_000,
        "currency": "NGN",
        "failureReason": "Insufficient Funds on ...",
        "reason": "Insufficient Funds on ...",
    }
    assert await app.balances() == {}
    assert await app.order_status(placed.order_id) == "Processing"


async def test_after_a_failure_another_payment_is_opened_under_a_new_reference_and_pays(app: PaymentsApp) -> None:
    placed, intent = await _opened(app)
    key = uuid4()
    await app.process_webhook(_declined(app, intent["reference"]))
    again = (await app.request_intent(placed.order_id, key=key)).json()["data"]
    assert again["id"] != intent["id"]
    assert again["reference"] != intent["reference"]
    assert again["status"] == "pending"
    assert (await app.request_intent(placed.order_id, key=key)).json()["data"] == again
    await app.process_webhook(app.charge(again["reference"], 500_000))
    assert await app.order_status(placed.order_id) == "paid_escrow"
    assert [(row["status"], row["failureReason"]) for row in await _payments(app)] == [
        ("failed", "Insufficient Funds"),
        ("paid", None),
    ]


async def test_a_late_success_of_a_failed_reference_still_pays(app: PaymentsApp) -> None:
    placed, intent = await _opened(app)
    await app.process_webhook(_declined(app, intent["reference"]))
    await app.process_webhook(app.charge(intent["reference"], 500_000))
    assert await app.order_status(placed.order_id) == "paid_escrow"
    [payment] = await _payments(app)
    assert (payment["status"], payment["failureReason"]) == ("paid", None)
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}


async def test_two_paid_attempts_hold_the_order_once_and_refund_the_other(app: PaymentsApp) -> None:
    placed, intent = await _opened(app)
    await app.process_webhook(_declined(app, intent["reference"]))
    again = await app.open_intent(placed.order_id)
    await app.process_webhook(app.charge(again["reference"], 500_000))
    await app.process_webhook(app.charge(intent["reference"], 500_000))
    assert (await app.balances())[f"escrow:{placed.order_id}"] == -500_000
    [refund] = await app.fetch("SELECT kind, amount_minor FROM refunds")
    assert tuple(refund) == ("overpayment", 500_000)
    await app.check_ledger()


async def test_a_failure_after_the_success_is_stale_and_counted(app: PaymentsApp) -> None:
    placed, intent = await _opened(app)
    await app.process_webhook(app.charge(intent["reference"], 500_000))
    before = _stale()
    await app.process_webhook(_declined(app, intent["reference"]))
    assert _stale() - before == 1
    assert [row["status"] for row in await _payments(app)] == ["paid"]
    assert await app.order_status(placed.order_id) == "paid_escrow"
    assert await app.published(FAILED) == []


async def test_a_failure_of_an_ended_order_is_stale(app: PaymentsApp) -> None:
    placed, intent = await _opened(app)
    await app.receive(OrderExpired(order_id=placed.order_id, buyer_id=app.buyer, vendor_id=app.vendor, reason="test"))
    before = _stale()
    await app.process_webhook(_declined(app, intent["reference"]))
    assert _stale() - before == 1
    assert [row["status"] for row in await _payments(app)] == ["closed"]
    assert await app.published(FAILED) == []


async def test_a_failure_and_a_success_at_the_same_moment_keep_the_order_paid(app: PaymentsApp) -> None:
    for _ in range(5):
        placed, intent = await _opened(app)
        await app.send(_declined(app, intent["reference"]))
        await app.send(app.charge(intent["reference"], 500_000))
        await asyncio.gather(*(app.work("payments.webhooks") for _ in range(2)))
        assert await app.order_status(placed.order_id) == "paid_escrow"
        assert (await _payments(app, limit=100))[-1]["status"] == "paid"


async def test_a_failure_of_an_unknown_reference_is_retried_and_at_last_ignored(app: PaymentsApp) -> None:
    body = _declined(app, "ch-" + "b" * 32)
    with pytest.raises(SubjectUnknown):
        await app.process_webhook(body)
    await app.fetch("UPDATE outbox SET published_at = NULL RETURNING 1")
    await app.work("payments.webhooks", attempt=6, is_last_attempt=True)
    assert await app.outcomes() == ["ignored"]


@pytest.mark.parametrize("data", [{}, {"id": 1}, {"id": 2, "reference": 7}, {"id": 3, "reference": "\x00"}, []])
async def test_an_odd_failure_changes_nothing(app: PaymentsApp, data: Any) -> None:
    await app.process_webhook({"event": "charge.failed", "data": data})
    assert await app.outcomes() == ["ignored"]


async def test_a_crash_before_the_commit_keeps_the_payment_pending_and_unpublished(app: PaymentsApp) -> None:
    _, intent = await _opened(app)
    async with app.crashing(f"NEW.type = '{FAILED}'"):
        with pytest.raises(Exception, match="crash"):
            await app.process_webhook(_declined(app, intent["reference"]))
        assert [row["status"] for row in await _payments(app)] == ["pending"]
    await app.fetch("UPDATE outbox SET published_at = NULL WHERE queue IS NOT NULL RETURNING 1")
    await app.work("payments.webhooks")
    assert [row["status"] for row in await _payments(app)] == ["failed"]
    assert len(await app.published(FAILED)) == 1


async def test_another_user_sees_no_failed_payment_and_support_sees_every_one(app: PaymentsApp) -> None:
    _, intent = await _opened(app)
    await app.process_webhook(_declined(app, intent["reference"]))
    other_user = await app.client.get("/api/payments", headers=app.headers(uuid4()))
    assert other_user.json()["data"] == []
    [shown] = await app.get_as("/api/payments", "support_agent")
    assert (shown["status"], shown["failureReason"]) == ("failed", "Insufficient Funds")


async def test_a_decline_without_webhook_is_found_by_verification(
    sandbox_app: tuple[Any, httpx.AsyncClient],
) -> None:
    app, sandbox = sandbox_app
    await sandbox.put("/control/faults", json={"charge_webhook": {"drop": True}})
    _, intent = await _opened(app)
    declined = {"action": "decline", "reason": "Expired card"}
    await sandbox.post(intent["authorizationUrl"], data=declined)
    assert await query_unpaid_attempts_once(app.dependencies) == 0, "its time has not come"
    app.clock.advance(timedelta(seconds=31))
    found = await asyncio.gather(*(query_unpaid_attempts_once(app.dependencies) for _ in range(3)))
    assert sorted(found) == [0, 0, 1], "of several workers one queries"
    await app.work("payments.webhooks")
    [payment] = await _payments(app)
    assert (payment["status"], payment["failureReason"]) == ("failed", "Expired card")
    app.clock.advance(timedelta(minutes=1))
    assert await query_unpaid_attempts_once(app.dependencies) == 0, "the same answer is recorded once"
    # The payer repeats the payment on the same page, and its webhook is lost too.
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    app.clock.advance(timedelta(minutes=2))
    assert await query_unpaid_attempts_once(app.dependencies) == 1
    await app.work("payments.webhooks")
    assert [row["status"] for row in await _payments(app)] == ["paid"]
    app.clock.advance(timedelta(hours=1))
    assert await query_unpaid_attempts_once(app.dependencies) == 0, "a paid one is queried no more"


async def test_a_decline_at_the_sandbox_arrives_as_its_webhook(sandbox_app: tuple[Any, httpx.AsyncClient]) -> None:
    app, sandbox = sandbox_app
    placed, intent = await _opened(app)
    await sandbox.post(intent["authorizationUrl"], data={"action": "decline"})
    await app.webhook("charge.failed")
    assert [row["status"] for row in await _payments(app)] == ["failed"]
    await sandbox.post(intent["authorizationUrl"], data={"action": "pay", "channel": "card"})
    await app.webhook("charge.success")
    assert await app.order_status(placed.order_id) == "paid_escrow"


async def test_an_unavailable_gateway_is_queried_less_often(app: PaymentsApp) -> None:
    _, intent = await _opened(app)
    await app.gateway.decline(intent["reference"], "Insufficient Funds")
    await app.gateway.faults(verify_call={"error_before": 503, "times": 2})
    for _ in range(2):
        app.clock.advance(timedelta(minutes=4))
        assert await query_unpaid_attempts_once(app.dependencies) == 0
    app.clock.advance(timedelta(minutes=8))
    assert await query_unpaid_attempts_once(app.dependencies) == 1
