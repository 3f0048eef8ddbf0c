"""Refunds that are made in the gateway's dashboard (contract section 7.6)."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from common.primitives.ids import new_id
from operations.audit.invariants import INVARIANTS
from payments.timers import settle_refunds_once
from payments.use_cases.refunds.submit_refund import submit_refund

from .conftest import PaymentsApp
from .disputes import paid

RULES = [line for line in INVARIANTS if line.service == "payments"]
RECORDED = "payments.outside_refund_recorded.v1"


async def _check(app: PaymentsApp) -> None:
    await app.check_ledger()
    for line in RULES:
        assert await app.fetch(line.offending) == [], line.rule
    assert sum((await app.balances()).values()) == 0


async def _refund_outside(app: PaymentsApp, reference: str, amount_minor: int) -> dict[str, Any]:
    refund: dict[str, Any] = await app.gateway.control("POST", f"charges/{reference}/refund", {"amount": amount_minor})
    return refund


def _webhook(refund: dict[str, Any], status: str) -> dict[str, Any]:
    """Paystack's webhook names the transaction and the amount only."""
    data = {
        "status": status,
        "transaction_reference": refund["transaction_reference"],
        "amount": refund["amount"],
        "currency": "NGN",
        "refund_reference": f"bank-{refund['id']}-{status}",
    }
    return {"event": f"refund.{status}", "data": data}


async def _report(app: PaymentsApp, refund: dict[str, Any], outcome: str) -> None:
    if outcome not in ("pending", "processing"):
        await app.gateway.settle_refund(refund, outcome)
    await app.process_webhook(_webhook(refund, outcome))


async def _outside(app: PaymentsApp) -> list[dict[str, Any]]:
    headers = app.headers(uuid4(), roles=("finance_maker",), stepped_up=True)
    response = await app.client.get("/api/refunds?kind=outside", headers=headers)
    assert response.status_code == 200, response.text
    rows: list[dict[str, Any]] = response.json()["data"]
    return rows


async def _alerts(app: PaymentsApp) -> list[dict[str, Any]]:
    alerts = await app.published("operations.alert_raised.v1")
    return [alert for alert in alerts if alert["title"] == "Refund made outside"]


@pytest.mark.parametrize("status", ["pending", "processed"])
async def test_a_refund_made_outside_reduces_what_is_released(app: PaymentsApp, status: str) -> None:
    placed, reference = await paid(app)
    refund = await _refund_outside(app, reference, 200_000)
    await _report(app, refund, status)
    await app.process_webhook(_webhook({**refund, "id": "again"}, status))
    [row] = await _outside(app)
    assert (row["amountMinor"], row["status"]) == (200_000, "settled" if status == "processed" else "submitted")
    [published] = await app.published(RECORDED)
    assert (published["orderId"], published["amountMinor"]) == (str(placed.order_id), 200_000)
    [alert] = await _alerts(app)
    assert (alert["severity"], alert["runbook"]) == ("SEV-2", "outside-refund")
    path = f"/api/orders/{placed.order_id}/release"
    too_much = await app.post_as(path, {"amountMinor": 300_001}, "finance_checker")
    assert (too_much.status_code, too_much.json()["code"]) == (409, "ESCROW_BALANCE_DEFICIT")
    await app.receive(app.delivered(placed))
    [released] = await app.published("payments.escrow_released.v1")
    assert (released["grossMinor"], released["remainingMinor"]) == (300_000, 0)
    await _check(app)


