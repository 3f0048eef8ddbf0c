"""Refunds, disputes and reconciliation of a charge that paid the orders of a purchase (contract sections 7.6 and
7.7).
"""

import asyncio
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from contracts.orders import OrderPlaced
from payments.store import reconciliation

from .conftest import PaymentsApp
from .disputes import CREATE, LOST, RESOLVE, WON, dispute, numbers
from .purchases import Purchase, escrows_minor, paid_purchase
from .steps import FILE, WHOLE_TIME
from .stories import order_balances


async def _parts(app: PaymentsApp, purchase: Purchase) -> list[tuple[Any, ...]]:
    """Return the chargeback of each order, in the order of the purchase: status, amount, and whether it is a part."""
    rows = await app.fetch("SELECT order_id, status, amount_minor, part_of FROM chargebacks")
    parts = {row["order_id"]: (row["status"], row["amount_minor"], row["part_of"] is not None) for row in rows}
    return [parts[order.order_id] for order in purchase.orders]


async def _refund(app: PaymentsApp, order: OrderPlaced, amount_minor: int) -> UUID:
    event = app.refund_requested(order, amount_minor)
    await app.receive(event)
    await app.work("payments.refunds")
    return event.refund_id


async def _escrows(app: PaymentsApp, purchase: Purchase) -> list[int]:
    return [(await order_balances(app, order.order_id)).get("escrow", 0) for order in purchase.orders]


async def test_refunds_of_the_orders_are_sent_against_the_one_charge(app: PaymentsApp) -> None:
    purchase, reference = await paid_purchase(app)
    for order in purchase.orders:
        await _refund(app, order, order.total_minor)
    sent = await app.gateway.refunds()
    assert [(refund["amount"], refund["transaction_reference"]) for refund in sent] == [
        (500_000, reference),
        (300_000, reference),
        (200_000, reference),
    ]
    for refund in sent:
        await app.report_refund(refund)
    assert await app.balances() == {}
    await app.check_ledger()


async def test_the_database_holds_no_more_than_the_charge_took(app: PaymentsApp) -> None:
    purchase, _ = await paid_purchase(app)
    other = await app.place_order(1, 0, 0)
    async with app.connected("admin") as admin:
        with pytest.raises(asyncpg.CheckViolationError, match="exceed what it took"):
            await admin.execute(
                """
                INSERT INTO escrows (order_id, buyer_id, vendor_id, charge_id, held_minor, locked_vendor_minor,
                    locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
                    released_commission_minor, released_delivery_fee_minor, refunded_minor, dispute_sequence, held_at)
                SELECT $1, buyer_id, vendor_id, charge_id, 1, 1, 0, 0, 0, 0, 0, 0, 0, held_at FROM escrows
                WHERE order_id = $2
                """,
                other.order_id,
                purchase.orders[0].order_id,
            )


async def test_a_dispute_freezes_every_order_of_the_charge(app: PaymentsApp) -> None:
    purchase, reference = await paid_purchase(app)
    await app.process_webhook(dispute(next(numbers), CREATE, reference, 1_000_000))
    assert await _parts(app, purchase) == [
        ("opened", 500_000, False),
        ("opened", 300_000, True),
        ("opened", 200_000, True),
    ]
    disputed = await app.published("payments.charge_disputed.v1")
    assert [(event["orderId"], event["amountMinor"]) for event in disputed] == [
        (str(order.order_id), order.total_minor) for order in purchase.orders
    ]
    assert len({event["chargebackId"] for event in disputed}) == 3
    for order in purchase.orders:
        body = {"amountMinor": 1}
        released = await app.post_as(f"/api/orders/{order.order_id}/release", body, "finance_checker")
        assert released.status_code == 423
    assert len(await app.published("operations.alert_raised.v1")) == 1, "one dispute is one alert"


