import asyncio
from datetime import timedelta
from uuid import UUID

import asyncpg
import msgspec
import pytest

from common.observability import telemetry
from common.primitives.ids import new_id
from contracts.identity import CampusChanged, HubChanged, VendorApproved, VendorChanged
from contracts.payments import EscrowHeld, RefundFailed
from orders.domain.order_updates import EarlyUpdate, OrderNotReceived
from orders.timers import fire_timers_once

from .conftest import Market
from .factories import escrow_refunded, refund_failed, refund_settled


def stale_count(event_type):
    return telemetry.STALE_EVENTS.labels(event_type)._value.get()


async def everything(market: Market):
    """All rows of the database that a message may change."""
    tables = [
        "orders",
        "order_timers",
        "order_refunds",
        "delivery_pins",
        "products",
        "vendors",
        "campuses",
        "hubs",
        "outbox",
        "inbox",
    ]
    return {table: await market.fetch(f"SELECT {table}::text FROM {table} ORDER BY 1") for table in tables}


async def refunding(market: Market):
    """Return a paid order that was cancelled, and the id of its refund."""
    order = await market.paid()
    await market.post(order, "cancel", market.as_merchant(), {"reason": "sold out"})
    event = (await market.published("orders.refund_requested.v1"))[-1]
    return order, UUID(event["refundId"])


async def test_held_escrow_makes_the_order_paid_and_gives_it_a_pin(market: Market) -> None:
    order = await market.paid()
    assert (await market.show(order))["status"] == "paid_escrow"
    timers = await market.fetch("SELECT kind, due_at FROM order_timers")
    assert [(timer["kind"], timer["due_at"]) for timer in timers] == [
        ("vendor_idle", market.clock.now() + timedelta(hours=72))
    ]
    assert len(await market.published("orders.delivery_pin_issued.v1")) == 1


async def test_a_full_release_completes_a_delivered_order_and_a_part_of_it_does_not(market: Market) -> None:
    order = await market.paid()
    await market.verify(order, await market.pin_of(order))
    await market.release(order, remaining_minor=1)
    assert await market.status_of(order) == "delivered"
    await market.release(order)
    assert await market.status_of(order) == "paid"
    assert [event["orderId"] for event in await market.published("orders.order_completed.v1")] == [order["id"]]


@pytest.mark.parametrize("dispatched", [False, True])
async def test_staff_may_release_before_delivery(market: Market, dispatched: bool) -> None:
    order = await market.paid()
    if dispatched:
        await market.post(order, "dispatch", market.as_merchant())
    await market.release(order)
    assert await market.status_of(order) == "paid"


async def test_every_event_delivered_twice_is_applied_once(market: Market) -> None:
    order, refund_id = await refunding(market)
    amount = order["totalMinor"]
    second, third = await market.ordered(), await market.paid()
    hub = HubChanged(hub_id=new_id(), campus_id=market.campus_id, name="Gate", delivery_fee_minor=1, active=True)
    failed = refund_failed(order, refund_id, amount)
    deliveries = [
        lambda **twice: market.receive(market.vendor_event(VendorApproved, business_name="Ada"), **twice),
        lambda **twice: market.receive(market.vendor_event(VendorChanged, business_name="Ada II"), **twice),
        lambda **twice: market.receive(CampusChanged(campus_id=new_id(), name="Lagos", active=True), **twice),
        lambda **twice: market.receive(hub, **twice),
        lambda **twice: market.pay(second, **twice),
        lambda **twice: market.release(third, **twice),
        lambda **twice: market.receive(escrow_refunded(order, refund_id, amount), **twice),
        lambda **twice: market.receive(failed, **twice),
        lambda **twice: market.receive(refund_settled(order, refund_id, amount), **twice),
    ]
    for deliver in deliveries:
        before = await everything(market)
        received = await deliver()
        after = await everything(market)
        assert after != before
        await deliver(event_id=received.event_id, sequence=received.sequence)
        assert await everything(market) == after


async def test_the_same_event_under_another_id_is_not_applied_again(market: Market) -> None:
    order = await market.paid()
    pin = await market.pin_of(order)
    await market.pay(order)
    assert await market.pin_of(order) == pin
    await market.release(order)
    await market.release(order)
    assert len(await market.published("orders.order_completed.v1")) == 1


async def test_a_message_that_arrives_ten_times_at_once_is_applied_once(market: Market) -> None:
    order = await market.ordered()
    event_id = new_id()
    await asyncio.gather(*(market.pay(order, event_id=event_id, sequence=1) for _ in range(10)))
    assert len(await market.published("orders.delivery_pin_issued.v1")) == 1


async def test_a_stale_event_never_changes_an_order_and_is_counted(market: Market) -> None:
    order = await market.paid()
    await market.verify(order, await market.pin_of(order))
    await market.release(order)
    before, counted = await market.show(order), stale_count(EscrowHeld.TYPE)
    await market.pay(order)
    assert await market.show(order) == before
    assert stale_count(EscrowHeld.TYPE) == counted + 1


