"""A buyer sends a refund to the own balance: with cancel, dispute and return request (contract section 6)."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from orders.app import SERVICE
from testkit.fixtures import DatabaseFactory
from testkit.responses import data_of
from testkit.service_kit import opened

from .conftest import PIN_DELIVERY_KEY, PIN_KEY, Market
from .dispute_steps import COMPLAINT, decide, events, prepared, shown_dispute
from .steps import decide_return, delivered_order, request_return

TO_BALANCE = {"refundTo": "balance"}
CANCEL = {"reason": "changed my mind"}


@pytest_asyncio.fixture(loop_scope="session")
async def switched_off(fresh_database: DatabaseFactory, broker_url: str, clock: ManualClock) -> AsyncIterator[Market]:
    """Return a service whose refunds to the balance are switched off."""
    settings = {"pin_key": PIN_KEY, "pin_delivery_key": PIN_DELIVERY_KEY, "balance_refunds_enabled": False}
    async with opened(SERVICE, await fresh_database("orders"), broker_url, clock=clock, **settings) as service:
        yield Market(service, clock)


async def refund_to(market: Market) -> list[str | None]:
    return [event.get("refundTo") for event in await events(market, "refund_requested")]


@pytest.mark.parametrize(("choice", "expected"), [(TO_BALANCE, "balance"), ({}, None)])
async def test_a_cancellation_names_the_buyers_choice(market: Market, choice, expected) -> None:
    order = await market.paid()
    cancelled = data_of(await market.post(order, "cancel", market.as_buyer(), CANCEL | choice))
    assert (cancelled["status"], await refund_to(market)) == ("refund_pending", [expected])


@pytest.mark.parametrize("outcome", ["buyer", "split"])
async def test_a_dispute_keeps_the_choice_until_its_resolution(market: Market, outcome: str) -> None:
    order = await market.paid()
    data_of(await market.post(order, "dispute", market.as_buyer(), COMPLAINT | TO_BALANCE))
    assert (await shown_dispute(market, order))["refundTo"] == "balance"
    resolution = await prepared(market, order, outcome, 1_000 if outcome == "split" else None)
    data_of(await decide(market, resolution))
    assert await refund_to(market) == ["balance"]


async def test_a_return_keeps_the_choice_until_its_approval(market: Market) -> None:
    order = await delivered_order(market, (150_000, 3))
    requested = [
        data_of(await request_return(market, order, 1, **choice), 201) for choice in (TO_BALANCE, {}, TO_BALANCE)
    ]
    assert [request["refundTo"] for request in requested] == ["balance", None, "balance"]
    for request in requested:
        data_of(await decide_return(market, request))
    assert await refund_to(market) == ["balance", None, "balance"]


async def test_only_the_buyer_chooses(market: Market) -> None:
    order = await market.paid()
    for headers, status in (
        (market.as_merchant(), 422),
        (market.as_staff("support_agent", stepped_up=True), 422),
        (market.as_buyer(new_id()), 404),
    ):
        response = await market.post(order, "cancel", headers, CANCEL | TO_BALANCE)
        assert response.status_code == status, response.text
    other = await market.post(order, "cancel", market.as_buyer(), CANCEL | {"refundTo": "card"})
    assert other.status_code == 422
    assert (await market.status_of(order), await refund_to(market)) == ("paid_escrow", [])


async def test_a_refund_to_a_switched_off_balance_is_rejected(switched_off: Market) -> None:
    order = await switched_off.paid()
    for path, body in (
        ("cancel", CANCEL),
        ("dispute", COMPLAINT),
        ("return-requests", {"items": [{"itemId": order["items"][0]["id"], "quantity": 1}], "reason": "x"}),
    ):
        response = await switched_off.post(order, path, switched_off.as_buyer(), body | TO_BALANCE)
        assert (response.status_code, response.json()["invalid_params"][0]["name"]) == (409, "refundTo")
    data_of(await switched_off.post(order, "cancel", switched_off.as_buyer(), CANCEL))
    assert await refund_to(switched_off) == [None]
