"""Refunds of a disputed charge: held, reduced or settled by the chargeback, so that no money is returned twice."""

from datetime import timedelta
from typing import Any

import pytest

from contracts.orders import OrderDisputed, OrderPlaced
from payments.clients.gateway import GatewayUnavailable
from payments.domain.errors import RefundContradiction, RefundExceedsHeld
from payments.timers import settle_refunds_once

from .conftest import PaymentsApp
from .disputes import CREATE, LOST, RESOLVE, WON, dispute, numbers, paid

DISPUTED = "payments.charge_disputed.v1"


async def _request_refund(app: PaymentsApp, placed: OrderPlaced, amount_minor: int) -> Any:
    event = app.refund_requested(placed, amount_minor)
    await app.receive(event)
    return event


async def _refund_status(app: PaymentsApp, refund_id: Any) -> str:
    [row] = await app.fetch("SELECT status FROM refunds WHERE id = $1", refund_id)
    return str(row["status"])


async def _process_refunds_again(app: PaymentsApp) -> None:
    await app.requeue()
    await app.work("payments.refunds")


async def test_a_pending_refund_is_settled_by_a_lost_chargeback(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 500_000))
    requested = await _request_refund(app, placed, 500_000)
    await app.work("payments.refunds")
    assert (await app.gateway.refunds(), await _refund_status(app, requested.refund_id)) == ([], "pending")
    await app.process_webhook(dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    await app.work("payments.refunds")
    assert (await app.gateway.refunds(), await _refund_status(app, requested.refund_id)) == ([], "settled")
    [settled] = await app.published("payments.refund_settled.v1")
    assert (settled["refundId"], settled["kind"]) == (str(requested.refund_id), "order")
    assert await app.balances() == {}
    await app.check_ledger()


async def test_a_held_refund_is_reduced_by_a_partial_loss(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    first, second = next(numbers), next(numbers)
    await app.process_webhook(dispute(first, CREATE, reference, 200_000))
    await app.process_webhook(dispute(second, CREATE, reference, 100_000))
    await _request_refund(app, placed, 500_000)
    await app.work("payments.refunds")
    await app.process_webhook(dispute(first, RESOLVE, reference, 200_000, resolution=LOST))
    await app.work("payments.refunds")
    assert await app.gateway.refunds() == []
    await app.process_webhook(dispute(second, RESOLVE, reference, 100_000, resolution=WON))
    await app.work("payments.refunds")
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [300_000]
    assert await app.balances() == {
        "gateway_cash": 300_000,
        **{name: -300_000 for name in await app.balances() if name.startswith("refund_payable:")},
    }


async def test_the_failure_of_a_submitted_refund_reverses_the_loss(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    requested = await _request_refund(app, placed, 500_000)
    await app.work("payments.refunds")
    assert await _refund_status(app, requested.refund_id) == "submitted"
    await app.process_webhook(dispute(next(numbers), RESOLVE, reference, 500_000, resolution=LOST))
    assert (await app.balances())["chargeback_loss"] == 500_000
    alerts = await app.published("operations.alert_raised.v1")
    assert [alert["severity"] for alert in alerts if alert["title"] == "Chargeback lost"] == ["SEV-1"]
    await app.report_refund((await app.gateway.refunds())[0], "failed", reason="closed account")
    # Maker and checker resend it; no call follows, because the bank returned the money in the meantime.
    await app.fetch("UPDATE refunds SET status = 'pending' RETURNING 1")
    await _process_refunds_again(app)
    assert len(await app.gateway.refunds()) == 1
    assert await _refund_status(app, requested.refund_id) == "settled"
    assert await app.balances() == {}
    await app.check_ledger()


async def _resent_for_less(app: PaymentsApp) -> str:
    """Return the id of a refund that failed over 5,000 naira, and was sent again over 3,000: a chargeback returned the
    rest.
    """
    placed, reference = await paid(app)
    requested = await _request_refund(app, placed, 500_000)
    await app.work("payments.refunds")
    await app.report_refund((await app.gateway.refunds())[0], "failed")
    await app.process_webhook(dispute(next(numbers), RESOLVE, reference, 200_000, resolution=LOST))
    path = f"/api/refunds/{requested.refund_id}"
    await app.post_as(f"{path}/prepare", {"action": "retry", "reason": "the card works again"}, "finance_maker")
    assert (await app.approve(path)).status_code == 200
    await app.work("payments.refunds")
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [500_000, 300_000]
    return str(requested.refund_id)


async def test_a_refund_that_is_resent_for_less_is_settled_by_its_webhook(app: PaymentsApp) -> None:
    refund_id = await _resent_for_less(app)
    await app.report_refund((await app.gateway.refunds())[1])
    assert await _refund_status(app, refund_id) == "settled"
    assert await app.balances() == {}
    await app.check_ledger()


async def test_a_webhook_after_the_poll_of_a_refund_resent_for_less_changes_nothing(app: PaymentsApp) -> None:
    refund_id = await _resent_for_less(app)
    refund = (await app.gateway.refunds())[1]
    await app.gateway.settle_refund(refund, "processed")
    app.clock.advance(timedelta(minutes=2))
    await settle_refunds_once(app.dependencies)
    assert await _refund_status(app, refund_id) == "settled"
    await app.report_refund({**refund, "status": "processed"})
    assert await app.balances() == {}


async def test_a_failed_attempt_that_paid_more_than_the_refund_is_now_is_alerted(app: PaymentsApp) -> None:
    refund_id = await _resent_for_less(app)
    with pytest.raises(RefundContradiction):
        await app.report_refund((await app.gateway.refunds())[0])
    assert await _refund_status(app, refund_id) == "submitted"


@pytest.mark.parametrize("lost_minor", [500_000, 200_000])
async def test_an_unanswered_refund_is_reduced_by_a_later_loss(app: PaymentsApp, lost_minor: int) -> None:
    placed, reference = await paid(app)
    requested = await _request_refund(app, placed, 500_000)
    await app.gateway.faults(refund_call={"error_before": 503, "times": 1})
    with pytest.raises(GatewayUnavailable):
        await app.work("payments.refunds")
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, lost_minor))
    app.clock.advance(timedelta(seconds=121))
    await _process_refunds_again(app)
    # Held, like an unsent refund.
    assert (await app.gateway.refunds(), await _refund_status(app, requested.refund_id)) == ([], "pending")
    await app.process_webhook(dispute(number, RESOLVE, reference, lost_minor, resolution=LOST))
    await app.work("payments.refunds")
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [300_000][: lost_minor < 500_000]
    assert (await app.balances()).get("gateway_cash", 0) == 500_000 - lost_minor
    assert "chargeback_loss" not in await app.balances()
    await app.check_ledger()


async def test_a_loss_during_an_unanswered_refund_is_reversed(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    requested = await _request_refund(app, placed, 500_000)
    await app.gateway.faults(refund_call={"error_before": 503, "times": 1})
    with pytest.raises(GatewayUnavailable):
        await app.work("payments.refunds")
    # The call may still arrive: the uncovered amount is a loss.
    await app.process_webhook(dispute(next(numbers), RESOLVE, reference, 500_000, resolution=LOST))
    assert (await app.balances())["chargeback_loss"] == 500_000
    app.clock.advance(timedelta(seconds=121))
    await _process_refunds_again(app)
    assert (await app.gateway.refunds(), await _refund_status(app, requested.refund_id)) == ([], "settled")
    assert await app.balances() == {}
    await app.check_ledger()


async def test_a_refund_after_a_loss_is_reduced_by_it(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    await app.receive(OrderDisputed(**app.parties(placed), reason="chargeback"))
    await app.process_webhook(dispute(next(numbers), RESOLVE, reference, 400_000, resolution=LOST))
    requested = app.refund_requested(placed, 500_000)
    received = await app.receive(requested)
    await app.receive(requested, event_id=received.event_id)
    await app.receive(requested)
    await app.work("payments.refunds")
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [100_000]
    [row] = await app.fetch("SELECT charged_back_minor, refunded_minor FROM escrows")
    assert (row["charged_back_minor"], row["refunded_minor"]) == (0, 500_000)
    with pytest.raises(RefundExceedsHeld):
        await _request_refund(app, placed, 1)
    await app.check_ledger()


async def test_a_reversed_chargeback_restores_the_refund_that_it_settled(
    app: PaymentsApp,
) -> None:
    placed, reference = await paid(app)
    requested = await _request_refund(app, placed, 200_000)
    # Without an id the transaction identifies the dispute, and each body is its own webhook.
    lost = dispute(0, RESOLVE, reference, 300_000, resolution=LOST)
    won = dispute(0, RESOLVE, reference, 300_000, resolution=WON)
    for body in (lost, won):
        del body["data"]["id"]
    await app.process_webhook(lost)
    assert await app.balances() == {"gateway_cash": 200_000, f"escrow:{placed.order_id}": -200_000}
    assert await _refund_status(app, requested.refund_id) == "settled"
    await app.process_webhook(won)
    await app.process_webhook(won)
    balances = await app.balances()
    assert (balances["gateway_cash"], balances[f"escrow:{placed.order_id}"]) == (500_000, -300_000)
    await app.work("payments.refunds")
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [200_000]
    await app.check_ledger()
    # The refund that the first loss replaced is submitted, and the second loss takes escrow only.
    await app.process_webhook({"event": RESOLVE, "data": {**lost["data"], "note": "again"}})
    balances = await app.balances()
    assert (sorted(balances.values()), balances["gateway_cash"]) == ([-200_000, 200_000], 200_000)
    await app.check_ledger()


async def test_a_dispute_of_money_that_pays_no_order_freezes_none(app: PaymentsApp) -> None:
    _, reference = await paid(app)
    await app.process_webhook(app.charge(reference, 500_000))
    [refund] = await app.fetch("SELECT id FROM refunds")
    [second] = await app.fetch("SELECT gateway_id FROM charges WHERE verdict = 'second_charge'")
    body = dispute(next(numbers), RESOLVE, reference, 500_000, resolution=LOST)
    body["data"]["transaction"]["id"] = int(second["gateway_id"])
    await app.process_webhook(body)
    assert await app.published(DISPUTED) == []
    assert await _refund_status(app, refund["id"]) == "settled"
    await app.work("payments.refunds")
    assert await app.gateway.refunds() == []
    await app.check_ledger()
