"""The store of orders, PINs, stock and sales: each statement changes the rows that it names, and each row once."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from common.database.state_changes import StateChanged
from common.primitives.ids import new_id
from orders.domain.orders import ReportedEscrow, Windows
from orders.domain.sales import SaleLine
from orders.store import orders, pins, refunds, returns, sales, stock
from orders.store.pins import Verification
from orders.store.refunds import Refund

from .conftest import Market
from .steps import created_sale, delivered_order, requested_return

WINDOWS = Windows(*[timedelta(days=1)] * 4)


async def row_of(market: Market, table: str, row_id: Any) -> Any:
    [row] = await market.fetch(f"SELECT * FROM {table} WHERE id = $1", UUID(str(row_id)))
    return row


async def test_the_escrow_of_an_order_is_that_of_the_highest_sequence(market: Market) -> None:
    other, own = await market.paid(), await market.paid()
    before = await row_of(market, "orders", other["id"])
    timers = await market.fetch("SELECT * FROM order_timers WHERE order_id = $1", UUID(other["id"]))
    assert timers
    order_id = UUID(own["id"])
    revision = (await row_of(market, "orders", order_id))["revision"]

    async def escrow() -> tuple[int, int]:
        row = await row_of(market, "orders", order_id)
        return row["escrow_minor"], row["escrow_sequence"]

    for minor, sequence, expected in ((700, 7, (700, 7)), (600, 7, (700, 7)), (500, 6, (700, 7)), (400, 8, (400, 8))):
        async with market.unit_of_work() as uow:
            await orders.save_escrow(uow, order_id, ReportedEscrow(minor, sequence))
        assert await escrow() == expected
    now = market.clock.now()
    for minor, sequence, expected in ((300, 8, (400, 8)), (200, 9, (200, 9))):
        async with market.unit_of_work() as uow:
            order = await orders.lock_order(uow, order_id)
            assert order is not None
            reported = ReportedEscrow(minor, sequence)
            await orders.save_transition(
                uow, order, "dispatched", "dispatched", now, WINDOWS, orders.TransitionFacts(reported)
            )
        assert await escrow() == expected
    assert (await row_of(market, "orders", order_id))["revision"] == revision + 2
    assert await row_of(market, "orders", other["id"]) == before
    assert await market.fetch("SELECT * FROM order_timers WHERE order_id = $1", UUID(other["id"])) == timers
    async with market.unit_of_work() as uow:
        for shown in (own, other):
            found = await orders.find_order(uow, UUID(shown["id"]))
            assert found is not None
            assert str(found.id) == shown["id"]
        assert await orders.find_order(uow, uuid4()) is None
        assert await orders.lock_order(uow, uuid4()) is None


async def test_a_transition_is_saved_from_the_state_that_was_decided_on_only(market: Market) -> None:
    own, now = await market.paid(), market.clock.now()
    before = await row_of(market, "orders", own["id"])
    async with market.unit_of_work() as uow:
        order = await orders.lock_order(uow, UUID(own["id"]))
        assert order is not None
        with pytest.raises(StateChanged):
            await orders.save_transition(
                uow, replace(order, status="dispatched"), "disputed", "pin_window_ended", now, WINDOWS
            )
    assert await row_of(market, "orders", own["id"]) == before


async def test_each_state_of_an_order_has_its_only_timer(market: Market) -> None:
    other, own = await market.paid(), await market.ordered()
    others = await market.fetch("SELECT * FROM order_timers WHERE order_id = $1", UUID(other["id"]))
    kinds = "SELECT kind FROM order_timers WHERE order_id = $1"
    steps = (("paid_escrow", ["vendor_idle"]), ("delivered", []), ("dispatched", ["pin_window"]), ("refunded", []))
    for to, expected in steps:
        async with market.unit_of_work() as uow:
            order = await orders.lock_order(uow, UUID(own["id"]))
            assert order is not None
            await orders.save_transition(uow, order, to, "escrow_held", market.clock.now(), WINDOWS)
        assert [row["kind"] for row in await market.fetch(kinds, UUID(own["id"]))] == expected
    assert await market.fetch("SELECT * FROM order_timers WHERE order_id = $1", UUID(other["id"])) == others


async def test_a_verification_is_bound_to_its_callers_key_once(market: Market) -> None:
    own = await market.paid()
    now, key, caller = market.clock.now(), uuid4(), new_id()
    order_id = UUID(own["id"])
    async with market.unit_of_work() as uow:
        record = pins.record_verification_if_new
        assert await record(uow, new_id(), key, order_id, Verification(b"theirs", 3), now)
        assert await record(uow, caller, key, order_id, Verification(b"own", None), now)
        assert not await record(uow, caller, key, order_id, Verification(b"again", 2), now)
        find, issued = pins.lock_pin_and_find_verification, await pins.lock_pin(uow, order_id)
        assert issued is not None
        assert await find(uow, order_id, caller, key) == (issued, Verification(b"own", None))
        assert await find(uow, order_id, caller, uuid4()) == (issued, None)
        assert await find(uow, order_id, new_id(), key) == (issued, None)
        assert await find(uow, new_id(), caller, key) == (None, Verification(b"own", None))


async def test_a_refund_counts_once_in_its_own_order(market: Market) -> None:
    other, own = await market.paid(), await market.paid()
    now, ids = market.clock.now(), {}
    async with market.unit_of_work() as uow:
        for order in (other, own):
            ids[order["id"]] = new_id()
            await refunds.record_refund(uow, ids[order["id"]], UUID(order["id"]), 100, "x", now)
    others = await row_of(market, "order_refunds", ids[other["id"]])
    async with market.unit_of_work() as uow:
        requested = await refunds.lock_refund(uow, ids[own["id"]], UUID(own["id"]))
        assert requested == Refund("requested", False, 0)
        await refunds.save_refund(uow, ids[own["id"]], UUID(own["id"]), requested, "posted", 7)
        for refund_id in (ids[own["id"]], ids[other["id"]]):
            with pytest.raises(StateChanged):
                await refunds.save_refund(uow, refund_id, UUID(own["id"]), requested, "posted", 7)
    assert await row_of(market, "order_refunds", ids[other["id"]]) == others
    async with market.unit_of_work() as uow:
        assert await refunds.lock_refund(uow, ids[own["id"]], UUID(own["id"])) == Refund("posted", True, 7)
        assert await refunds.lock_refund(uow, ids[own["id"]], UUID(other["id"])) is None


async def test_a_return_request_has_its_own_items(market: Market) -> None:
    other = await requested_return(market, await delivered_order(market, (1_000, 2)), 2)
    own = await requested_return(market, await delivered_order(market, (1_000, 3), (500, 1)), 3, 1)
    async with market.unit_of_work() as uow:
        for shown in (own, other):
            locked = await returns.lock_request(uow, UUID(shown["id"]))
            assert locked is not None
            assert sorted((str(item.item_id), item.quantity) for item in locked.items) == sorted(
                (item["itemId"], item["quantity"]) for item in shown["items"]
            )


async def product_rows(market: Market) -> dict[UUID, tuple[int, int]]:
    """Stock and revision by product."""
    return {row["id"]: (row["stock"], row["revision"]) for row in await market.fetch("SELECT * FROM products")}


async def test_units_go_back_once_and_each_change_has_a_revision(market: Market) -> None:
    product, neighbour = await market.sell(price_minor=1_000, stock=9), await market.sell(stock=9)
    sale = await created_sale(market, product, quantity=9, perBuyerLimit=9)
    own = await market.ordered(product, 2)
    order_id, sale_id = UUID(own["id"]), UUID(sale["id"])
    start = (await product_rows(market))[product]
    async with market.unit_of_work() as uow:
        [freed] = await stock.free_stock(uow, order_id)
        assert (freed.product_id, freed.stock, freed.availability_changed) == (product, 9, False)
    assert (await product_rows(market))[product] == (9, start[1] + 1)
    assert (await row_of(market, "flash_sales", sale_id))["sold"] == 0
    # The units of the sale are given back once, and claimed again once.
    async with market.unit_of_work() as uow:
        await stock.free_stock(uow, order_id)
    assert (await row_of(market, "flash_sales", sale_id))["sold"] == 0
    for _ in range(2):
        async with market.unit_of_work() as uow:
            assert len(await stock.reserve_stock_again(uow, order_id)) == 1
        assert (await row_of(market, "flash_sales", sale_id))["sold"] == 2
    stock_left, revision = (await product_rows(market))[product]
    assert (stock_left, revision) == (11 - 4, start[1] + 4)
    assert (await product_rows(market))[neighbour] == (9, 1)


async def reserved_again(market: Market, order: dict[str, Any]) -> bool:
    """Return whether an order whose units are free reserves them again. It frees them afterwards."""
    async with market.unit_of_work() as uow:
        await stock.free_stock(uow, UUID(order["id"]))
        reserved = bool(await stock.reserve_stock_again(uow, UUID(order["id"])))
    return reserved


async def test_the_last_units_of_stock_sale_and_share_are_reserved_again(market: Market) -> None:
    product, further = await market.sell(price_minor=1_000, stock=100), await market.sell(price_minor=1_000, stock=100)
    await created_sale(market, product, quantity=5, perBuyerLimit=3)
    await created_sale(market, further, quantity=5, perBuyerLimit=3)
    own = await market.ordered(product, 2)
    # Others have the rest of this sale; the buyer has one more unit of it, and all of another sale.
    await market.ordered(product, 2, buyer_id=new_id())
    await market.ordered(product, 1)
    elsewhere = await market.ordered(further, 3)
    assert await reserved_again(market, own)
    # One unit less in the sale, or in the buyer's share, is one too few.
    statement = "UPDATE flash_sales SET {} WHERE product_id = $1 RETURNING 1"
    for less, more in (("quantity = quantity - 1", "quantity = quantity + 1"),
                       ("per_buyer_limit = per_buyer_limit - 1", "per_buyer_limit = per_buyer_limit + 1")):  # fmt: skip
        async with market.unit_of_work() as uow:
            await stock.free_stock(uow, UUID(own["id"]))
        await market.fetch(statement.format(less), product)
        async with market.unit_of_work() as uow:
            assert await stock.reserve_stock_again(uow, UUID(own["id"])) == []
        # An order of another sale is not held by this one.
        assert await reserved_again(market, elsewhere)
        await market.fetch(statement.format(more), product)
        async with market.unit_of_work() as uow:
            assert len(await stock.reserve_stock_again(uow, UUID(own["id"]))) == 1


async def test_units_of_a_removed_product_are_not_reserved_again(market: Market) -> None:
    product, kept = await market.sell(stock=9), await market.sell(stock=9)
    items = [{"productId": str(product), "quantity": 1}, {"productId": str(kept), "quantity": 1}]
    headers = market.as_buyer(idempotency_key=uuid4())
    order = (await market.client.post("/api/orders/checkout", json={"items": items}, headers=headers)).json()["data"]
    async with market.unit_of_work() as uow:
        await stock.free_stock(uow, UUID(order["id"]))
    await market.fetch("UPDATE products SET removed_at = now() WHERE id = $1 RETURNING 1", product)
    async with market.unit_of_work() as uow:
        assert await stock.reserve_stock_again(uow, UUID(order["id"])) == []
    assert [(await product_rows(market))[one][0] for one in (product, kept)] == [9, 9]


async def test_the_figures_of_an_order_are_those_of_the_highest_sequence(market: Market) -> None:
    own = await market.paid()
    [item] = await market.fetch("SELECT id FROM order_items WHERE order_id = $1", UUID(own["id"]))
    line = SaleLine(item["id"], 100, 0, 0, 0, 0, 0)
    now = market.clock.now()
    async with market.unit_of_work() as uow:
        save = sales.save_sale_lines
        results = [
            await save(uow, [line._replace(gross_minor=gross, locked_minor=gross)], now + timedelta(days=1), sequence)
            for gross, sequence in ((1, 50), (2, 50), (3, 49), (4, 51))
        ]
        assert results == [True, False, False, True]
        [row] = await uow.fetch("SELECT gross_minor FROM sale_lines WHERE item_id = $1", item["id"])
        assert row["gross_minor"] == 4