async def test_a_release_before_its_charge_is_tried_again_and_then_counts(market: Market) -> None:
    order = await market.ordered()
    with pytest.raises(EarlyUpdate):
        await market.release(order)
    assert await market.fetch("SELECT 1 FROM inbox") == []
    await market.pay(order)
    await market.release(order)
    assert await market.status_of(order) == "paid"


async def test_an_event_of_an_unknown_order_is_retried(market: Market) -> None:
    order = await market.ordered()
    with pytest.raises(OrderNotReceived):
        await market.pay({**order, "id": str(new_id())})
    for event in (escrow_refunded(order, new_id(), 1), refund_settled(order, new_id(), 1)):
        with pytest.raises(OrderNotReceived):
            await market.receive(msgspec.structs.replace(event, order_id=new_id()))


async def end(market: Market, order, how):
    if how == "cancelled":
        assert (await market.post(order, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    else:
        market.clock.advance(timedelta(minutes=15))
        assert await fire_timers_once(market.dependencies) == 1
    assert await market.status_of(order) == how


@pytest.mark.parametrize("how", ["expired", "cancelled"])
async def test_a_late_charge_reserves_the_stock_again(market: Market, how: str) -> None:
    product = await market.sell(stock=2)
    order = await market.ordered(product, 2)
    await end(market, order, how)
    assert await market.stock_of(product) == 2
    await market.pay(order)
    assert (await market.status_of(order), await market.stock_of(product)) == ("paid_escrow", 0)
    assert len(await market.pin_of(order)) == 6
    stock = [event["inStock"] for event in await market.published("orders.product_changed.v1")]
    assert stock == [False, True, False]


@pytest.mark.parametrize("how", ["expired", "cancelled"])
async def test_a_late_charge_without_stock_is_refunded(market: Market, how: str) -> None:
    scarce, plenty = await market.sell(stock=2), await market.sell(stock=9)
    items = [{"productId": str(scarce), "quantity": 2}, {"productId": str(plenty), "quantity": 3}]
    response = await market.client.post(
        "/api/orders/checkout",
        json={"items": items},
        headers=market.as_buyer(idempotency_key="b2c44a45-7e51-4fd9-a3bb-6a7d8fdc3c10"),
    )
    order = response.json()["data"]
    await end(market, order, how)
    await market.ordered(scarce, 1, buyer_id=new_id())
    await market.pay(order)
    assert await market.status_of(order) == "refund_pending"
    assert [await market.stock_of(scarce), await market.stock_of(plenty)] == [1, 9]
    events = await market.published("orders.refund_requested.v1")
    assert [(event["orderId"], event["amountMinor"]) for event in events] == [(order["id"], order["totalMinor"])]
    assert await market.published("orders.delivery_pin_issued.v1") == []


async def test_a_refund_is_counted_once_and_ends_the_order_when_it_is_settled(market: Market) -> None:
    order, refund_id = await refunding(market)
    amount = order["totalMinor"]
    await market.receive(escrow_refunded(order, refund_id, amount))
    shown = await market.show(order)
    assert (shown["status"], shown["refundedMinor"]) == ("refund_pending", amount)
    await market.receive(refund_settled(order, refund_id, amount))
    await market.receive(refund_settled(order, refund_id, amount))
    shown = await market.show(order)
    assert (shown["status"], shown["refundedMinor"]) == ("refunded", amount)


async def test_a_settlement_that_overtakes_the_posting_counts_the_same(market: Market) -> None:
    order, refund_id = await refunding(market)
    amount = order["totalMinor"]
    await market.receive(refund_settled(order, refund_id, amount))
    await market.receive(escrow_refunded(order, refund_id, amount))
    shown = await market.show(order)
    assert (shown["status"], shown["refundedMinor"]) == ("refunded", amount)


async def test_a_failed_refund_keeps_refund_pending_and_raises_no_alert(market: Market) -> None:
    order, refund_id = await refunding(market)
    amount = order["totalMinor"]
    failed = refund_failed(order, refund_id, amount)
    received = await market.receive(failed)
    assert await market.published("operations.alert_raised.v1") == []
    assert await market.status_of(order) == "refund_pending"
    await market.receive(refund_settled(order, refund_id, amount))
    assert await market.status_of(order) == "refunded"
    counted = stale_count(RefundFailed.TYPE)
    await market.receive(failed, sequence=received.sequence)
    assert await market.status_of(order) == "refunded"
    assert stale_count(RefundFailed.TYPE) == counted + 1


async def timeline_of(market: Market, order) -> list[tuple[str, str]]:
    response = await market.client.get(f"/api/orders/{order['id']}/timeline", headers=market.as_buyer())
    return [(entry["event"], entry["status"]) for entry in response.json()["data"]]


async def test_a_refund_that_fails_after_its_settlement_is_pending_until_settled_again(market: Market) -> None:
    order, refund_id = await refunding(market)
    amount = order["totalMinor"]
    settled = await market.receive(refund_settled(order, refund_id, amount))
    failed = await market.receive(refund_failed(order, refund_id, amount))
    assert await market.status_of(order) == "refund_pending"
    before = await orders_and_refunds(market)
    await market.receive(refund_settled(order, refund_id, amount), sequence=settled.sequence)
    await market.receive(refund_failed(order, refund_id, amount), sequence=failed.sequence)
    assert await orders_and_refunds(market) == before
    await market.receive(refund_settled(order, refund_id, amount))
    assert await market.status_of(order) == "refunded"
    assert (await timeline_of(market, order))[-3:] == [
        ("refund_settled", "refunded"),
        ("refund_failed", "refund_pending"),
        ("refund_settled", "refunded"),
    ]
    assert await market.fetch("SELECT 1 FROM order_timers") == []


async def test_a_failure_between_two_settlements_that_arrives_last_changes_nothing(market: Market) -> None:
    order, refund_id = await refunding(market)
    first = await market.receive(refund_settled(order, refund_id, 1))
    await market.receive(refund_settled(order, refund_id, 1), sequence=first.sequence + 2)
    await market.receive(refund_failed(order, refund_id, 1), sequence=first.sequence + 1)
    assert await market.status_of(order) == "refunded"


async def test_the_refund_of_a_surplus_or_of_another_order_never_ends_this_one(market: Market) -> None:
    """Whose refund it is, is known by its id alone.

    Another refund is ignored at once, without a dead letter.
    """
    order, own_refund_id = await refunding(market)
    other, other_refund_id = await refunding(market)
    unpaid = await market.ordered()
    before = await orders_and_refunds(market)
    for kind in ("overpayment", "quarantine"):
        await market.receive(refund_settled(order, new_id(), 1, kind=kind))
        await market.receive(refund_failed(order, own_refund_id, 1, kind=kind))
    for refund_id in (other_refund_id, new_id()):
        for event in (
            refund_settled(order, refund_id, 1),
            refund_failed(order, refund_id, 1),
            refund_settled(unpaid, refund_id, 1),
        ):
            counted = stale_count(event.TYPE)
            await market.receive(event)
            assert stale_count(event.TYPE) == counted + 1
    assert await orders_and_refunds(market) == before
    assert await market.published("operations.alert_raised.v1") == []
    await market.receive(escrow_refunded(order, new_id(), 1))
    # The escrow that payments states is the truth, whose refund it was.
    assert (await market.show(order))["refundedMinor"] == 1
    assert [await market.status_of(each) for each in (order, other)] == ["refund_pending"] * 2


async def orders_and_refunds(market: Market):
    return [
        await market.fetch(f"SELECT {table}::text FROM {table} ORDER BY 1") for table in ("orders", "order_refunds")
    ]


async def test_the_highest_sequence_of_identity_is_kept_in_any_order(market: Market) -> None:
    product, hub = await market.sell(), new_id()
    newer = market.vendor_event(VendorChanged, business_name="Ada's New Kitchen", commission_basis_points=300)
    await market.receive(newer, sequence=2)
    await market.receive(market.vendor_event(VendorApproved, business_name="Ada's Old Kitchen"), sequence=1)
    rows = await market.fetch("SELECT business_name, commission_basis_points FROM vendors")
    assert [tuple(row) for row in rows] == [("Ada's New Kitchen", 300)]
    shown = await market.client.get(f"/api/products/{product}")
    assert shown.json()["data"]["vendorName"] == "Ada's New Kitchen"
    for fee, sequence in ((2, 2), (1, 1)):
        events = HubChanged(hub_id=hub, campus_id=market.campus_id, name="G", delivery_fee_minor=fee, active=True)
        await market.receive(events, sequence=sequence)
    assert (await market.fetch("SELECT delivery_fee_minor FROM hubs"))[0][0] == 2


async def test_a_handler_failing_before_its_commit_changes_nothing_and_succeeds_on_retry(market: Market) -> None:
    order = await market.ordered()
    before = await everything(market)
    async with market.crashing():
        with pytest.raises(asyncpg.RaiseError, match="crash"):
            await market.pay(order)
    assert await everything(market) == before
    await market.pay(order)
    assert await market.status_of(order) == "paid_escrow"


async def test_a_cancellation_and_the_charge_at_the_same_moment_end_in_an_allowed_way(market: Market) -> None:
    for _ in range(5):
        product = await market.sell(stock=1)
        order = await market.ordered(product)
        await asyncio.gather(market.post(order, "cancel", market.as_buyer(), {"reason": "no"}), market.pay(order))
        status, stock = await market.status_of(order), await market.stock_of(product)
        assert (status, stock) in (("paid_escrow", 0), ("refund_pending", 1))


@pytest.mark.parametrize(("paid_orders", "reference"), [(None, None), (3, "reference")])
async def test_a_pin_names_the_payment_of_several_orders(
    market: Market, paid_orders: int | None, reference: str | None
) -> None:
    order = await market.ordered()
    await market.receive(msgspec.structs.replace(market.held(order), paid_orders=paid_orders))
    [issued] = await market.published("orders.delivery_pin_issued.v1")
    assert (issued.get("paidOrders"), issued.get("paymentReference")) == (paid_orders, reference)
