import asyncio
from datetime import timedelta

from common.observability import telemetry
from orders.timers import BATCH, fire_timers_once

from .conftest import Market


async def fire(market: Market):
    return await fire_timers_once(market.dependencies)


async def test_an_unpaid_order_expires_after_fifteen_minutes_and_not_before(market: Market) -> None:
    product = await market.sell(stock=1)
    order = await market.ordered(product)
    market.clock.advance(timedelta(minutes=15) - timedelta(milliseconds=1))
    assert await fire(market) == 0
    market.clock.advance(timedelta(milliseconds=1))
    assert await fire(market) == 1
    assert (await market.status_of(order), await market.stock_of(product)) == ("expired", 1)
    events = await market.published("orders.order_expired.v1")
    assert [event["orderId"] for event in events] == [order["id"]]
    stock = [event["inStock"] for event in await market.published("orders.product_changed.v1")]
    assert stock == [False, True]
    assert await fire(market) == 0


async def test_an_idle_vendors_order_is_refunded_after_72_hours_and_its_stock_returns(market: Market) -> None:
    product = await market.sell(stock=1)
    order = await market.paid(product_id=product)
    market.clock.advance(timedelta(hours=72) - timedelta(milliseconds=1))
    assert await fire(market) == 0
    market.clock.advance(timedelta(milliseconds=1))
    assert await fire(market) == 1
    assert (await market.status_of(order), await market.stock_of(product)) == ("refund_pending", 1)
    stock = [event["inStock"] for event in await market.published("orders.product_changed.v1")]
    assert stock == [False, True]
    events = await market.published("orders.refund_requested.v1")
    assert [(event["orderId"], event["amountMinor"]) for event in events] == [(order["id"], order["totalMinor"])]


async def test_a_delivery_without_a_pin_is_disputed_after_14_days(market: Market) -> None:
    product = await market.sell(stock=1)
    order = await market.paid(product_id=product)
    await market.post(order, "dispatch", market.as_merchant())
    market.clock.advance(timedelta(days=14) - timedelta(milliseconds=1))
    assert await fire(market) == 0
    market.clock.advance(timedelta(milliseconds=1))
    assert await fire(market) == 1
    assert (await market.status_of(order), await market.stock_of(product)) == ("disputed", 0)
    assert len(await market.published("orders.order_disputed.v1")) == 1


async def test_a_delivered_order_has_no_timer_left(market: Market) -> None:
    order = await market.paid()
    await market.verify(order, await market.pin_of(order))
    market.clock.advance(timedelta(days=60))
    assert await fire(market) == 0
    assert await market.status_of(order) == "delivered"
    assert await market.fetch("SELECT 1 FROM order_timers") == []


async def test_many_workers_fire_each_timer_once(market: Market) -> None:
    product = await market.sell(stock=30)
    for _ in range(30):
        await market.ordered(product)
    market.clock.advance(timedelta(minutes=15))
    moved = await asyncio.gather(*(fire(market) for _ in range(6)))
    # A worker skips an order that another one has locked until the next round.
    while fired := await fire(market):
        moved.append(fired)
    assert sum(moved) == 30
    assert await market.stock_of(product) == 30
    assert len(await market.published("orders.order_expired.v1")) == 30


async def test_the_timer_and_the_charge_at_the_same_moment_end_in_an_allowed_way(market: Market) -> None:
    for _ in range(5):
        product = await market.sell(stock=1)
        order = await market.ordered(product)
        market.clock.advance(timedelta(minutes=15))
        await asyncio.gather(fire(market), market.pay(order))
        assert (await market.status_of(order), await market.stock_of(product)) == ("paid_escrow", 0)


async def test_a_timer_that_outlived_its_state_is_ignored_and_ended(market: Market) -> None:
    order = await market.paid()
    await market.fetch("UPDATE order_timers SET kind = 'payment_window', due_at = $1", market.clock.now())
    counted = telemetry.STALE_EVENTS.labels("payment_window")._value.get()
    assert await fire(market) == 0
    assert await market.status_of(order) == "paid_escrow"
    assert telemetry.STALE_EVENTS.labels("payment_window")._value.get() == counted + 1
    assert await market.fetch("SELECT 1 FROM order_timers") == []


async def test_a_failing_timer_does_not_delay_the_others(market: Market) -> None:
    product = await market.sell(stock=3)
    orders = [await market.ordered(product) for _ in range(3)]
    # A product whose stock can grow no more: freeing it is out of the range of an integer.
    await market.fetch(
        "UPDATE order_items SET product_id = $2 WHERE order_id = $1::uuid",
        orders[0]["id"],
        await market.sell(stock=2**31 - 1),
    )
    market.clock.advance(timedelta(minutes=15))
    assert await fire(market) == 2
    assert [await market.status_of(order) for order in orders] == ["Processing", "expired", "expired"]


async def test_a_backlog_is_fired_batch_by_batch(market: Market) -> None:
    product = await market.sell(stock=10_000)
    await market.ordered(product)
    await market.fetch(
        """
        WITH more AS (
            INSERT INTO orders SELECT gen_random_uuid(), 'CM-0000-' || to_char(n, 'FM0000'), buyer_id, vendor_id,
                campus_id, hub_id, status, currency, total_amount, subtotal_minor, delivery_fee_minor, commission_minor,
                refunded_minor, delivery_note, payment_due_at, delivered_at, gen_random_uuid(), fingerprint, revision,
                created_at, updated_at
            FROM orders, generate_series(1, $1) AS n RETURNING id, payment_due_at
        )
        INSERT INTO order_timers SELECT id, 'payment_window', payment_due_at FROM more
        """,
        BATCH,
    )
    market.clock.advance(timedelta(minutes=15))
    assert [await fire(market) for _ in range(3)] == [BATCH, 1, 0]
