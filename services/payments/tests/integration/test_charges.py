"""Charges, from the signed bytes to the ledger."""

import asyncio
from typing import Any

import asyncpg
import pytest

from common.messaging.messages import Received
from common.primitives.ids import new_id
from contracts.orders import OrderCancelled, OrderExpired
from payments.consumers import WebhookWork, on_webhook_queued
from payments.domain.errors import SubjectUnknown

from .conftest import PaymentsApp


async def test_a_charge_of_the_exact_total_holds_the_escrow(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)

    await app.process_webhook(app.charge(intent["reference"], 500_000))

    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert await app.order_status(placed.order_id) == "paid_escrow"
    assert await app.outcomes() == ["done"]
    [held] = await app.published("payments.escrow_held.v1")
    assert held == {
        "orderId": str(placed.order_id),
        "buyerId": str(app.buyer),
        "vendorId": str(app.vendor),
        "amountMinor": 500_000,
        "commissionMinor": 24_000,
        "deliveryFeeMinor": 20_000,
        "reference": intent["reference"],
        "heldAt": "2026-01-01T00:00:00.000Z",
    }
    await app.check_ledger()


async def _intended(app: PaymentsApp) -> tuple[Any, str]:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    return placed, intent["reference"]


async def test_what_does_not_pay_is_quarantined_and_the_order_stays_untouched(app: PaymentsApp) -> None:
    cases = {
        "underpaid": {"amount": 499_999},
        "kobo for naira": {"amount": 5_000},
        "foreign": {"currency": "GHS"},
        "mismatch": {"metadata": {"orderId": "018cc251-f400-7000-8000-000000000002"}},
    }
    reasons = ["underpaid", "underpaid", "foreign_currency", "order_mismatch"]
    for changes, reason in zip(cases.values(), reasons, strict=True):
        placed, reference = await _intended(app)
        data = {"amount": 500_000, **changes}
        await app.process_webhook(app.charge(reference, data.pop("amount"), **data))
        assert await app.order_status(placed.order_id) == "Processing"
        quarantined = (await app.published("payments.charge_quarantined.v1"))[-1]
        assert (quarantined["reason"], quarantined["reference"]) == (reason, reference)
        assert quarantined["orderId"] == str(placed.order_id)
        again = await app.open_intent(placed.order_id)
        assert again["reference"] != reference, "the spent transaction is not offered again"
    assert await app.published("payments.escrow_held.v1") == []
    assert await app.fetch("SELECT * FROM escrows") == []
    balances = await app.balances()
    assert balances["gateway_cash"] == 499_999 + 5_000 + 500_000
    assert balances["gateway_cash:GHS"] == 500_000
    assert sum(balances.values()) == 0
    await app.check_ledger()


async def test_the_second_charge_of_an_order_is_refunded(app: PaymentsApp) -> None:
    placed, references = await app.two_transactions()
    for reference in references:
        await app.process_webhook(await app.pay(reference))

    [refund] = await app.fetch("SELECT * FROM refunds")
    assert (refund["kind"], refund["amount_minor"], refund["status"]) == ("overpayment", 500_000, "pending")
    assert await app.balances() == {
        "gateway_cash": 1_000_000,
        f"escrow:{placed.order_id}": -500_000,
        f"refund_payable:{refund['id']}": -500_000,
    }
    assert await app.work("payments.refunds") == 1
    [sent] = await app.gateway.refunds()
    assert (sent["amount"], sent["transaction_reference"]) == (500_000, references[1])
    assert len(await app.published("payments.escrow_held.v1")) == 1


