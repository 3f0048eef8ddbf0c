"""What a charge is worth, from the signed bytes to the book."""

import asyncio
from typing import Any

import asyncpg
import pytest

from common.messaging.messages import Received
from common.primitives.ids import new_id
from contracts.orders import OrderCancelled, OrderExpired
from payments.consumers import WebhookWork, on_webhook_queued
from payments.domain.errors import SubjectUnknown


async def test_a_charge_of_the_exact_total_holds_the_escrow(story: Any) -> None:
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)

    await story.tell(story.charge(intent["reference"], 500_000))

    assert await story.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert await story.order_status(placed.order_id) == "paid_escrow"
    assert await story.outcomes() == ["done"]
    [held] = await story.service.published("payments.escrow_held.v1")
    assert held == {
        "orderId": str(placed.order_id),
        "buyerId": str(story.buyer),
        "vendorId": str(story.vendor),
        "amountMinor": 500_000,
        "commissionMinor": 24_000,
        "deliveryFeeMinor": 20_000,
        "reference": intent["reference"],
        "heldAt": "2026-01-01T00:00:00.000Z",
    }
    await story.check_books()


async def _intended(story: Any) -> tuple[Any, str]:
    placed = await story.place_order()
    intent = await story.open_intent(placed.order_id)
    return placed, intent["reference"]


async def test_what_does_not_pay_is_quarantined_and_the_order_stays_untouched(story: Any) -> None:
    cases = {
        "underpaid": {"amount": 499_999},
        "kobo for naira": {"amount": 5_000},
        "foreign": {"currency": "GHS"},
        "mismatch": {"metadata": {"orderId": "018cc251-f400-7000-8000-000000000002"}},
    }
    reasons = ["underpaid", "underpaid", "foreign_currency", "order_mismatch"]
    for changes, reason in zip(cases.values(), reasons, strict=True):
        placed, reference = await _intended(story)
        data = {"amount": 500_000, **changes}
        await story.tell(story.charge(reference, data.pop("amount"), **data))
        assert await story.order_status(placed.order_id) == "Processing"
        quarantined = (await story.service.published("payments.charge_quarantined.v1"))[-1]
        assert (quarantined["reason"], quarantined["reference"]) == (reason, reference)
        assert quarantined["orderId"] == str(placed.order_id)
        again = await story.open_intent(placed.order_id)
        assert again["reference"] != reference, "the spent transaction is not offered again"
    assert await story.service.published("payments.escrow_held.v1") == []
    assert await story.service.fetch("SELECT * FROM escrows") == []
    balances = await story.balances()
    assert balances["gateway_cash"] == 499_999 + 5_000 + 500_000
    assert balances["gateway_cash:GHS"] == 500_000
    assert sum(balances.values()) == 0
    await story.check_books()


async def test_an_order_is_paid_once_by_two_good_charges_and_the_second_is_refunded_at_once(story: Any) -> None:
    placed, reference = await _intended(story)
    await story.tell(story.charge(reference, 500_000))
    await story.tell(story.charge(reference, 500_000))

    [refund] = await story.service.fetch("SELECT * FROM refunds")
    assert (refund["kind"], refund["amount_minor"], refund["status"]) == ("overpayment", 500_000, "pending")
    assert await story.balances() == {
        "gateway_cash": 1_000_000,
        f"escrow:{placed.order_id}": -500_000,
        f"refund_payable:{refund['id']}": -500_000,
    }
    assert await story.service.work("payments.refunds") == 1
    assert story.gateway.refunds[0]["amount"] == 500_000
    assert len(await story.service.published("payments.escrow_held.v1")) == 1


