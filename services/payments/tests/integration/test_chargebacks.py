"""Chargebacks: frozen when opened, debited when lost, released when won; no money is returned twice."""

import asyncio
import itertools
from datetime import timedelta
from typing import Any

import pytest

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from contracts.orders import DisputeResolved, OrderDisputed, OrderPlaced
from payments.clients.gateway import GatewayUnavailable
from payments.domain.errors import ChargebackContradiction, RefundContradiction, RefundExceedsHeld, SubjectUnknown
from payments.timers import settle_refunds_once
from payments.use_cases.webhooks.dead_letter_webhook import dead_letter_webhook

from .conftest import ConnectAs, PaymentsApp

CREATE, REMIND, RESOLVE = (f"charge.dispute.{post_as}" for post_as in ("create", "remind", "resolve"))
LOST, WON = "merchant-accepted", "declined"
DISPUTED = "payments.charge_disputed.v1"
_numbers = itertools.count(70_000)


async def _paid(app: PaymentsApp, **changes: Any) -> tuple[OrderPlaced, str]:
    """A paid order, and the reference of its charge."""
    placed = await app.paid_order(**changes)
    [row] = await app.service.fetch("SELECT reference FROM charges WHERE order_id = $1", placed.order_id)
    return placed, row["reference"]


def _dispute(
    number: int, event: str, reference: str, amount_minor: int | None = None, **changes: Any
) -> dict[str, Any]:
    data = {
        "id": number,
        "refund_amount": amount_minor,
        "currency": "NGN",
        "status": "resolved" if "resolution" in changes else "awaiting-merchant-feedback",
        "resolution": None,
        "category": "chargeback",
        "transaction": {"reference": reference, "currency": "NGN", "status": "success"},
        **changes,
    }
    return {"event": event, "data": data}


async def _deliver(app: PaymentsApp, placed: OrderPlaced) -> None:
    await app.service.deliver(app.delivered(placed))


async def _request_refund(app: PaymentsApp, placed: OrderPlaced, amount_minor: int) -> Any:
    event = app.refund_requested(placed, amount_minor)
    await app.service.deliver(event)
    return event


async def _chargebacks(app: PaymentsApp) -> list[tuple[str, int, int]]:
    rows = await app.service.fetch("SELECT status, amount_minor, loss_minor FROM chargebacks ORDER BY opened_at, id")
    return [(row["status"], row["amount_minor"], row["loss_minor"]) for row in rows]


async def _refund_status(app: PaymentsApp, refund_id: Any) -> str:
    [row] = await app.service.fetch("SELECT status FROM refunds WHERE id = $1", refund_id)
    return str(row["status"])


async def _process_refunds_again(app: PaymentsApp) -> None:
    await app.requeue()
    await app.service.work("payments.refunds")


async def _release_by_staff(app: PaymentsApp, placed: OrderPlaced, amount_minor: int) -> Any:
    headers = app.service.headers(new_id(), roles=("finance_checker",), stepped_up=True)
    path = f"/api/orders/{placed.order_id}/release"
    return await app.service.client.post(path, headers=headers, json={"amountMinor": amount_minor})