async def test_a_lost_dispute_debits_the_orders_in_proportion(app: PaymentsApp) -> None:
    """The first has 400,000 kobo left, the others 300,000 and 200,000: 4, 3 and 2 parts of 9."""
    purchase, reference = await paid_purchase(app)
    await _refund(app, purchase.orders[0], 100_000)
    await app.report_refund((await app.gateway.refunds())[-1])
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 100_001))
    await app.process_webhook(dispute(number, RESOLVE, reference, 100_001, resolution=LOST))
    assert await _parts(app, purchase) == [("lost", 44_444, False), ("lost", 33_333, True), ("lost", 22_224, True)]
    assert await _escrows(app, purchase) == [-355_556, -266_667, -177_776]
    lost = [event for event in await app.published("payments.charge_disputed.v1") if event.get("outcome") == "lost"]
    assert sorted(event["amountMinor"] for event in lost) == [22_224, 33_333, 44_444]
    assert (await app.balances())["gateway_cash"] == 1_000_000 - 100_000 - 100_001
    await app.check_ledger()
    await app.check_stated_escrows()


@pytest.mark.parametrize("event", [LOST, WON])
async def test_a_dispute_of_a_kobo_freezes_every_order(app: PaymentsApp, event: str) -> None:
    """It is debited to the last order; the others' parts are 0, and are decided with it."""
    purchase, reference = await paid_purchase(app)
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 1))
    assert [amount_minor for _, amount_minor, _ in await _parts(app, purchase)] == [0, 0, 1]
    await app.process_webhook(dispute(number, RESOLVE, reference, 1, resolution=event))
    debited_minor = 1 if event == LOST else 0
    assert await _escrows(app, purchase) == [-500_000, -300_000, debited_minor - 200_000]
    assert len({status for status, *_ in await _parts(app, purchase)}) == 1
    await app.decide_dispute(dispute(number, RESOLVE, reference, 1, resolution=LOST if event == WON else WON))
    assert await _escrows(app, purchase) == [-500_000, -300_000, (1 - debited_minor) - 200_000]
    await app.check_ledger()


async def test_a_won_dispute_returns_what_each_order_lost(app: PaymentsApp) -> None:
    purchase, reference = await paid_purchase(app)
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 1_000_000))
    await app.decide_dispute(dispute(number, RESOLVE, reference, 1_000_000, resolution=LOST))
    assert await _escrows(app, purchase) == [0, 0, 0]
    await app.decide_dispute(dispute(number, RESOLVE, reference, 1_000_000, resolution=WON))
    assert {status for status, *_ in await _parts(app, purchase)} == {"won"}
    assert await app.balances() == {"gateway_cash": 1_000_000, **escrows_minor(purchase)}
    await app.check_ledger()
    await app.check_stated_escrows()


async def test_a_loss_counts_the_unsent_refund_of_an_order_first(app: PaymentsApp) -> None:
    """The refund waits for the dispute; the bank returns its money, and the rest is debited to what is left."""
    purchase, reference = await paid_purchase(app)
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 1_000_000))
    refund_id = await _refund(app, purchase.orders[1], 300_000)
    assert await app.gateway.refunds() == []
    await app.process_webhook(dispute(number, RESOLVE, reference, 1_000_000, resolution=LOST))
    assert [amount_minor for _, amount_minor, _ in await _parts(app, purchase)] == [500_000, 300_000, 200_000]
    [row] = await app.fetch("SELECT status FROM refunds WHERE id = $1", refund_id)
    assert (row["status"], await app.balances()) == ("settled", {})
    await app.work("payments.refunds")
    assert await app.gateway.refunds() == []
    await app.check_ledger()


async def test_a_refund_after_a_loss_counts_its_own_order_only(app: PaymentsApp) -> None:
    purchase, reference = await paid_purchase(app)
    number = next(numbers)
    await app.process_webhook(dispute(number, CREATE, reference, 500_000))
    await app.process_webhook(dispute(number, RESOLVE, reference, 500_000, resolution=LOST))
    assert await _escrows(app, purchase) == [-250_000, -150_000, -100_000]
    await _refund(app, purchase.orders[2], 200_000)
    [refund] = await app.gateway.refunds()
    assert refund["amount"] == 100_000, "the bank has returned the other half"
    assert await _escrows(app, purchase) == [-250_000, -150_000, 0]
    await app.check_ledger()