async def test_surplus_is_owed_back_and_a_surcharge_is_not(story: Any) -> None:
    placed, reference = await _intended(story)
    await story.tell(story.charge(reference, 500_300))
    [refund] = await story.service.fetch("SELECT * FROM refunds")
    assert await story.balances() == {
        "gateway_cash": 500_300,
        f"escrow:{placed.order_id}": -500_000,
        f"refund_payable:{refund['id']}": -300,
    }
    _, reference = await _intended(story)
    assert story.gateway.initialized[reference]["metadata"]["settlement"] == "500000"
    await story.tell(story.charge(reference, 507_500, metadata=story.gateway.initialized[reference]["metadata"]))
    assert (await story.balances())["charge_surcharge"] == -7_500
    assert len(await story.service.fetch("SELECT * FROM refunds")) == 1
    await story.check_books()


async def test_a_surcharge_above_its_bound_is_owed_back_whole_and_refunded(story: Any) -> None:
    """10,000,000 kobo for an order of 500,000 and our own settlement in the metadata keep nothing (contract section 7.4)."""
    for amount, kept in ((520_000, 20_000), (520_001, 0), (10_000_000, 0)):
        placed, reference = await _intended(story)
        before = (await story.balances()).get("charge_surcharge", 0)
        metadata = story.gateway.initialized[reference]["metadata"]
        body = story.charge(reference, amount, metadata=metadata)
        for _ in range(2):
            await story.tell(body)
        balances = await story.balances()
        assert before - balances.get("charge_surcharge", 0) == kept
        assert balances[f"escrow:{placed.order_id}"] == -500_000
        refunds = await story.service.fetch("SELECT amount_minor FROM refunds WHERE order_id = $1", placed.order_id)
        assert [row["amount_minor"] for row in refunds] == ([] if kept else [amount - 500_000])
        [charge] = await story.service.fetch("SELECT * FROM charges WHERE order_id = $1", placed.order_id)
        assert (charge["surcharge_minor"], charge["surcharge_max_minor"]) == (kept, 20_000)
    await story.service.work("payments.refunds")
    assert sorted(refund["amount"] for refund in story.gateway.refunds) == [20_001, 9_500_000]
    await story.check_books()


async def test_a_late_charge_of_an_expired_order_is_bounded_alike(story: Any) -> None:
    placed, reference = await _intended(story)
    ended = {"order_id": placed.order_id, "buyer_id": story.buyer, "vendor_id": story.vendor, "reason": "test"}
    await story.service.hear(OrderExpired(**ended))
    metadata = story.gateway.initialized[reference]["metadata"]
    await story.tell(story.charge(reference, 900_000, metadata=metadata))
    [refund] = await story.service.fetch("SELECT * FROM refunds")
    assert await story.balances() == {
        "gateway_cash": 900_000,
        f"escrow:{placed.order_id}": -500_000,
        f"refund_payable:{refund['id']}": -400_000,
    }


async def test_the_database_refuses_a_surcharge_above_its_bound(story: Any, owner_of: Any) -> None:
    await story.paid_order()
    async with owner_of(story) as owner:
        with pytest.raises(asyncpg.CheckViolationError, match="charges_surcharge_within_bound"):
            await owner.execute("UPDATE charges SET surcharge_minor = surcharge_max_minor + 1")


async def test_the_same_charge_told_under_two_keys_has_one_effect(story: Any) -> None:
    placed, reference = await _intended(story)
    await story.tell(story.charge(reference, 500_000))
    without_id = story.charge(reference, 500_000)
    del without_id["data"]["id"]
    await story.tell(without_id)

    assert await story.balances() == {"gateway_cash": 500_000, f"escrow:{placed.order_id}": -500_000}
    assert sorted(await story.outcomes()) == ["done", "ignored"]


async def test_a_charge_pays_an_order_that_was_cancelled_or_expired_meanwhile(story: Any) -> None:
    for event in (OrderCancelled, OrderExpired):
        placed, reference = await _intended(story)
        ended = event(order_id=placed.order_id, buyer_id=story.buyer, vendor_id=story.vendor, reason="test")
        await story.service.hear(ended)
        await story.tell(story.charge(reference, 500_000))
        assert await story.order_status(placed.order_id) == "paid_escrow"
        await story.service.hear(ended)
        assert await story.order_status(placed.order_id) == "paid_escrow"


