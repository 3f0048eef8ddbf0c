"""Refunds to the payer: decide, call, record; the result of a lost call is queried."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from common.primitives.clock import ManualClock
from contracts.orders import RefundRequested
from payments.clients.gateway import GatewayUnavailable
from payments.domain.errors import RefundContradiction, RefundExceedsHeld, RefundOutcomeUnknown, RefundUnderWay
from payments.timers import settle_refunds_once
from payments.use_cases.refunds.submit_refund import submit_refund

from .conftest import PaymentsApp


async def _refunded(app: PaymentsApp, amount_minor: int = 500_000) -> tuple[Any, RefundRequested]:
    placed = await app.paid_order()
    event = app.refund_requested(placed, amount_minor)
    received = await app.receive(event)
    await app.receive(event, event_id=received.event_id)
    await app.receive(event)
    return placed, event


async def _status(app: PaymentsApp) -> str:
    [row] = await app.fetch("SELECT status FROM refunds")
    return str(row["status"])


async def _requeue(app: PaymentsApp) -> None:
    await app.requeue()


def _refund_event(refund: dict[str, Any], status: str = "processed", **changes: Any) -> dict[str, Any]:
    """Return the gateway's webhook about a refund, which names its transaction only."""
    data = {"transaction_reference": refund["transaction_reference"], "amount": str(refund["amount"]), **changes}
    return {
        "event": f"refund.{status}",
        "data": {"status": status, "refund_reference": None, "currency": "NGN", **data},
    }


async def test_a_refund_is_posted_once_sent_once_and_settled_by_its_webhook(app: PaymentsApp) -> None:
    placed, event = await _refunded(app, 200_000)
    payable = f"refund_payable:{event.refund_id}"
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -300_000, payable: -200_000}
    [published] = await app.published("payments.escrow_refunded.v1")
    assert (published["refundId"], published["amountMinor"], published["fromVendorMinor"]) == (
        str(event.refund_id),
        200_000,
        0,
    )
    assert (published["remainingMinor"], published["remainingVendorMinor"]) == (300_000, 273_600)
    [posted] = await app.fetch("SELECT type FROM ledger_transactions WHERE posting_key = $1", str(event.refund_id))
    assert posted["type"] == "refund"

    assert await app.work("payments.refunds") == 1
    await _requeue(app)
    await app.work("payments.refunds")
    [sent] = await app.gateway.refunds()
    assert (sent["amount"], sent["merchant_note"]) == (200_000, f"re-{event.refund_id.hex}")
    assert await _status(app) == "submitted"

    await app.report_refund(sent)
    assert await app.balances() == {"gateway_cash": 300_000, f"escrow:{placed.order_id}": -300_000}
    [settled] = await app.published("payments.refund_settled.v1")
    assert settled == {
        "refundId": str(event.refund_id),
        "kind": "order",
        "amountMinor": 200_000,
        "orderId": str(placed.order_id),
        "buyerId": str(app.buyer),
    }
    await app.process_webhook(_refund_event(sent, "failed"))
    assert await _status(app) == "settled"
    await app.check_ledger()


async def test_a_failed_refund_stays_payable_with_an_alert(app: PaymentsApp) -> None:
    _, event = await _refunded(app)
    await app.work("payments.refunds")
    [refund] = await app.gateway.refunds()
    await app.gateway.settle_refund(refund, "failed", "bank said no")
    await app.process_webhook(_refund_event(refund, "failed"))
    assert (await app.balances())[f"refund_payable:{event.refund_id}"] == -500_000
    assert len(await app.published("payments.refund_failed.v1")) == 1
    [alert] = await app.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["subject"]) == ("SEV-2", str(event.refund_id))
    assert "bank said no" in alert["detail"]
    assert "order without a number" in alert["detail"]


