"""A service of one cell refuses what belongs to another (docs/cells.md), and changes nothing."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest_asyncio

from common.primitives.clock import ManualClock
from contracts.identity import CampusChanged
from orders.app import SERVICE
from testkit.fixtures import DatabaseFactory
from testkit.responses import INVALID, data_of, error_of
from testkit.service_kit import opened

from .conftest import PIN_DELIVERY_KEY, PIN_KEY, Market
from .steps import nothing_happened

IBADAN_CAMPUS = UUID("0192f0c1-7b1e-7cc0-8b30-3a1f3f6f0002")
CELLS: list[dict[str, Any]] = [
    {"name": "lagos", "url": "http://lagos:8080"},
    {"name": "ibadan", "url": "http://ibadan:8080", "campuses": [str(IBADAN_CAMPUS)]},
]


@pytest_asyncio.fixture(loop_scope="session")
async def lagos(fresh_database: DatabaseFactory, broker_url: str, clock: ManualClock) -> AsyncIterator[Market]:
    """Orders of the first cell."""
    urls = await fresh_database("orders")
    settings = {"pin_key": PIN_KEY, "pin_delivery_key": PIN_DELIVERY_KEY, "cell": "lagos", "cells": CELLS}
    async with opened(SERVICE, urls, broker_url, clock=clock, **settings) as running:
        yield Market(running, clock)


def assert_misdirected(response: httpx.Response) -> None:
    assert error_of(response) == (421, INVALID[1])
    assert response.json()["cell"] == "ibadan"


async def test_a_caller_of_another_cell_is_refused(lagos: Market) -> None:
    product = await lagos.sell(stock=5)
    student = lagos.as_buyer(campus_id=IBADAN_CAMPUS)
    assert_misdirected(await lagos.client.get("/api/orders", headers=student))
    body = {"items": [{"productId": str(product), "quantity": 1}]}
    headers = {**student, "Idempotency-Key": str(uuid4())}
    assert_misdirected(await lagos.client.post("/api/orders/checkout", json=body, headers=headers))
    await nothing_happened(lagos, product, 5)


async def test_an_order_at_a_vendor_of_another_cell_is_refused(lagos: Market) -> None:
    # A campus that moved leaves its rows behind.
    product = await lagos.sell(stock=5, campus_id=IBADAN_CAMPUS)
    assert_misdirected(await lagos.checkout(product))
    await nothing_happened(lagos, product, 5)


async def test_an_order_to_a_campus_of_another_cell_is_refused(lagos: Market) -> None:
    await lagos.receive(CampusChanged(campus_id=IBADAN_CAMPUS, name="Ibadan", active=True))
    product = await lagos.sell(stock=5)
    assert_misdirected(await lagos.checkout(product, campusId=str(IBADAN_CAMPUS)))
    await nothing_happened(lagos, product, 5)


async def test_a_vendor_of_another_cell_in_the_cart_is_refused(lagos: Market) -> None:
    product = await lagos.sell(stock=5, campus_id=IBADAN_CAMPUS)
    buyer = lagos.as_buyer()
    cart = data_of(await lagos.client.put(f"/api/carts/current/items/{product}", json={"quantity": 1}, headers=buyer))
    headers = {**buyer, "Idempotency-Key": str(uuid4())}
    checkout = await lagos.client.post("/api/orders/checkout", json={"cartId": cart["id"]}, headers=headers)
    assert_misdirected(checkout)
    await nothing_happened(lagos, product, 5)


async def test_a_campus_of_this_cell_is_served(lagos: Market) -> None:
    product = await lagos.sell(stock=5)
    own = lagos.as_buyer(campus_id=lagos.campus_id)
    body = {"items": [{"productId": str(product), "quantity": 1}]}
    headers = {**own, "Idempotency-Key": str(uuid4())}
    assert (await lagos.client.post("/api/orders/checkout", json=body, headers=headers)).status_code == 201
