"""Purchases: one payment for the orders of several vendors (contract section 7)."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from common.messaging.messages import Received
from common.primitives.ids import new_id
from contracts.orders import OrderCancelled, OrderExpired, OrderPlaced
from payments.consumers import WebhookWork, on_webhook_queued
from payments.store import intents

from .conftest import PaymentsApp
from .purchases import (
    Purchase,
    escrows_minor,
    open_purchase_intent,
    paid_purchase,
    place_purchase,
    purchase_placed,
)

Ended = type[OrderCancelled] | type[OrderExpired]


async def _end(app: PaymentsApp, order: OrderPlaced, event: Ended = OrderCancelled) -> None:
    await app.receive(event(**app.parties(order), reason="test"))


async def _statuses(app: PaymentsApp, purchase: Purchase) -> list[str]:
    return [await app.order_status(order.order_id) for order in purchase.orders]


async def _intents(app: PaymentsApp) -> list[tuple[Any, ...]]:
    rows = await app.fetch("SELECT status, amount_minor FROM payment_intents ORDER BY created_at, id")
    return [tuple(row) for row in rows]


async def _refunds(app: PaymentsApp) -> list[tuple[Any, ...]]:
    rows = await app.fetch("SELECT kind, order_id, amount_minor FROM refunds ORDER BY created_at, id")
    return [tuple(row) for row in rows]


async def test_an_intent_is_over_the_sum_of_the_purchase(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    ids = [str(order.order_id) for order in purchase.orders]
    intent = await open_purchase_intent(app, purchase)
    assert (intent["amountMinor"], intent["purchaseId"]) == (1_000_000, str(purchase.id))
    assert (intent["orderId"], intent["orderIds"]) == (ids[0], ids)
    [transaction] = await app.gateway.transactions()
    assert transaction["amount"] == 1_000_000
    assert transaction["metadata"] == {
        "userId": str(app.buyer),
        "orderId": ids[0],
        "purchaseId": str(purchase.id),
        "settlement": "1000000",
    }
    assert await open_purchase_intent(app, purchase) == intent, "the live intent is returned again"
    named = await app.fetch("SELECT order_id::text, amount_minor FROM intent_orders ORDER BY position")
    assert [tuple(row) for row in named] == list(zip(ids, (500_000, 300_000, 200_000), strict=True))


async def test_a_payment_of_one_order_shows_no_purchase(app: PaymentsApp) -> None:
    placed = await app.place_order()
    intent = await app.open_intent(placed.order_id)
    [listed] = (await app.client.get("/api/payments", headers=app.headers(app.buyer))).json()["data"]
    assert not {"purchaseId", "orderIds"} & (intent.keys() | listed.keys())
    assert await app.fetch("SELECT * FROM intent_orders") == []


async def test_exactly_one_of_order_and_purchase_is_paid(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    order_id = purchase.orders[0].order_id
    assert (await app.request_intent(order_id, purchaseId=str(purchase.id))).status_code == 422
    assert (await app.request_intent(None)).status_code == 422


async def test_a_foreign_purchase_is_not_found(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    assert (await app.request_intent(None, purchaseId=str(purchase.id), user=uuid4())).status_code == 404
    assert (await app.request_intent(None, purchaseId=str(uuid4()))).status_code == 404


async def test_a_key_of_a_purchase_pays_no_other(app: PaymentsApp) -> None:
    one, other, key = await place_purchase(app), await place_purchase(app), uuid4()
    first = await app.request_intent(None, purchaseId=str(one.id), key=key)
    again = await app.request_intent(None, purchaseId=str(one.id), key=key)
    assert (first.status_code, again.json()["data"]) == (201, first.json()["data"])
    assert (await app.request_intent(None, purchaseId=str(other.id), key=key)).status_code == 422


async def test_an_order_of_a_purchase_is_not_paid_alone(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    one, *others = purchase.orders
    response = await app.request_intent(one.order_id)
    assert response.status_code == 409
    assert response.json()["invalid_params"][0]["name"] == "purchaseId"
    assert str(purchase.id) in response.json()["detail"]
    for order in others:
        await _end(app, order)
    intent = await app.open_intent(one.order_id)
    assert (intent["amountMinor"], intent["orderIds"]) == (500_000, [str(one.order_id)])
    assert await open_purchase_intent(app, purchase) == intent


async def test_a_payment_during_a_cancellation_is_of_the_orders_left(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    purchase, record = await place_purchase(app), intents.record_claimed_intent_if_new
    await open_purchase_intent(app, purchase)

    async def cancel_first(*arguments: Any) -> Any:
        """Close the live payment after it kept another one from being recorded."""
        monkeypatch.setattr(intents, "record_claimed_intent_if_new", record)
        recorded = await record(*arguments)
        await _end(app, purchase.orders[0])
        return recorded

    monkeypatch.setattr(intents, "record_claimed_intent_if_new", cancel_first)
    intent = await open_purchase_intent(app, purchase)
    assert (intent["amountMinor"], len(intent["orderIds"])) == (500_000, 2)


async def test_the_events_of_a_purchase_may_arrive_in_any_order(app: PaymentsApp) -> None:
    purchase_id = new_id()
    orders = [await app.place_order(100_000, 0, 0, purchase_id=purchase_id) for _ in range(2)]
    waiting = await app.request_intent(orders[0].order_id)
    assert (waiting.status_code, waiting.headers["Retry-After"]) == (409, "3"), "its purchase is not known yet"
    late = await app.place_order(100_000, 0, 0, order_id=new_id(), buyer_id=uuid4())
    await app.receive(purchase_placed(app, orders, purchase_id))
    await app.receive(purchase_placed(app, [*orders, late], purchase_id))
    assert (await open_purchase_intent(app, Purchase(purchase_id, tuple(orders))))["amountMinor"] == 200_000

    early = OrderPlaced(**{field: getattr(orders[0], field) for field in orders[0].__struct_fields__})
    listed = purchase_placed(app, [early], new_id())
    missing = new_id()
    await app.receive(
        type(listed)(**{**{f: getattr(listed, f) for f in listed.__struct_fields__}, "order_ids": (missing,)})
    )
    assert (await app.request_intent(None, purchaseId=str(listed.purchase_id))).status_code == 409
    await app.place_order(70_000, 0, 0, order_id=missing, purchase_id=listed.purchase_id)
    response = await app.request_intent(None, purchaseId=str(listed.purchase_id))
    assert (response.status_code, response.json()["data"]["amountMinor"]) == (201, 70_000)


@pytest.mark.parametrize("event", [OrderCancelled, OrderExpired])
async def test_the_end_of_an_order_closes_the_intent_of_another_amount(app: PaymentsApp, event: Ended) -> None:
    purchase = await place_purchase(app)
    await open_purchase_intent(app, purchase)
    for order, rest_minor in zip(reversed(purchase.orders), (800_000, 500_000), strict=False):
        await _end(app, order, event)
        assert (await open_purchase_intent(app, purchase))["amountMinor"] == rest_minor
    assert await _intents(app) == [("closed", 1_000_000), ("closed", 800_000), ("pending", 500_000)]
    await _end(app, purchase.orders[0], event)
    assert (await app.request_intent(None, purchaseId=str(purchase.id))).status_code == 409


async def test_an_intent_recorded_during_a_cancellation_is_closed(app: PaymentsApp) -> None:
    """As after a request that read the orders before the cancellation, and committed after it."""
    purchase = await place_purchase(app)
    await open_purchase_intent(app, purchase)
    await _end(app, purchase.orders[0])
    await app.fetch("UPDATE payment_intents SET status = 'pending' RETURNING 1")
    assert (await open_purchase_intent(app, purchase))["amountMinor"] == 500_000
    assert await _intents(app) == [("closed", 1_000_000), ("pending", 500_000)]


async def test_one_charge_pays_every_order_of_the_purchase(app: PaymentsApp) -> None:
    other = await place_purchase(app)
    await open_purchase_intent(app, other)
    purchase, reference = await paid_purchase(app)
    assert await app.balances() == {"gateway_cash": 1_000_000, **escrows_minor(purchase)}
    assert await _statuses(app, purchase) == ["paid_escrow"] * 3
    held = await app.published("payments.escrow_held.v1")
    assert [(event["orderId"], event["amountMinor"], event["vendorId"]) for event in held] == [
        (str(order.order_id), order.total_minor, str(order.vendor_id)) for order in purchase.orders
    ]
    of_payment = {(event["purchaseId"], event["reference"], event["paidOrders"]) for event in held}
    assert of_payment == {(str(purchase.id), reference, 3)}
    assert await _intents(app) == [("pending", 1_000_000), ("paid", 1_000_000)]
    query = {"purchaseId": str(purchase.id)}
    [payment] = (await app.client.get("/api/payments", headers=app.headers(app.buyer), params=query)).json()["data"]
    assert payment["orderIds"] == [str(order.order_id) for order in purchase.orders]
    for order in purchase.orders:
        query = {"orderId": str(order.order_id), "purchaseId": str(purchase.id)}
        listed = await app.client.get("/api/payments", headers=app.headers(app.buyer), params=query)
        assert listed.json()["data"] == [payment]
    await app.check_ledger()


async def test_repetitions_of_the_charge_change_nothing(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    reference = (await open_purchase_intent(app, purchase))["reference"]
    body = await app.pay(reference)
    await app.process_webhook(body)
    before = await app.balances()
    await app.process_webhook({**body, "data": {key: data for key, data in body["data"].items() if key != "id"}})
    assert await app.balances() == before
    assert len(await app.published("payments.escrow_held.v1")) == 3


async def test_a_charge_may_name_any_order_of_the_purchase(app: PaymentsApp) -> None:
    for position in range(3):
        purchase = await place_purchase(app)
        await _end(app, purchase.orders[0])
        reference = (await open_purchase_intent(app, purchase))["reference"]
        metadata = {"orderId": str(purchase.orders[position].order_id).upper()}
        await app.process_webhook(app.charge(reference, 500_000, metadata=metadata))
        assert await _statuses(app, purchase) == ["cancelled", "paid_escrow", "paid_escrow"]
    purchase = await place_purchase(app)
    reference = (await open_purchase_intent(app, purchase))["reference"]
    await app.process_webhook(app.charge(reference, 1_000_000, metadata={"orderId": str(uuid4())}))
    [quarantined] = await app.published("payments.charge_quarantined.v1")
    assert quarantined["reason"] == "order_mismatch"


async def test_a_charge_below_the_sum_is_quarantined_whole(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    reference = (await open_purchase_intent(app, purchase))["reference"]
    await app.process_webhook(await app.pay(reference, 999_999, metadata={}))
    assert await app.balances() == {"gateway_cash": 999_999, f"quarantine:{reference}": -999_999}
    assert await _statuses(app, purchase) == ["Processing"] * 3
    [row] = await app.get_as("/api/quarantined-charges", "finance_maker")
    path = f"/api/quarantined-charges/{row['id']}"
    accepted = await app.post_as(f"{path}/prepare", {"outcome": "accept", "reason": "near"}, "finance_maker")
    assert accepted.status_code == 409


async def test_an_accepted_quarantined_charge_pays_every_order(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    reference = (await open_purchase_intent(app, purchase))["reference"]
    await app.process_webhook(app.charge(reference, 1_000_200, metadata={"orderId": str(uuid4())}))
    [row] = await app.get_as("/api/quarantined-charges", "finance_maker")
    path = f"/api/quarantined-charges/{row['id']}"
    plan = (await app.get_as(f"{path}/postings"))[0]
    assert {entry["account"]: entry["amountMinor"] for entry in plan["entries"]}.items() >= escrows_minor(
        purchase
    ).items()
    body = {"outcome": "accept", "reason": "the buyer's own"}
    assert (await app.post_as(f"{path}/prepare", body, "finance_maker")).status_code == 200
    assert (await app.approve(path)).status_code == 200
    [(kind, order_id, surplus_minor)] = await _refunds(app)
    assert (kind, order_id, surplus_minor) == ("overpayment", purchase.orders[0].order_id, 200)
    assert escrows_minor(purchase).items() <= (await app.balances()).items()
    assert await _statuses(app, purchase) == ["paid_escrow"] * 3
    await app.check_ledger()


async def test_a_late_charge_pays_the_ended_orders_too(app: PaymentsApp) -> None:
    """Orders decides for each: what is in stock is paid, and the share of the rest is refunded (contract section 6)."""
    purchase = await place_purchase(app)
    late = (await open_purchase_intent(app, purchase))["reference"]
    await _end(app, purchase.orders[1])
    await open_purchase_intent(app, purchase)
    await app.process_webhook(await app.pay(late))
    assert await app.balances() == {"gateway_cash": 1_000_000, **escrows_minor(purchase)}
    assert await _statuses(app, purchase) == ["paid_escrow"] * 3
    assert await _intents(app) == [("paid", 1_000_000), ("closed", 700_000)], "nothing is left to pay"
    await app.check_ledger()


async def test_a_late_charge_returns_the_share_of_what_was_paid_since(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    late = (await open_purchase_intent(app, purchase))["reference"]
    await _end(app, purchase.orders[0])
    next_one = (await open_purchase_intent(app, purchase))["reference"]
    await app.process_webhook(await app.pay(next_one))
    assert await _statuses(app, purchase) == ["cancelled", "paid_escrow", "paid_escrow"]
    await app.process_webhook(await app.pay(late))
    assert await _statuses(app, purchase) == ["paid_escrow"] * 3
    assert await _refunds(app) == [("overpayment", purchase.orders[0].order_id, 500_000)]
    balances = await app.balances()
    assert escrows_minor(purchase).items() <= balances.items()
    assert balances["gateway_cash"] == 1_500_000
    await app.check_ledger()


async def test_the_second_charge_of_a_purchase_is_refunded_whole(app: PaymentsApp) -> None:
    purchase, reference = await paid_purchase(app)
    await app.process_webhook(app.charge(reference, 1_000_000))
    assert await _refunds(app) == [("overpayment", purchase.orders[0].order_id, 1_000_000)]
    assert escrows_minor(purchase).items() <= (await app.balances()).items()
    await app.check_ledger()


async def test_surplus_and_surcharge_of_a_purchase(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    await app.process_webhook(await app.pay((await open_purchase_intent(app, purchase))["reference"], 1_015_000))
    balances = await app.balances()
    assert balances == {"gateway_cash": 1_015_000, "charge_surcharge": -15_000, **escrows_minor(purchase)}
    purchase = await place_purchase(app)
    reference = (await open_purchase_intent(app, purchase))["reference"]
    await app.process_webhook(await app.pay(reference, 1_000_300, metadata={}))
    assert await _refunds(app) == [("overpayment", purchase.orders[0].order_id, 300)]
    await app.check_ledger()


async def test_a_declined_payment_of_a_purchase_can_be_tried_again(app: PaymentsApp) -> None:
    purchase = await place_purchase(app)
    intent = await open_purchase_intent(app, purchase)
    await app.process_webhook(await app.gateway.decline(intent["reference"], "Insufficient funds"))
    [failed] = await app.published("payments.payment_failed.v1")
    assert (failed["orderId"], failed["amountMinor"]) == (intent["orderId"], 1_000_000)
    assert failed["purchaseId"] == intent["purchaseId"]
    assert (await open_purchase_intent(app, purchase))["reference"] != intent["reference"]


@pytest.mark.parametrize("event", [OrderCancelled, OrderExpired])
async def test_the_end_of_one_order_against_the_charge(app: PaymentsApp, event: Ended) -> None:
    """Either may be first: every order is paid, and no intent is left to pay."""
    for _ in range(5):
        purchase = await place_purchase(app)
        body = app.charge((await open_purchase_intent(app, purchase))["reference"], 1_000_000)
        await app.send(body)
        item = WebhookWork(webhook_id=f"charge.success:{body['data']['id']}")
        received = Received(new_id(), "payments.webhooks", "/services/payments", "x", 1, "", 1, is_last_attempt=False)
        await asyncio.gather(
            on_webhook_queued(item, received, app.dependencies),
            *(_end(app, order, event) for order in purchase.orders),
        )
        assert await _statuses(app, purchase) == ["paid_escrow"] * 3
        assert escrows_minor(purchase).items() <= (await app.balances()).items()
    assert {status for status, _ in await _intents(app)} == {"paid"}
    await app.check_ledger()


async def test_two_intents_of_one_purchase_are_one(app: PaymentsApp) -> None:
    for _ in range(5):
        purchase = await place_purchase(app)
        responses = await asyncio.gather(
            *(app.request_intent(None, purchaseId=str(purchase.id)) for _ in range(4)),
        )
        assert {response.status_code for response in responses} <= {201, 409}
        live = await app.fetch(
            "SELECT id FROM payment_intents WHERE purchase_id = $1 AND status IN ('opening', 'pending')", purchase.id
        )
        assert len(live) == 1