async def test_an_unknown_reference_waits_for_its_order_and_is_quarantined_at_the_last_attempt(story: Any) -> None:
    body = story.charge("ch-" + "a" * 32, 500_000)
    with pytest.raises(SubjectUnknown):
        await story.tell(body)
    assert (await story.outcomes(), await story.balances()) == (["queued"], {})
    await story.service.fetch("UPDATE outbox SET published_at = NULL RETURNING 1")
    assert await story.service.work("payments.webhooks", attempt=6, is_last_attempt=True) == 1
    assert await story.outcomes() == ["done"]
    assert await story.balances() == {"gateway_cash": 500_000, f"quarantine:ch-{'a' * 32}": -500_000}
    [row] = await story.service.fetch("SELECT reason, order_id, status FROM quarantined_charges")
    assert tuple(row) == ("unknown_reference", None, "quarantined")


async def test_a_crash_before_the_commit_leaves_nothing_and_the_next_attempt_settles(story: Any, owner_of: Any) -> None:
    placed, reference = await _intended(story)
    assert (await story.send(story.charge(reference, 500_000))).status_code == 200
    async with owner_of(story) as owner:
        await owner.execute(
            "CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$"
        )
        await owner.execute(
            "CREATE TRIGGER crash BEFORE INSERT ON outbox FOR EACH ROW "
            "WHEN (NEW.type = 'payments.escrow_held.v1') EXECUTE FUNCTION crash()"
        )
        with pytest.raises(asyncpg.RaiseError):
            await story.service.work("payments.webhooks")
        assert await story.balances() == {}
        assert await story.order_status(placed.order_id) == "Processing"
        assert await story.outcomes() == ["queued"]
        assert await story.service.fetch("SELECT * FROM charges") == []
        await owner.execute("DROP TRIGGER crash ON outbox")
    await story.service.fetch("UPDATE outbox SET published_at = NULL WHERE queue IS NOT NULL RETURNING 1")
    await story.service.work("payments.webhooks")
    assert await story.order_status(placed.order_id) == "paid_escrow"


async def test_two_good_charges_settled_at_the_same_moment_cover_the_order_once(story: Any) -> None:
    for _ in range(10):
        placed, reference = await _intended(story)
        bodies = [story.charge(reference, 500_000) for _ in range(3)]
        for body in bodies:
            await story.send(body)
        items = [WebhookWork(webhook_id=f"charge.success:{body['data']['id']}") for body in bodies]
        received = Received(new_id(), "payments.webhooks", "/services/payments", "x", 1, "", 1, is_last_attempt=False)
        await asyncio.gather(*(on_webhook_queued(item, received, story.service.dependencies) for item in items * 2))
        [row] = await story.service.fetch(
            "SELECT count(*) FILTER (WHERE verdict = 'covered') AS covered, "
            "count(*) FILTER (WHERE verdict = 'second_charge') AS second FROM charges WHERE order_id = $1",
            placed.order_id,
        )
        assert tuple(row) == (1, 2)
    await story.check_books()


async def test_transfer_news_is_passed_on_and_changes_nothing_here(story: Any) -> None:
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
        "recipient": {
            "recipient_code": "RCP_1",
            "details": {"account_number": "0123456789", "bank_code": "058", "bank_name": "GTB"},
        },
    }
    for event, said in (
        ("transfer.success", "payments.transfer_succeeded.v1"),
        ("transfer.failed", "payments.transfer_failed.v1"),
        ("transfer.reversed", "payments.transfer_reversed.v1"),
    ):
        await story.tell({"event": event, "data": data})
        [update] = await story.service.published(said)
        occurred = update.pop("occurredAt")
        assert occurred.endswith("Z")
        assert update == {
            "reference": "po-" + "1" * 32,
            "transferCode": "TRF_abc",
            "amountMinor": 120_000,
            "currency": "NGN",
            "status": "success",
            "gatewayEventId": f"{event}:77",
            "reason": "payout",
            "accountLast4": "6789",
            "bankCode": "058",
        }
    assert await story.balances() == {}
    assert await story.outcomes() == ["done"] * 3