async def test_our_refund_of_the_order_sends_only_what_is_left(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    await _report(app, await _refund_outside(app, reference, 200_000), "processed")
    await app.receive(app.refund_requested(placed, 500_000))
    await app.work("payments.refunds")
    assert sorted(refund["amount"] for refund in await app.gateway.refunds()) == [200_000, 300_000]
    await _check(app)


@pytest.mark.parametrize("outside_minor", [200_000, 500_000])
async def test_a_refund_made_outside_without_a_webhook_is_seen_before_ours_is_sent(
    app: PaymentsApp, outside_minor: int
) -> None:
    placed, reference = await paid(app)
    refund = await _refund_outside(app, reference, outside_minor)
    await app.gateway.settle_refund(refund, "processed")
    await app.receive(app.refund_requested(placed, 500_000))
    await app.work("payments.refunds")
    assert sum(refund["amount"] for refund in await app.gateway.refunds()) == 500_000
    assert len(await _alerts(app)) == 1
    await _check(app)


async def test_a_refund_paid_while_refunds_made_outside_are_listed_is_not_sent_again(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed, reference = await paid(app)
    await _refund_outside(app, reference, 100_000)
    event = app.refund_requested(placed, 200_000)
    await app.receive(event)
    needs, list_refunds = app.dependencies, app.paystack.list_refunds
    note = f"re-{event.refund_id.hex}"
    ours = {"id": 1_000_000, "amount": 200_000, "currency": "NGN", "merchant_note": note}

    async def paid_meanwhile(transaction: str) -> Any:
        monkeypatch.undo()
        listed = await list_refunds(transaction)
        # The webhook of an earlier call, whose response was lost.
        await app.process_webhook({"event": "refund.processed", "data": ours})
        return listed

    monkeypatch.setattr(app.paystack, "list_refunds", paid_meanwhile)
    await submit_refund(needs.database, needs.gateways, app.clock, event.refund_id)
    assert (await app.get_as(f"/api/refunds/{event.refund_id}"))["status"] == "settled"
    assert [refund["amount"] for refund in await app.gateway.refunds()] == [100_000]
    assert len(await _outside(app)) == 1


async def test_a_failed_refund_that_staff_pay_outside_is_settled(app: PaymentsApp) -> None:
    refund_id = await app.failed_refund()
    [row] = await app.fetch("SELECT c.reference FROM refunds r JOIN charges c ON c.id = r.charge_id")
    await _report(app, await _refund_outside(app, row["reference"], 500_000), "processed")
    shown = await app.get_as(f"/api/refunds/{refund_id}")
    assert shown["status"] == "settled"
    assert await app.balances() == {}
    await _check(app)


async def test_another_destination_never_receives_what_was_refunded_outside(app: PaymentsApp) -> None:
    """The failed refund of 100,000, of which 40,000 were refunded outside: the bank account receives the rest."""
    refund_id = await app.failed_refund()
    [row] = await app.fetch("SELECT c.reference FROM refunds r JOIN charges c ON c.id = r.charge_id")
    refund = await _refund_outside(app, row["reference"], 200_000)
    await app.gateway.settle_refund(refund, "processed")
    destination = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Okafor Chidi"}
    body = {"action": "other_destination", "reason": "the card is closed", "destination": destination}
    path = f"/api/refunds/{refund_id}"
    assert (await app.post_as(f"{path}/prepare", body, "finance_maker")).status_code == 200
    assert (await app.approve(path)).status_code == 200
    await app.work("payments.refunds")
    assert [transfer["amount"] for transfer in await app.gateway.transfers()] == [300_000]
    await _check(app)


@pytest.mark.parametrize("status", ["pending", "processing"])
async def test_a_refund_made_outside_that_fails_returns_to_the_order(app: PaymentsApp, status: str) -> None:
    placed, reference = await paid(app)
    refund = await _refund_outside(app, reference, 200_000)
    await _report(app, refund, status)
    await app.gateway.settle_refund(refund, "failed")
    app.clock.advance(timedelta(minutes=2))
    assert await settle_refunds_once(app.dependencies) == 1
    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert [line.get("outcome") for line in await app.published(RECORDED)] == [None, "returned"]
    [row] = await _outside(app)
    assert row["status"] == "failed"
    assert (
        await app.post_as(f"/api/refunds/{row['id']}/prepare", {"action": "retry", "reason": "x"}, "finance_maker")
    ).status_code == 409
    await _check(app)


async def test_an_outside_refund_of_released_money_debits_its_receivers(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    await app.receive(app.delivered(placed))
    await _report(app, await _refund_outside(app, reference, 250_000), "processed")
    [published] = await app.published(RECORDED)
    assert (published["fromVendorMinor"], published["remainingMinor"]) == (228_000, 0)
    balances = await app.balances()
    assert balances[f"vendor_payable:{placed.vendor_id}"] == -228_000
    await _check(app)


async def test_a_maker_and_a_checker_correct_a_refund_made_outside(app: PaymentsApp) -> None:
    placed, reference = await paid(app)
    await _report(app, await _refund_outside(app, reference, 200_000), "processed")
    [row] = await _outside(app)
    path, maker = f"/api/refunds/{row['id']}", new_id()
    prepared = await app.post_as(
        f"{path}/prepare", {"action": "correct", "reason": "a goodwill payment"}, "finance_maker", maker
    )
    assert prepared.status_code == 200, prepared.text
    assert (await app.approve(path, maker)).status_code == 403
    assert (await app.approve(path)).status_code == 200
    balances = await app.balances()
    assert (balances[f"escrow:{placed.order_id}"], balances["chargeback_loss"]) == (-500_000, 200_000)
    again = await app.post_as(f"{path}/prepare", {"action": "correct", "reason": "again"}, "finance_maker", maker)
    assert again.status_code == 409
    await _check(app)
    # The payer has that part already: a later refund of the whole order sends the rest.
    await app.receive(app.refund_requested(placed, 500_000))
    await app.work("payments.refunds")
    assert sum(refund["amount"] for refund in await app.gateway.refunds()) == 500_000
    await _check(app)


async def test_a_failed_or_unknown_refund_of_the_gateway_changes_nothing(app: PaymentsApp) -> None:
    _, reference = await paid(app)
    refund = await _refund_outside(app, reference, 200_000)
    await _report(app, refund, "failed")
    unknown = _webhook({"transaction_reference": "not-ours", "amount": 5, "id": 7}, "processed")
    await app.process_webhook(unknown)
    assert (await _outside(app), await app.outcomes()) == ([], ["done", "ignored", "ignored"])
