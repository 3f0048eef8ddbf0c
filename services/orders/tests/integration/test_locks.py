"""Each lock of the store holds the rows that it names, and no other."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders.store import flash_sales, orders, pins, receipts, refunds, returns, stock
from orders.timers import fire_timers_once
from testkit.locks import Locks, assert_locks, waits_for

from .conftest import Market
from .steps import created_sale
from .stories import sale_story


async def lock_sales_of(uow: UnitOfWork, product_id: UUID) -> bool:
    await flash_sales.lock_sales_of(uow, product_id)
    return True


async def lock_pin_of_attempt(uow: UnitOfWork, order_id: UUID) -> object:
    issued, _ = await pins.lock_pin_and_find_verification(uow, order_id, UUID(int=1), UUID(int=1))
    return issued


LOCKS: Locks = {
    "order": ("SELECT id FROM orders", orders.lock_order),
    "sold order": ("SELECT id FROM orders", orders.lock_sold_order),
    "paid order": ("SELECT id FROM orders", receipts.lock_paid_order),
    "PIN": ("SELECT order_id FROM delivery_pins", pins.lock_pin),
    "PIN of an attempt": ("SELECT order_id FROM delivery_pins", lock_pin_of_attempt),
    "refund": (
        "SELECT (id, order_id) FROM order_refunds",
        lambda uow, ids: refunds.lock_refund(uow, *ids),
    ),
    "return request": ("SELECT id FROM return_requests", returns.lock_request),
    "flash sale": ("SELECT id FROM flash_sales", flash_sales.lock_sale),
    "sales of a product": ("SELECT id FROM products", lock_sales_of),
}


async def advanced_until(market: Market, last: str) -> None:
    story = sale_story(market)
    while await anext(story) != last:
        pass


async def test_a_lock_holds_its_own_rows_only(market: Market) -> None:
    for _ in range(2):
        await advanced_until(Market(market.app, market.clock), "return approved")
    await assert_locks(market.database, LOCKS)


async def test_units_are_reserved_again_after_a_concurrent_change_of_the_products(market: Market) -> None:
    """The products are locked before their stock is read, and no others."""
    worlds = [Market(market.app, market.clock) for _ in range(2)]
    for world in worlds:
        await advanced_until(world, "expired")
    own, other = [
        (await market.fetch("SELECT id FROM orders WHERE buyer_id = $1", world.buyer_id))[0]["id"] for world in worlds
    ]
    database = market.database
    assert await waits_for(
        database, lambda uow: stock.reserve_stock_again(uow, own), lambda uow: stock.reserve_stock_again(uow, own)
    )
    assert not await waits_for(
        database, lambda uow: stock.free_stock(uow, own), lambda uow: stock.reserve_stock_again(uow, other)
    )


async def test_a_share_that_a_concurrent_late_charge_reserves_is_not_reserved_twice(market: Market) -> None:
    product = await market.sell(price_minor=1_000, stock=100)
    await created_sale(market, product, quantity=10, perBuyerLimit=2)
    expired = []
    for _ in range(2):
        expired.append(UUID((await market.ordered(product, 2))["id"]))
        market.clock.advance(timedelta(minutes=16))
        await fire_timers_once(market.dependencies)
    reserved: list[list[Any]] = []

    async def reserve(uow: UnitOfWork, order_id: UUID) -> None:
        reserved.append(await stock.reserve_stock_again(uow, order_id))

    database = market.database
    assert await waits_for(database, lambda uow: reserve(uow, expired[0]), lambda uow: reserve(uow, expired[1]))
    assert [len(levels) for levels in reserved] == [1, 0]
