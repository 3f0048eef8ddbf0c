"""The limits of a buyer's unpaid orders (contract section 6.3), with the settings as shipped."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from testkit.fixtures import DatabaseFactory
from testkit.responses import data_of
from testkit.service_kit import OpenService, opened

from .conftest import PIN_DELIVERY_KEY, PIN_KEY, SERVICE, Market
from .steps import approve_vendor
from .variant_steps import Shirts, item, variant

ORDERS_MAX = 10


@pytest_asyncio.fixture(loop_scope="session")
async def app(fresh_database: DatabaseFactory, broker_url: str, clock: ManualClock) -> AsyncIterator[OpenService]:
    urls = await fresh_database("orders")
    keys = {"pin_key": PIN_KEY, "pin_delivery_key": PIN_DELIVERY_KEY}
    async with opened(SERVICE, urls, broker_url, clock=clock, **keys) as running:
        yield running


def share_problem(response: httpx.Response, most: int) -> bool:
    [invalid] = response.json()["invalid_params"]
    return (
        response.status_code == 409
        and invalid["name"] == "items.0.quantity"
        and f"at most {most} " in invalid["reason"]
    )


async def test_a_buyer_has_at_most_ten_unpaid_orders(market: Market) -> None:
    product = await market.sell(stock=1_000)
    orders = [await market.ordered(product) for _ in range(ORDERS_MAX)]
    refused = await market.checkout(product)
    assert refused.status_code == 409
    assert "UNPAID_ORDERS_MAX" in refused.json()["detail"]
    assert "10 unpaid orders" in refused.json()["detail"]
    assert await market.stock_of(product) == 1_000 - ORDERS_MAX
    await market.ordered(product, buyer_id=new_id())
    await market.pay(orders[0])
    await market.ordered(product)
    assert (await market.checkout(product)).status_code == 409


async def test_a_purchase_counts_each_of_its_orders(market: Market) -> None:
    own, theirs = await market.sell(stock=1_000), await market.sell(stock=1_000, vendor_id=new_id())
    items = [{"productId": str(product), "quantity": 1} for product in (own, theirs)]

    async def purchase() -> int:
        headers = market.as_buyer(idempotency_key=uuid4())
        return (await market.client.post("/api/purchases", json={"items": items}, headers=headers)).status_code

    await market.ordered(own)
    assert [await purchase() for _ in range(5)] == [201] * 4 + [409]
    assert await market.stock_of(theirs) == 996
    await market.ordered(own)
    assert (await market.checkout(own)).status_code == 409


async def test_the_limits_count_no_order_that_the_buyer_reads_by_another_role(market: Market) -> None:
    own, theirs = await market.sell(stock=1_000), await market.sell(stock=20, vendor_id=new_id())
    for _ in range(ORDERS_MAX):
        await market.ordered(own, buyer_id=new_id())
    await market.ordered(theirs, 10, buyer_id=new_id())
    agent = market.headers(new_id(), roles=("buyer", "support_agent"))
    for headers in (market.as_merchant(), agent):
        body = {"items": [{"productId": str(theirs), "quantity": 2}]}
        key = {"Idempotency-Key": str(uuid4())}
        data_of(await market.client.post("/api/orders/checkout", json=body, headers=headers | key), 201)


async def test_a_repeated_checkout_is_no_further_order(market: Market) -> None:
    product, key = await market.sell(stock=1_000), uuid4()
    first = data_of(await market.checkout(product, key=key), 201)
    for _ in range(ORDERS_MAX - 1):
        await market.ordered(product)
    assert data_of(await market.checkout(product, key=key), 201)["id"] == first["id"]


async def test_concurrent_checkouts_stay_within_the_limit(market: Market) -> None:
    products = [await market.sell(stock=100) for _ in range(20)]
    responses = await asyncio.gather(*(market.checkout(product) for product in products))
    assert sorted(response.status_code for response in responses) == [201] * ORDERS_MAX + [409] * 10


@pytest.mark.parametrize(("stock", "most"), [(5, 5), (6, 3), (7, 3), (2_000, 99)])
async def test_unpaid_pieces_are_at_most_half_of_a_stock_above_five(market: Market, stock: int, most: int) -> None:
    """A line has at most 99 pieces."""
    product = await market.sell(stock=stock)
    if most < min(stock, 99):
        assert share_problem(await market.checkout(product, most + 1), most)
    assert await market.stock_of(product) == stock
    await market.ordered(product, most)
    assert await market.stock_of(product) == stock - most


async def test_the_share_counts_all_unpaid_orders_of_the_buyer(market: Market) -> None:
    """The share is of what is free and of what the buyer holds: an order does not lower the buyer's own limit."""
    product = await market.sell(stock=20)
    first = await market.ordered(product, 6)
    assert share_problem(await market.checkout(product, 5), 10)
    await market.ordered(product, 4)
    assert share_problem(await market.checkout(product), 10)
    # Another buyer finds 10 free pieces.
    assert share_problem(await market.checkout(product, 6, buyer_id=new_id()), 5)
    await market.ordered(product, 5, buyer_id=new_id())
    # What is paid is not held: 5 free and 4 held are 9.
    await market.pay(first)
    assert share_problem(await market.checkout(product), 4)


async def test_concurrent_checkouts_stay_within_the_share(market: Market) -> None:
    product = await market.sell(stock=20)
    responses = await asyncio.gather(*(market.checkout(product, 2) for _ in range(8)))
    assert [response.status_code for response in responses].count(201) == 5
    assert await market.stock_of(product) == 10


async def test_a_cart_checkout_has_the_same_limits(market: Market) -> None:
    product = await market.sell(stock=8)
    headers = market.as_buyer()
    await market.client.put(f"/api/carts/current/items/{product}", json={"quantity": 5}, headers=headers)
    cart = data_of(await market.client.get("/api/carts/current", headers=headers))
    body = {"cartId": cart["id"], "campusId": str(market.campus_id)}
    response = await market.client.post(
        "/api/orders/checkout", json=body, headers={**headers, "Idempotency-Key": str(uuid4())}
    )
    assert share_problem(response, 4)


async def test_the_share_counts_all_variants_of_a_product(market: Market) -> None:
    await approve_vendor(market)
    product = await Shirts(market).create(variants=[variant("Red", stock=10), variant("Blue", stock=10)])
    red, blue = (each["id"] for each in product["variants"])

    async def order(*lines: tuple[str, int]) -> httpx.Response:
        body = {"items": [item(product, variant_id, quantity) for variant_id, quantity in lines]}
        headers = market.as_buyer(idempotency_key=uuid4())
        return await market.client.post("/api/orders/checkout", json=body, headers=headers)

    refused = await order((red, 6), (blue, 5))
    assert [param["name"] for param in refused.json()["invalid_params"]] == ["items.0.quantity", "items.1.quantity"]
    data_of(await order((red, 5), (blue, 4)), 201)
    assert share_problem(await order((blue, 2)), 10)
    data_of(await order((blue, 1)), 201)