async def test_an_opened_chargeback_is_published_once_and_locks_the_release(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    before = await app.balances()
    number = next(_numbers)
    for event in (CREATE, CREATE, REMIND):
        await app.process_webhook(_dispute(number, event, reference, 500_000))
    [published] = await app.service.published(DISPUTED)
    assert (published["orderId"], published["buyerId"], published["vendorId"]) == tuple(
        str(value) for value in app.parties(placed).values()
    )
    assert published["amountMinor"] == 500_000
    assert "outcome" not in published
    assert (published["vendorMinor"], published["remainingVendorMinor"]) == (456_000, 456_000)
    assert await app.balances() == before
    response = await _release_by_staff(app, placed, 1)
    assert (response.status_code, response.json()["code"]) == (423, "ESCROW_LOCKED")
    alerts = await app.service.published("operations.alert_raised.v1")
    assert {alert["runbook"] for alert in alerts} == {"chargeback"}
    assert len({alert["dedupKey"] for alert in alerts}) == 1
    await app.process_webhook(_dispute(number, RESOLVE, reference, 500_000, resolution=WON))
    assert (await _release_by_staff(app, placed, 1)).status_code == 200
    assert [line.get("outcome") for line in await app.service.published(DISPUTED)] == [None, "won"]
    await app.check_ledger()


async def test_a_lost_chargeback_debits_escrow_or_each_released_part(app: PaymentsApp) -> None:
    held, held_reference = await _paid(app)
    await app.process_webhook(_dispute(next(_numbers), CREATE, held_reference, 500_000))
    [opened] = await app.service.published(DISPUTED)
    number = next(_numbers)
    for _ in range(2):
        await app.process_webhook(_dispute(number, RESOLVE, held_reference, 100_000, resolution=LOST))
    balances = await app.balances()
    assert (balances["gateway_cash"], balances[f"escrow:{held.order_id}"]) == (400_000, -400_000)

    released, reference = await _paid(app)
    await _deliver(app, released)
    before = await app.balances()
    await app.process_webhook(_dispute(next(_numbers), RESOLVE, reference, 250_000, resolution="auto-accepted"))
    after = await app.balances()
    changed = {name: after.get(name, 0) - before.get(name, 0) for name in after | before}
    assert {name: amount for name, amount in changed.items() if amount} == {
        "gateway_cash": -250_000,
        f"vendor_payable:{released.vendor_id}": 228_000,
        "commission": 12_000,
        "delivery_fee": 10_000,
    }
    lost = (await app.service.published(DISPUTED))[-1]
    assert (lost["outcome"], lost["fromVendorMinor"], lost["remainingVendorMinor"]) == ("lost", 228_000, 0)
    assert lost["orderId"] != opened["orderId"]
    [row] = await app.service.fetch("SELECT charged_back_minor FROM escrows WHERE order_id = $1", released.order_id)
    assert row["charged_back_minor"] == 250_000
    types = await app.service.fetch("SELECT count(*) AS times FROM ledger_transactions WHERE type = 'chargeback'")
    assert types[0]["times"] == 2
    await app.check_ledger()


@pytest.mark.parametrize("release_minor", [None, 500_000, 400_000])
async def test_escrow_that_a_won_chargeback_returns_to_a_finished_order_is_released(
    app: PaymentsApp, release_minor: int | None
) -> None:
    placed, reference = await _paid(app)
    number = next(_numbers)
    if release_minor is not None:
        await app.service.deliver(OrderDisputed(**app.parties(placed), reason="bank"))
    await app.process_webhook(_dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    refund_minor = 500_000 - (release_minor or 500_000)
    if release_minor is None:
        await _deliver(app, placed)
    else:
        outcome = {"outcome": "split" if refund_minor else "vendor", "refund_minor": refund_minor}
        await app.service.deliver(DisputeResolved(**app.parties(placed), release_minor=release_minor, **outcome))
    if refund_minor:
        await _request_refund(app, placed, refund_minor)
    for _ in range(2):
        await app.decide_dispute(_dispute(number, RESOLVE, reference, 500_000, resolution=WON))

    balances = await app.balances()
    payable = [amount for account, amount in balances.items() if account.startswith("refund_payable:")]
    assert -sum(payable) == refund_minor
    assert f"escrow:{placed.order_id}" not in balances
    assert -sum(balances[name] for name in (f"vendor_payable:{placed.vendor_id}", "commission", "delivery_fee")) == (
        500_000 - refund_minor
    )
    last = (await app.service.published("payments.escrow_released.v1"))[-1]
    assert (last["grossMinor"], last["remainingMinor"]) == (500_000 - refund_minor, 0)
    await app.check_ledger()


async def test_a_won_chargeback_of_an_unfinished_order_keeps_its_money_in_escrow(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    number = next(_numbers)
    assert (await _release_by_staff(app, placed, 100_000)).status_code == 200
    await app.process_webhook(_dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    await app.decide_dispute(_dispute(number, RESOLVE, reference, 500_000, resolution=WON))
    assert (await app.balances())[f"escrow:{placed.order_id}"] == -400_000
    await app.check_ledger()


async def test_a_decision_before_its_opening_makes_the_opening_stale(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    number = next(_numbers)
    await app.process_webhook(_dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    await app.process_webhook(_dispute(number, CREATE, reference, 500_000))
    assert [line.get("outcome") for line in await app.service.published(DISPUTED)] == [None, "lost"]
    assert await _chargebacks(app) == [("lost", 500_000, 0)]
    assert await app.outcomes() == ["done", "done", "ignored"]
    assert placed.order_id is not None


async def test_concurrent_events_of_one_dispute_have_one_effect(app: PaymentsApp) -> None:
    _, reference = await _paid(app)
    number = next(_numbers)
    bodies = [
        _dispute(number, CREATE, reference, 500_000),
        _dispute(number, REMIND, reference, 500_000),
        _dispute(number, RESOLVE, reference, 500_000, resolution=LOST),
    ]
    await asyncio.gather(*(app.send(body) for body in bodies * 3))
    await asyncio.gather(*(app.service.work("payments.webhooks") for _ in range(3)))
    assert await _chargebacks(app) == [("lost", 500_000, 0)]
    assert (await app.balances()).get("gateway_cash", 0) == 0
    await app.check_ledger()


async def test_a_dispute_before_its_charge_is_processed_by_a_replay(
    app: PaymentsApp,
) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    number = next(_numbers)
    assert (await app.send(_dispute(number, CREATE, intent["reference"], 500_000))).status_code == 200
    with pytest.raises(SubjectUnknown):
        await app.service.work("payments.webhooks", attempt=6, is_last_attempt=True)
    async with app.service.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await dead_letter_webhook(uow, f"{CREATE}:{number}", "SubjectUnknown", 6)
    await app.process_webhook(app.charge(intent["reference"], 500_000))
    [dead_letter] = await app.service.fetch("SELECT id FROM dead_letter_webhooks")
    headers = app.service.headers(new_id(), roles=("ops_oncall",), stepped_up=True)
    response = await app.service.client.post(f"/api/dead-letter-webhooks/{dead_letter['id']}/replay", headers=headers)
    assert response.json()["data"]["requeued"] is True
    await app.service.work("payments.webhooks")
    assert await _chargebacks(app) == [("opened", 500_000, 0)]


async def test_a_dispute_that_contradicts_its_charge_is_not_recorded(app: PaymentsApp) -> None:
    _, reference = await _paid(app)
    for changes in ({"amount_minor": 500_001}, {"amount_minor": 0}, {"amount_minor": 1, "currency": "GHS"}):
        with pytest.raises(ChargebackContradiction):
            await app.process_webhook(_dispute(next(_numbers), CREATE, reference, **changes))
        await app.service.fetch("UPDATE processed_webhook_events SET outcome = 'dead' RETURNING 1")
    assert await _chargebacks(app) == []


async def test_a_pending_refund_is_settled_by_a_lost_chargeback(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    number = next(_numbers)
    await app.process_webhook(_dispute(number, CREATE, reference, 500_000))
    requested = await _request_refund(app, placed, 500_000)
    await app.service.work("payments.refunds")
    assert (await app.gateway.refunds(), await _refund_status(app, requested.refund_id)) == ([], "pending")
    await app.process_webhook(_dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    await app.service.work("payments.refunds")
    assert (await app.gateway.refunds(), await _refund_status(app, requested.refund_id)) == ([], "settled")
    [settled] = await app.service.published("payments.refund_settled.v1")
    assert (settled["refundId"], settled["kind"]) == (str(requested.refund_id), "order")
    assert await app.balances() == {}
    await app.check_ledger()


async def test_a_held_refund_is_reduced_by_a_partial_loss(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    first, second = next(_numbers), next(_numbers)
    await app.process_webhook(_dispute(first, CREATE, reference, 200_000))
    await app.process_webhook(_dispute(second, CREATE, reference, 100_000))
    await _request_refund(app, placed, 500_000)
    await app.service.work("payments.refunds")
    await app.process_webhook(_dispute(first, RESOLVE, reference, 200_000, resolution=LOST))
    await app.service.work("payments.refunds")
    assert await app.gateway.refunds() == []
    await app.process_webhook(_dispute(second, RESOLVE, reference, 100_000, resolution=WON))
    await app.service.work("payments.refunds")
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [300_000]
    assert await app.balances() == {
        "gateway_cash": 300_000,
        **{name: -300_000 for name in await app.balances() if name.startswith("refund_payable:")},
    }


async def test_the_failure_of_a_submitted_refund_reverses_the_loss(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    requested = await _request_refund(app, placed, 500_000)
    await app.service.work("payments.refunds")
    assert await _refund_status(app, requested.refund_id) == "submitted"
    await app.process_webhook(_dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST))
    assert (await app.balances())["chargeback_loss"] == 500_000
    alerts = await app.service.published("operations.alert_raised.v1")
    assert [alert["severity"] for alert in alerts if alert["title"] == "Chargeback lost"] == ["SEV-1"]
    await app.report_refund((await app.gateway.refunds())[0], "failed", reason="closed account")
    # Maker and checker resend it; no call follows, because the bank returned the money meanwhile.
    await app.service.fetch("UPDATE refunds SET status = 'pending' RETURNING 1")
    await _process_refunds_again(app)
    assert len(await app.gateway.refunds()) == 1
    assert await _refund_status(app, requested.refund_id) == "settled"
    assert await app.balances() == {}
    await app.check_ledger()


async def _resent_for_less(app: PaymentsApp) -> str:
    """The id of a refund that failed over 5,000 naira, and was sent again over 3,000: a chargeback returned the rest."""
    placed, reference = await _paid(app)
    requested = await _request_refund(app, placed, 500_000)
    await app.service.work("payments.refunds")
    await app.report_refund((await app.gateway.refunds())[0], "failed")
    await app.process_webhook(_dispute(next(_numbers), RESOLVE, reference, 200_000, resolution=LOST))
    path = f"/api/refunds/{requested.refund_id}"
    await app.post_as(f"{path}/prepare", {"action": "retry", "reason": "the card works again"}, "finance_maker")
    assert (await app.approve(path)).status_code == 200
    await app.service.work("payments.refunds")
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [500_000, 300_000]
    return str(requested.refund_id)


async def test_a_refund_that_is_resent_for_less_is_settled_by_its_webhook(app: PaymentsApp) -> None:
    refund_id = await _resent_for_less(app)
    await app.report_refund((await app.gateway.refunds())[1])
    assert await _refund_status(app, refund_id) == "settled"
    assert await app.balances() == {}
    await app.check_ledger()


async def test_a_webhook_after_the_poll_of_a_refund_that_was_resent_for_less_changes_nothing(app: PaymentsApp) -> None:
    refund_id = await _resent_for_less(app)
    refund = (await app.gateway.refunds())[1]
    await app.gateway.settle_refund(refund, "processed")
    app.clock.advance(timedelta(minutes=2))
    await settle_refunds_once(app.service.dependencies)
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
    placed, reference = await _paid(app)
    requested = await _request_refund(app, placed, 500_000)
    await app.gateway.faults(refund_call={"error_before": 503, "times": 1})
    with pytest.raises(GatewayUnavailable):
        await app.service.work("payments.refunds")
    number = next(_numbers)
    await app.process_webhook(_dispute(number, CREATE, reference, lost_minor))
    app.clock.advance(timedelta(seconds=121))
    await _process_refunds_again(app)
    # Held, like an unsent refund.
    assert (await app.gateway.refunds(), await _refund_status(app, requested.refund_id)) == ([], "pending")
    await app.process_webhook(_dispute(number, RESOLVE, reference, lost_minor, resolution=LOST))
    await app.service.work("payments.refunds")
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [300_000][: lost_minor < 500_000]
    assert (await app.balances()).get("gateway_cash", 0) == 500_000 - lost_minor
    assert "chargeback_loss" not in await app.balances()
    await app.check_ledger()


async def test_a_loss_during_an_unanswered_refund_is_reversed(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    requested = await _request_refund(app, placed, 500_000)
    await app.gateway.faults(refund_call={"error_before": 503, "times": 1})
    with pytest.raises(GatewayUnavailable):
        await app.service.work("payments.refunds")
    # The call may still arrive: the uncovered amount is a loss.
    await app.process_webhook(_dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST))
    assert (await app.balances())["chargeback_loss"] == 500_000
    app.clock.advance(timedelta(seconds=121))
    await _process_refunds_again(app)
    assert (await app.gateway.refunds(), await _refund_status(app, requested.refund_id)) == ([], "settled")
    assert await app.balances() == {}
    await app.check_ledger()


async def test_a_refund_after_a_loss_is_reduced_by_it(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    await app.service.deliver(OrderDisputed(**app.parties(placed), reason="chargeback"))
    await app.process_webhook(_dispute(next(_numbers), RESOLVE, reference, 400_000, resolution=LOST))
    requested = app.refund_requested(placed, 500_000)
    received = await app.service.deliver(requested)
    await app.service.deliver(requested, event_id=received.event_id)
    await app.service.deliver(requested)
    await app.service.work("payments.refunds")
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [100_000]
    [row] = await app.service.fetch("SELECT charged_back_minor, refunded_minor FROM escrows")
    assert (row["charged_back_minor"], row["refunded_minor"]) == (0, 500_000)
    with pytest.raises(RefundExceedsHeld):
        await _request_refund(app, placed, 1)
    await app.check_ledger()


async def test_an_order_without_money_is_released_empty_to_the_vendor(
    app: PaymentsApp,
) -> None:
    placed, reference = await _paid(app)
    await app.service.deliver(OrderDisputed(**app.parties(placed), reason="chargeback"))
    await app.process_webhook(_dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST))
    resolved = DisputeResolved(**app.parties(placed), outcome="vendor", refund_minor=0, release_minor=500_000)
    await app.service.deliver(resolved)
    [released] = await app.service.published("payments.escrow_released.v1")
    assert (released["grossMinor"], released["netMinor"], released["remainingMinor"]) == (0, 0, 0)


async def test_a_delivery_is_released_during_a_chargeback(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    await app.process_webhook(_dispute(next(_numbers), CREATE, reference, 500_000))
    await _deliver(app, placed)
    await _deliver(app, placed)
    [released] = await app.service.published("payments.escrow_released.v1")
    assert released["netMinor"] == 456_000
    other, reference = await _paid(app)
    await app.process_webhook(_dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST))
    await _deliver(app, other)
    await _deliver(app, other)
    published = await app.service.published("payments.escrow_released.v1")
    assert [line["netMinor"] for line in published] == [456_000, 0]
    await app.check_ledger()


async def test_a_reversed_chargeback_restores_the_refund_that_it_settled(
    app: PaymentsApp,
) -> None:
    placed, reference = await _paid(app)
    requested = await _request_refund(app, placed, 200_000)
    # Without an id the transaction identifies the dispute, and each body is its own webhook.
    lost = _dispute(0, RESOLVE, reference, 300_000, resolution=LOST)
    won = _dispute(0, RESOLVE, reference, 300_000, resolution=WON)
    for body in (lost, won):
        del body["data"]["id"]
    await app.process_webhook(lost)
    assert await app.balances() == {"gateway_cash": 200_000, f"escrow:{placed.order_id}": -200_000}
    assert await _refund_status(app, requested.refund_id) == "settled"
    await app.process_webhook(won)
    await app.process_webhook(won)
    balances = await app.balances()
    assert (balances["gateway_cash"], balances[f"escrow:{placed.order_id}"]) == (500_000, -300_000)
    await app.service.work("payments.refunds")
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [200_000]
    await app.check_ledger()
    with pytest.raises(ChargebackContradiction):
        await app.process_webhook({"event": RESOLVE, "data": {**lost["data"], "note": "again"}})


async def test_a_reversed_dispute_follows_the_gateways_response(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    number = next(_numbers)
    lost = _dispute(number, RESOLVE, reference, 300_000, resolution=LOST)
    won = _dispute(number, RESOLVE, reference, 300_000, resolution=WON)
    for _ in range(3):
        await app.process_webhook(lost)
    assert await app.balances() == {"gateway_cash": 200_000, f"escrow:{placed.order_id}": -200_000}
    for _ in range(3):
        await app.process_webhook(won)
    assert await _chargebacks(app) == [("lost", 300_000, 0)], "the revision itself is not processed"
    for _ in range(3):
        await app.decide_dispute(won)
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert await _chargebacks(app) == [("won", 300_000, 0)]
    recorded = await app.service.fetch("SELECT id FROM processed_webhook_events WHERE event_type = $1", RESOLVE)
    assert len([row["id"] for row in recorded if row["id"].startswith("answer:")]) == 1
    assert len(recorded) == 2
    # Late repetitions of the first decision change nothing.
    await app.process_webhook(lost)
    assert await _chargebacks(app) == [("won", 300_000, 0)]


async def test_a_crash_before_the_commit_is_retried(app: PaymentsApp) -> None:
    _, reference = await _paid(app)
    before = await app.balances()
    body = _dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST)
    async with app.crashing("NEW.type = 'operations.alert_raised.v1'"):
        with pytest.raises(Exception, match="crash"):
            await app.process_webhook(body)
        assert (await app.balances(), await _chargebacks(app)) == (before, [])
    await app.requeue("payments.webhooks")
    await app.service.work("payments.webhooks")
    assert await _chargebacks(app) == [("lost", 500_000, 0)]


async def test_a_dispute_of_money_that_pays_no_order_freezes_none(app: PaymentsApp) -> None:
    _, reference = await _paid(app)
    await app.process_webhook(app.charge(reference, 500_000))
    [refund] = await app.service.fetch("SELECT id FROM refunds")
    [second] = await app.service.fetch("SELECT gateway_id FROM charges WHERE verdict = 'second_charge'")
    body = _dispute(next(_numbers), RESOLVE, reference, 500_000, resolution=LOST)
    body["data"]["transaction"]["id"] = int(second["gateway_id"])
    await app.process_webhook(body)
    assert await app.service.published(DISPUTED) == []
    assert await _refund_status(app, refund["id"]) == "settled"
    await app.service.work("payments.refunds")
    assert await app.gateway.refunds() == []
    await app.check_ledger()


async def test_the_api_role_sees_chargebacks_only_with_a_permission_and_can_write_none(
    app: PaymentsApp, connect_as: ConnectAs
) -> None:
    _, reference = await _paid(app)
    await app.process_webhook(_dispute(next(_numbers), CREATE, reference, 500_000))
    async with connect_as(app, "api") as api:
        assert await api.fetch("SELECT id FROM chargebacks") == []
        for statement in ("UPDATE chargebacks SET status = 'won'", "SELECT * FROM chargeback_refunds"):
            with pytest.raises(Exception, match="permission denied"):
                await api.execute(statement)


async def test_finance_and_auditors_find_disputes_by_status_and_order(app: PaymentsApp) -> None:
    placed, reference = await _paid(app)
    number = next(_numbers)
    await app.process_webhook(_dispute(number, CREATE, reference, 400_000))
    for query, total in (
        ("status=opened", 1),
        ("status=lost", 0),
        (f"orderId={placed.order_id}", 1),
        (f"orderId={new_id()}", 0),
    ):
        headers = app.service.headers(new_id(), roles=("auditor",))
        response = (await app.service.client.get(f"/api/chargebacks?{query}", headers=headers)).json()
        assert response["meta"]["total"] == total, query
        if total:
            [line] = response["data"]
            assert (line["disputeId"], line["amountMinor"], line["status"]) == (str(number), 400_000, "opened")
    rejected = await app.service.client.get("/api/chargebacks", headers=app.service.headers(app.buyer))
    assert rejected.status_code == 403


async def test_a_reported_fee_is_posted_once_for_each_charge(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    body = app.charge(intent["reference"], 500_000, fees=7_500)
    await app.process_webhook(body)
    await app.process_webhook(body)
    await app.process_webhook({"event": "charge.success", "data": {**body["data"], "id": None}})
    balances = await app.balances()
    assert (balances["gateway_fees"], balances["gateway_cash"]) == (7_500, 492_500)
    for odd in (None, "7,500", 7.5, True, -1, 0, 500_001, {}):
        other = await app.place_order()
        intent = await app.open_intent(other.order_id)
        await app.process_webhook(app.charge(intent["reference"], 500_000, fees=odd))
        assert await app.order_status(other.order_id) == "paid_escrow"
    assert (await app.balances())["gateway_fees"] == 7_500
    await app.check_ledger()