async def test_a_surplus_is_refunded_and_a_surcharge_is_not(app: PaymentsApp) -> None:
    placed, reference = await _intended(app)
    await app.process_webhook(await app.pay(reference, 500_300, metadata={}))
    [refund] = await app.fetch("SELECT * FROM refunds")
    assert await app.balances() == {
        "gateway_cash": 500_300,
        f"escrow:{placed.order_id}": -500_000,
        f"refund_payable:{refund['id']}": -300,
    }
    _, reference = await _intended(app)
    body = await app.pay(reference, 507_500)
    assert body["data"]["metadata"]["settlement"] == "500000"
    await app.process_webhook(body)
    assert (await app.balances())["charge_surcharge"] == -7_500
    assert len(await app.fetch("SELECT * FROM refunds")) == 1
    await app.check_ledger()


async def test_a_surcharge_above_its_bound_is_refunded(app: PaymentsApp) -> None:
    """10,000,000 kobo for an order of 500,000, with a forged settlement in the metadata (contract section 7.4)."""
    for amount, recorded in ((520_000, 20_000), (520_001, 0), (10_000_000, 0)):
        placed, reference = await _intended(app)
        before = (await app.balances()).get("charge_surcharge", 0)
        body = await app.pay(reference, amount)
        for _ in range(2):
            await app.process_webhook(body)
        balances = await app.balances()
        assert before - balances.get("charge_surcharge", 0) == recorded
        assert balances[f"escrow:{placed.order_id}"] == -500_000
        refunds = await app.fetch("SELECT amount_minor FROM refunds WHERE order_id = $1", placed.order_id)
        assert [row["amount_minor"] for row in refunds] == ([] if recorded else [amount - 500_000])
        [charge] = await app.fetch("SELECT * FROM charges WHERE order_id = $1", placed.order_id)
        assert (charge["surcharge_minor"], charge["surcharge_max_minor"]) == (recorded, 20_000)
    await app.work("payments.refunds")
    assert sorted(refund["amount"] for refund in await app.gateway.refunds()) == [20_001, 9_500_000]
    await app.check_ledger()


async def test_a_late_charge_of_an_expired_order_is_bounded_alike(app: PaymentsApp) -> None:
    placed, reference = await _intended(app)
    ended = {"order_id": placed.order_id, "buyer_id": app.buyer, "vendor_id": app.vendor, "reason": "test"}
    await app.receive(OrderExpired(**ended))
    await app.process_webhook(await app.pay(reference, 900_000))
    [refund] = await app.fetch("SELECT * FROM refunds")
    assert await app.balances() == {
        "gateway_cash": 900_000,
        f"escrow:{placed.order_id}": -500_000,
        f"refund_payable:{refund['id']}": -400_000,
    }


async def test_the_database_rejects_a_surcharge_above_its_bound(app: PaymentsApp) -> None:
    await app.paid_order()
    async with app.connected() as owner:
        with pytest.raises(asyncpg.CheckViolationError, match="charges_surcharge_within_bound"):
            await owner.execute("UPDATE charges SET surcharge_minor = surcharge_max_minor + 1")


async def test_one_charge_under_two_webhook_keys_has_one_effect(app: PaymentsApp) -> None:
    placed, reference = await _intended(app)
    await app.process_webhook(app.charge(reference, 500_000))
    without_id = app.charge(reference, 500_000)
    del without_id["data"]["id"]
    await app.process_webhook(without_id)

    assert await app.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert sorted(await app.outcomes()) == ["done", "ignored"]


async def test_a_charge_pays_an_order_that_was_cancelled_or_expired_meanwhile(app: PaymentsApp) -> None:
    for event in (OrderCancelled, OrderExpired):
        placed, reference = await _intended(app)
        ended = event(order_id=placed.order_id, buyer_id=app.buyer, vendor_id=app.vendor, reason="test")
        await app.receive(ended)
        await app.process_webhook(app.charge(reference, 500_000))
        assert await app.order_status(placed.order_id) == "paid_escrow"
        await app.receive(ended)
        assert await app.order_status(placed.order_id) == "paid_escrow"