async def test_one_response_is_for_the_whole_dispute(app: PaymentsApp) -> None:
    purchase, reference = await paid_purchase(app)
    await app.process_webhook(dispute(next(numbers), CREATE, reference, 1_000_000))
    listed = {row["orderId"]: row for row in await app.get_as("/api/chargebacks")}
    assert len({row["disputeId"] for row in listed.values()}) == 1
    first = listed[str(purchase.orders[0].order_id)]
    assert "partOf" not in first
    part = listed[str(purchase.orders[2].order_id)]
    assert part["partOf"] == first["id"]
    body = {"resolution": "accept", "message": "agreed", "amountMinor": 1_000_000, "attachment": FILE}
    response = await app.post_as(f"/api/chargebacks/{part['id']}/resolve", body, "finance_maker")
    assert response.status_code == 200, response.text
    for chargeback_id in (first["id"], part["id"]):
        [submission] = (await app.get_as(f"/api/chargebacks/{chargeback_id}"))["responses"]
        assert submission["amountMinor"] == 1_000_000


async def test_a_refund_made_outside_debits_every_order(app: PaymentsApp) -> None:
    purchase, reference = await paid_purchase(app)
    made = await app.gateway.client.post("/gateway/refund", json={"transaction": reference, "amount": 100_000})
    assert made.status_code < 300, made.text
    await app.report_refund((await app.gateway.refunds())[-1])
    assert await _escrows(app, purchase) == [-450_000, -270_000, -180_000]
    [refund] = await app.fetch("SELECT id, status, amount_minor FROM refunds WHERE kind = 'outside'")
    assert (refund["status"], refund["amount_minor"]) == ("settled", 100_000)
    recorded = await app.published("payments.outside_refund_recorded.v1")
    assert sorted(event["amountMinor"] for event in recorded) == [20_000, 30_000, 50_000]
    assert (await app.balances())["gateway_cash"] == 900_000
    path = f"/api/refunds/{refund['id']}"
    prepared = await app.post_as(f"{path}/prepare", {"action": "correct", "reason": "another shop's"}, "finance_maker")
    assert prepared.status_code == 200, prepared.text
    assert (await app.approve(path)).status_code == 200
    assert escrows_minor(purchase).items() <= (await app.balances()).items()
    await app.check_ledger()


async def test_a_dispute_against_the_refund_of_another_order(app: PaymentsApp) -> None:
    """Either may be first: no money returns twice, and both books agree."""
    for _ in range(4):
        purchase, reference = await paid_purchase(app)
        number = next(numbers)
        opened = dispute(number, CREATE, reference, 1_000_000)
        await app.send(opened)
        await asyncio.gather(
            app.work("payments.webhooks"),
            app.receive(app.refund_requested(purchase.orders[2], 200_000)),
            app.receive(app.refund_requested(purchase.orders[0], 500_000)),
        )
        await app.work("payments.refunds")
        await app.process_webhook(dispute(number, RESOLVE, reference, 1_000_000, resolution=LOST))
        await app.work("payments.refunds")
        assert await _escrows(app, purchase) == [0, 0, 0]
        [row] = await app.fetch(
            "SELECT coalesce(sum(amount_minor - loss_minor), 0) AS debited_minor FROM chargebacks WHERE status = "
            "'lost' "
            "AND charge_id = (SELECT id FROM charges WHERE reference = $1)",
            reference,
        )
        refunded = sum(r["amount"] for r in await app.gateway.refunds() if r["transaction_reference"] == reference)
        assert row["debited_minor"] + refunded == 1_000_000
    await app.check_ledger()


async def test_the_reconciliation_compares_the_charge_with_all_its_orders(app: PaymentsApp) -> None:
    purchase, _ = await paid_purchase(app)
    async with app.unit_of_work() as uow:
        [charge] = await app.fetch("SELECT identity FROM charges")
        [recorded] = (await reconciliation.find_recorded_charges(uow, [charge["identity"]], [])).values()
        assert (recorded.amount_minor, recorded.escrow_minor) == (1_000_000, 1_000_000)
        assert await reconciliation.list_orders_held_without_charge(uow, *WHOLE_TIME) == []
    async with app.connected("admin") as admin:
        await admin.execute("UPDATE charges SET amount_minor = 999999")
    async with app.unit_of_work() as uow:
        found = await reconciliation.list_orders_held_without_charge(uow, *WHOLE_TIME)
    assert {difference.order_id for difference in found} == purchase.totals_minor.keys()