async def test_a_rejection_by_the_gateway_fails_the_refund(app: PaymentsApp) -> None:
    await _refunded(app)
    await app.gateway.faults(refund_call={"error_before": 400, "times": 1})
    await app.work("payments.refunds")
    assert await _status(app) == "failed"
    assert await app.gateway.refunds() == []


async def test_a_repeated_call_is_waited_for_as_long_as_the_first(app: PaymentsApp) -> None:
    """Otherwise the third attempt could overtake the second, which may still run at the gateway."""
    await _refunded(app)
    for _ in range(2):
        await app.gateway.faults(refund_call={"error_before": 503, "times": 1})
        with pytest.raises(GatewayUnavailable):
            await app.work("payments.refunds")
        await _requeue(app)
        with pytest.raises(RefundOutcomeUnknown):
            await app.work("payments.refunds")
        await _requeue(app)
        app.clock.advance(timedelta(seconds=121))
    await app.work("payments.refunds")
    assert len(await app.gateway.refunds()) == 1
    assert await _status(app) == "submitted"


async def test_a_worker_that_pauses_between_decision_and_call_skips_the_call(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, event = await _refunded(app, 200_000)
    needs = app.dependencies
    list_refunds = app.paystack.list_refunds

    async def listed_long_ago(transaction: str) -> Any:
        listed = await list_refunds(transaction)
        # Another worker processed the message in the meantime, found no refund, and sent it.
        monkeypatch.undo()
        app.clock.advance(timedelta(minutes=3))
        await submit_refund(needs.database, needs.gateways, app.clock, event.refund_id)
        return listed

    monkeypatch.setattr(app.paystack, "list_refunds", listed_long_ago)
    with pytest.raises(RefundOutcomeUnknown):
        await submit_refund(needs.database, needs.gateways, app.clock, event.refund_id)
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [200_000]
    assert await _status(app) == "submitted"


async def test_a_worker_whose_clock_is_ahead_repeats_no_call_that_is_on_its_way(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, event = await _refunded(app, 200_000)
    needs = app.dependencies
    start_refund = app.paystack.start_refund
    ahead = ManualClock(app.clock.now() + timedelta(seconds=90))
    ended: list[Any] = []

    async def on_its_way(**call: Any) -> Any:
        monkeypatch.undo()
        again = submit_refund(needs.database, needs.gateways, ahead, event.refund_id)
        ended.extend(await asyncio.gather(again, return_exceptions=True))
        return await start_refund(**call)

    monkeypatch.setattr(app.paystack, "start_refund", on_its_way)
    await submit_refund(needs.database, needs.gateways, app.clock, event.refund_id)
    assert [type(error) for error in ended] == [RefundUnderWay]
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [200_000]
    assert await _status(app) == "submitted"


async def test_two_workers_repeat_a_call_once(app: PaymentsApp) -> None:
    _, event = await _refunded(app)
    await app.gateway.faults(refund_call={"error_before": True, "times": 1})
    with pytest.raises(GatewayUnavailable):
        await app.work("payments.refunds")
    app.clock.advance(timedelta(seconds=121))
    await app.gateway.faults(list_call={"delay": 0.4}, refund_call={"delay": 0.4})
    needs = app.dependencies
    ended = await asyncio.gather(
        *(submit_refund(needs.database, needs.gateways, app.clock, event.refund_id) for _ in range(5)),
        return_exceptions=True,
    )
    assert len(await app.gateway.refunds()) == 1
    assert all(error is None or isinstance(error, RefundOutcomeUnknown) for error in ended)
    assert await _status(app) == "submitted"


async def test_a_refund_without_a_webhook_is_settled_by_polling(app: PaymentsApp) -> None:
    await _refunded(app)
    await app.work("payments.refunds")
    assert await settle_refunds_once(app.dependencies) == 0
    app.clock.advance(timedelta(minutes=2))
    await app.gateway.settle_refund((await app.gateway.refunds())[0], "processed")
    assert await settle_refunds_once(app.dependencies) == 1
    assert await settle_refunds_once(app.dependencies) == 0
    assert await app.balances() == {}
    assert len(await app.published("payments.refund_settled.v1")) == 1


async def test_the_webhook_may_come_before_our_own_call_has_returned(app: PaymentsApp) -> None:
    _, event = await _refunded(app)
    note = f"re-{event.refund_id.hex}"
    body = {"event": "refund.processed", "data": {"id": 1, "amount": 500_000, "currency": "NGN", "merchant_note": note}}
    await app.process_webhook(body)
    assert await _status(app) == "settled"
    await app.work("payments.refunds")
    assert await app.gateway.refunds() == []


async def test_a_refund_of_another_amount_at_the_gateway_is_retried(app: PaymentsApp) -> None:
    await _refunded(app)
    await app.work("payments.refunds")
    [refund] = await app.gateway.refunds()
    await app.gateway.faults(
        verify_call={"data": {"amount": 1, "status": "processed"}, "match": refund["id"], "times": 1}
    )
    with pytest.raises(RefundContradiction):
        await app.process_webhook(_refund_event(refund))
    assert await _status(app) == "submitted"


async def test_an_event_about_a_refund_of_others_is_ignored(app: PaymentsApp) -> None:
    await _refunded(app)
    await app.work("payments.refunds")
    [refund] = await app.gateway.refunds()
    for changes in ({"transaction_reference": "T-unknown"}, {"amount": "1"}):
        await app.process_webhook(_refund_event(refund, **changes))
    assert (await app.outcomes())[-2:] == ["ignored", "ignored"]
    assert await _status(app) == "submitted"


async def test_more_than_was_held_is_never_refunded(app: PaymentsApp) -> None:
    placed, _ = await _refunded(app, 400_000)
    before = await app.balances()
    event = app.refund_requested(placed, 100_001)
    with pytest.raises(RefundExceedsHeld):
        await app.receive(event)
    assert await app.balances() == before
    assert len(await app.fetch("SELECT * FROM refunds")) == 1


async def test_the_client_reads_balance_and_transactions(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    gateway = app.paystack
    await app.gateway.pay(intent["reference"])
    found = await gateway.find_transaction(intent["reference"])
    assert found.amount_minor == 500_000
    assert await gateway.find_transaction("ch-none") is None
    assert await gateway.balance_minor("NGN") == 500_000
    assert await gateway.balance_minor("GHS") == 0


async def test_a_refund_whose_query_the_gateway_rejects_is_failed_and_alerted(app: PaymentsApp) -> None:
    _, event = await _refunded(app)
    await app.gateway.faults(refund_call={"error_after": True, "times": 1})
    with pytest.raises(GatewayUnavailable):
        await app.work("payments.refunds")
    assert await _status(app) == "submitting"
    await _requeue(app)
    await app.gateway.faults(list_call={"error_before": 400})
    await app.work("payments.refunds")
    assert await _status(app) == "failed"
    alert = (await app.published("operations.alert_raised.v1"))[-1]
    assert (alert["severity"], alert["runbook"], alert["subject"]) == ("SEV-2", "refund-failed", str(event.refund_id))
    # A decision sends it again only after the gateway has confirmed the unanswered call: it was paid.
    await app.gateway.faults(list_call=None)
    path = f"/api/refunds/{event.refund_id}"
    assert (
        await app.post_as(f"{path}/prepare", {"action": "retry", "reason": "ask again"}, "finance_maker")
    ).status_code == 200
    assert (await app.approve(path)).status_code == 200
    with pytest.raises(RefundOutcomeUnknown):
        await app.work("payments.refunds")
    [refund] = await app.gateway.refunds()
    await app.gateway.settle_refund(refund, "processed")
    await _requeue(app)
    await app.work("payments.refunds")
    assert await _status(app) == "settled"
    assert len(await app.gateway.refunds()) == 1
    await app.check_ledger()