async def test_an_unknown_reference_is_quarantined_at_the_last_attempt(
    app: PaymentsApp,
) -> None:
    body = app.charge("ch-" + "a" * 32, 500_000)
    with pytest.raises(SubjectUnknown):
        await app.process_webhook(body)
    assert (await app.outcomes(), await app.balances()) == (["queued"], {})
    await app.fetch("UPDATE outbox SET published_at = NULL RETURNING 1")
    assert await app.work("payments.webhooks", attempt=6, is_last_attempt=True) == 1
    assert await app.outcomes() == ["done"]
    assert await app.balances() == {"gateway_cash": 500_000, f"quarantine:ch-{'a' * 32}": -500_000}
    [row] = await app.fetch("SELECT reason, order_id, status FROM quarantined_charges")
    assert tuple(row) == ("unknown_reference", None, "quarantined")


async def test_a_crash_before_the_commit_changes_nothing_and_the_next_attempt_settles(app: PaymentsApp) -> None:
    placed, reference = await _intended(app)
    assert (await app.send(app.charge(reference, 500_000))).status_code == 200
    async with app.crashing("NEW.type = 'payments.escrow_held.v1'"):
        with pytest.raises(asyncpg.RaiseError):
            await app.work("payments.webhooks")
        assert await app.balances() == {}
        assert await app.order_status(placed.order_id) == "Processing"
        assert await app.outcomes() == ["queued"]
        assert await app.fetch("SELECT * FROM charges") == []
    await app.fetch("UPDATE outbox SET published_at = NULL WHERE queue IS NOT NULL RETURNING 1")
    await app.work("payments.webhooks")
    assert await app.order_status(placed.order_id) == "paid_escrow"


async def test_two_good_charges_settled_at_the_same_moment_cover_the_order_once(app: PaymentsApp) -> None:
    for _ in range(10):
        placed, reference = await _intended(app)
        bodies = [app.charge(reference, 500_000) for _ in range(3)]
        for body in bodies:
            await app.send(body)
        items = [WebhookWork(webhook_id=f"charge.success:{body['data']['id']}") for body in bodies]
        received = Received(new_id(), "payments.webhooks", "/services/payments", "x", 1, "", 1, is_last_attempt=False)
        await asyncio.gather(*(on_webhook_queued(item, received, app.dependencies) for item in items * 2))
        [row] = await app.fetch(
            "SELECT count(*) FILTER (WHERE verdict = 'covered') AS covered, "
            "count(*) FILTER (WHERE verdict = 'second_charge') AS second FROM charges WHERE order_id = $1",
            placed.order_id,
        )
        assert tuple(row) == (1, 2)
    await app.check_ledger()


async def test_a_transfer_update_is_forwarded_and_changes_nothing_here(app: PaymentsApp) -> None:
    data = {
        "amount": 120_000,
        "currency": "NGN",
        "domain": "test",
        "id": 77,
        "integration": 100043,
        "reason": "payout",
        "reference": "po-" + "1" * 32,
        "source": "balance",
        "status": "success",
        "transfer_code": "TRF_abc",
        "gateway_response": "Approved",
        "fee_charged": 2_500,
        "recipient": {
            "recipient_code": "RCP_1",
            "details": {"account_number": "0123456789", "bank_code": "058", "bank_name": "GTB"},
        },
    }
    for event, published in (
        ("transfer.success", "payments.transfer_succeeded.v1"),
        ("transfer.failed", "payments.transfer_failed.v1"),
        ("transfer.reversed", "payments.transfer_reversed.v1"),
    ):
        await app.process_webhook({"event": event, "data": data})
        [update] = await app.published(published)
        occurred = update.pop("occurredAt")
        assert occurred.endswith("Z")
        assert update == {
            "reference": "po-" + "1" * 32,
            "transferCode": "TRF_abc",
            "amountMinor": 120_000,
            "currency": "NGN",
            "status": "success",
            "gatewayEventId": f"{event}:77",
            "reason": "Approved",
            "feeMinor": 2_500,
            "accountLast4": "6789",
            "bankCode": "058",
        }
    assert await app.balances() == {}
    assert await app.outcomes() == ["done"] * 3


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
