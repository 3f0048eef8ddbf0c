"""A payment, a dispatch and a release decide without a lock, and again under it where the order has changed."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from common.database.late_transactions import LateConnection
from testkit.fixtures import eventually
from testkit.responses import data_of

from .conftest import Market

Act = Callable[[Market, dict[str, Any]], Awaitable[Any]]
_WAITING: Final = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the number of parts of each statement that was a transaction."""
    found, run = list[int](), LateConnection.commit_alone

    async def commit_alone(late: LateConnection, parts: Any, *event: Any) -> Any:
        row = await run(late, parts, *event)
        found.append(len(parts))
        return row

    monkeypatch.setattr(LateConnection, "commit_alone", commit_alone)
    return found


async def pay(market: Market, order: dict[str, Any]) -> None:
    await market.pay(order)


async def dispatch(market: Market, order: dict[str, Any]) -> None:
    data_of(await market.post(order, "dispatch", market.as_merchant()))


async def release(market: Market, order: dict[str, Any]) -> None:
    await market.release(order)


STEPS: Final[list[tuple[Act, str, str]]] = [
    (pay, "paid_escrow", "orders.delivery_pin_issued.v1"),
    (dispatch, "dispatched", "orders.order_dispatched.v1"),
    (release, "paid", "orders.order_completed.v1"),
]


async def test_each_step_of_an_undisturbed_order_is_one_statement(market: Market, alone: list[int]) -> None:
    order = await market.ordered()
    for act, status, event in STEPS:
        alone.clear()
        await act(market, order)
        assert len(alone) == 1
        assert await market.status_of(order) == status
        assert len(await market.published(event)) == 1
    [receipt] = await market.fetch("SELECT subject_id FROM issued_documents")
    assert receipt["subject_id"] == UUID(order["id"])


@asynccontextmanager
async def held_lock(market: Market, order: dict[str, Any], statement: str) -> Any:
    """Run the statement about the order, and commit it when another transaction waits for its lock."""
    async with market.unit_of_work() as uow:
        await uow.execute(statement, UUID(order["id"]))
        yield
        await eventually(lambda: market.fetch(_WAITING))


@pytest.mark.parametrize("position", range(3), ids=["pay", "dispatch", "release"])
async def test_a_step_waits_for_a_change_of_its_order_and_then_follows_it(
    market: Market, alone: list[int], position: int
) -> None:
    order = await market.ordered()
    for act, _, _ in STEPS[:position]:
        await act(market, order)
    act, status, event = STEPS[position]
    alone.clear()
    async with held_lock(market, order, "UPDATE orders SET revision = revision + 10 WHERE id = $1"):
        waiting = asyncio.create_task(act(market, order))
    await waiting
    assert alone == []
    assert await market.status_of(order) == status
    assert len(await market.published(event)) == 1


@pytest.mark.parametrize("position", range(3), ids=["pay", "dispatch", "release"])
async def test_a_lock_without_a_change_delays_a_step_only(market: Market, alone: list[int], position: int) -> None:
    order = await market.ordered()
    for act, _, _ in STEPS[:position]:
        await act(market, order)
    act, status, event = STEPS[position]
    alone.clear()
    async with held_lock(market, order, "SELECT FROM orders WHERE id = $1 FOR NO KEY UPDATE"):
        waiting = asyncio.create_task(act(market, order))
    await waiting
    assert len(alone) == 1
    assert await market.status_of(order) == status
    assert len(await market.published(event)) == 1


async def test_a_cancelled_order_is_not_dispatched(market: Market) -> None:
    order = await market.paid()
    async with held_lock(market, order, "UPDATE orders SET status = 'refund_pending' WHERE id = $1"):
        waiting = asyncio.create_task(market.post(order, "dispatch", market.as_merchant()))
    assert (await waiting).status_code == 409
    assert await market.status_of(order) == "refund_pending"
    assert await market.published("orders.order_dispatched.v1") == []


async def test_an_order_that_expires_meanwhile_reserves_its_stock_again(market: Market) -> None:
    product = await market.sell(stock=5)
    order = await market.ordered(product, 2)
    expire = """
    WITH freed AS (
        UPDATE products SET stock = stock + 2 WHERE id = (SELECT product_id FROM order_items WHERE order_id = $1)
    )
    UPDATE orders SET status = 'expired' WHERE id = $1
    """
    async with held_lock(market, order, expire):
        waiting = asyncio.create_task(market.pay(order))
    await waiting
    assert await market.status_of(order) == "paid_escrow"
    assert await market.stock_of(product) == 3


async def test_a_disputed_order_closes_its_dispute_with_the_release(market: Market, alone: list[int]) -> None:
    order = await market.paid()
    data_of(
        await market.post(
            order, "dispute", market.as_buyer(), {"reason": "not_received", "details": "Nothing arrived."}
        )
    )
    alone.clear()
    await market.release(order)
    assert alone == []
    assert await market.status_of(order) == "paid"
    for event in ("orders.dispute_resolved.v1", "orders.order_completed.v1"):
        assert len(await market.published(event)) == 1


async def test_the_response_of_a_dispatch_is_the_order_that_its_vendor_then_reads(market: Market) -> None:
    order = await market.paid()
    market.clock.advance(timedelta(minutes=1))
    dispatched = data_of(await market.post(order, "dispatch", market.as_merchant()))
    assert dispatched == await market.show(order, market.as_merchant())
    assert dispatched["status"] == "dispatched"


async def test_a_dispatch_responds_with_its_own_result(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    order, run = await market.paid(), LateConnection.commit_alone

    async def commit_alone(late: LateConnection, parts: Any, *event: Any) -> Any:
        row = await run(late, parts, *event)
        await market.fetch("UPDATE orders SET status = 'disputed' WHERE id = $1", UUID(order["id"]))
        return row

    monkeypatch.setattr(LateConnection, "commit_alone", commit_alone)
    assert data_of(await market.post(order, "dispatch", market.as_merchant()))["status"] == "dispatched"
