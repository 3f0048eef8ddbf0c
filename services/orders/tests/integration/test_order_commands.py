import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from common.database.errors import DatabaseUnavailable
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from orders import timers
from orders.timers import fire_timers_once
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, STEP_UP_REQUIRED, error_of
from testkit.service_kit import second_factor_at

from .conftest import Market
from .factories import refund_settled


@pytest.mark.parametrize("role", ["buyer", "vendor", "support"])
async def test_before_payment_buyer_vendor_and_staff_cancel_and_the_stock_is_free_again(
    market: Market, role: str
) -> None:
    product = await market.sell(stock=2)
    order = await market.ordered(product, 2)
    headers = {
        "buyer": market.as_buyer(),
        "vendor": market.as_merchant(),
        "support": market.as_staff("support_agent"),
    }[role]
    response = await market.post(order, "cancel", headers, {"reason": "changed my mind"})
    assert response.status_code == 200, response.text
    assert (response.json()["data"]["status"], response.json()["data"]["revision"]) == ("cancelled", 2)
    assert ("commissionMinor" in response.json()["data"]) == (role != "buyer")
    assert await market.stock_of(product) == 2
    events = await market.published("orders.order_cancelled.v1")
    assert [(event["orderId"], event["reason"]) for event in events] == [(order["id"], "changed my mind")]
    stock = [event["inStock"] for event in await market.published("orders.product_changed.v1")]
    assert stock == [False, True]
    assert await market.fetch("SELECT 1 FROM order_timers") == []
    again = await market.post(order, "cancel", headers, {"reason": "again"})
    assert (again.status_code, again.json()["data"]["revision"]) == (200, 2)
    assert await market.stock_of(product) == 2


async def test_cancelling_twenty_times_at_once_frees_the_stock_once(market: Market) -> None:
    product = await market.sell(stock=5)
    order = await market.ordered(product, 3)
    responses = await asyncio.gather(
        *(market.post(order, "cancel", market.as_buyer(), {"reason": "no"}) for _ in range(20))
    )
    assert {response.status_code for response in responses} == {200}
    assert await market.stock_of(product) == 5
    assert len(await market.published("orders.order_cancelled.v1")) == 1


@pytest.mark.parametrize("dispatched", [False, True])
async def test_cancelling_a_paid_order_sends_all_of_the_money_back(market: Market, dispatched: bool) -> None:
    order = await market.paid()
    if dispatched:
        await market.post(order, "dispatch", market.as_merchant())
    response = await market.post(order, "cancel", market.as_merchant(), {"reason": "sold out"})
    assert (response.status_code, response.json()["data"]["status"]) == (200, "refund_pending")
    assert (await market.post(order, "cancel", market.as_merchant(), {"reason": "sold out"})).status_code == 200
    events = await market.published("orders.refund_requested.v1")
    assert [(event["orderId"], event["amountMinor"], event["reason"]) for event in events] == [
        (order["id"], order["totalMinor"], "sold out")
    ]


@pytest.mark.parametrize("role", ["buyer", "vendor", "support"])
async def test_cancelling_a_paid_order_before_dispatch_returns_its_stock_once(market: Market, role: str) -> None:
    product = await market.sell(stock=2)
    order = await market.paid(product_id=product, quantity=2)
    headers = {
        "buyer": market.as_buyer(),
        "vendor": market.as_merchant(),
        "support": market.as_staff("support_agent"),
    }[role]
    responses = await asyncio.gather(*(market.post(order, "cancel", headers, {"reason": "no"}) for _ in range(5)))
    assert {response.status_code for response in responses} == {200}
    assert (await market.status_of(order), await market.stock_of(product)) == ("refund_pending", 2)
    events = await market.published("orders.product_changed.v1")
    assert [(event["productId"], event["inStock"]) for event in events] == [(str(product), False), (str(product), True)]


async def test_late_replays_never_change_the_stock_again(market: Market) -> None:
    product = await market.sell(stock=2)
    order = await market.ordered(product, 2)
    received = await market.pay(order)
    cancelled = {"reason": "no"}
    await market.post(order, "cancel", market.as_buyer(), cancelled)
    for _ in range(2):
        await market.pay(order, event_id=received.event_id, sequence=received.sequence)
        await market.pay(order)
        await market.post(order, "cancel", market.as_merchant(), cancelled)
        market.clock.advance(timedelta(days=30))
        assert await fire_timers_once(market.dependencies) == 0
    refund = (await market.published("orders.refund_requested.v1"))[0]
    await market.receive(refund_settled(order, refund["refundId"], order["totalMinor"]))
    # The cancellation is complete: a repeated request is a success without effect.
    assert (await market.post(order, "cancel", market.as_buyer(), cancelled)).status_code == 200
    assert (await market.status_of(order), await market.stock_of(product)) == ("refunded", 2)


async def test_staff_refund_a_paid_order_only_with_a_recent_second_factor(market: Market) -> None:
    paid, unpaid = await market.paid(), await market.ordered()
    reason = {"reason": "lost"}
    with_password = market.as_staff("support_agent", stepped_up=False)
    for order in (paid, unpaid):
        assert (
            error_of(await market.client.get(f"/api/orders/{order['id']}", headers=with_password)) == STEP_UP_REQUIRED
        )
        assert error_of(await market.post(order, "cancel", with_password, reason)) == STEP_UP_REQUIRED
    absent = {"id": str(new_id())}
    assert error_of(await market.post(absent, "cancel", with_password, reason)) == STEP_UP_REQUIRED
    an_hour_ago = market.as_staff("support_agent", amr=[second_factor_at(market.clock.now() - timedelta(hours=1))])
    assert (await market.client.get(f"/api/orders/{paid['id']}", headers=an_hour_ago)).status_code == 200
    assert error_of(await market.post(paid, "cancel", an_hour_ago, reason)) == STEP_UP_REQUIRED
    assert await market.status_of(paid) == "paid_escrow"
    # No money moves.
    assert (await market.post(unpaid, "cancel", an_hour_ago, reason)).status_code == 200
    assert (await market.post(paid, "cancel", market.as_staff("support_agent"), reason)).status_code == 200
    assert await market.status_of(paid) == "refund_pending"


async def test_staff_use_their_own_orders_with_a_password_alone(market: Market) -> None:
    order = await market.paid()
    own = market.as_buyer(roles=("buyer", "support_agent"), stepped_up=False)
    listed = (await market.client.get("/api/orders", headers=own)).json()["data"]
    assert [shown["id"] for shown in listed] == [order["id"]]
    assert (await market.post(order, "cancel", own, {"reason": "mine"})).status_code == 200
    assert await market.status_of(order) == "refund_pending"


async def test_a_cancellation_returns_no_stock_of_dispatched_units(market: Market) -> None:
    product = await market.sell(stock=2)
    order = await market.paid(product_id=product, quantity=2)
    await market.post(order, "dispatch", market.as_merchant())
    response = await market.post(order, "cancel", market.as_staff("support_agent"), {"reason": "lost"})
    assert (response.status_code, response.json()["data"]["status"]) == (200, "refund_pending")
    assert await market.stock_of(product) == 0
    events = await market.published("orders.product_changed.v1")
    assert [event["inStock"] for event in events] == [False]


async def test_an_outage_of_the_database_ends_a_round_of_timers(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Otherwise each of a hundred orders waits for a connection, and logs a bug.
    fired: list[UUID] = []

    async def end_connection(uow: UnitOfWork, order_id: UUID, *_: Any, **__: Any) -> None:
        fired.append(order_id)
        await uow.fetch("SELECT pg_terminate_backend(pg_backend_pid())")

    for _ in range(2):
        await market.ordered(await market.sell(stock=1))
    market.clock.advance(timedelta(minutes=15))
    with monkeypatch.context() as failing:
        failing.setattr(timers, "fire_timer", end_connection)
        with pytest.raises(DatabaseUnavailable):
            await fire_timers_once(market.dependencies)
    assert len(fired) == 1
    assert await fire_timers_once(market.dependencies) == 2


async def test_the_stock_of_a_late_charge_returns_once(market: Market) -> None:
    """Stock is released at the end of the payment window, reserved again by the late charge, and released again when
    that order is cancelled.
    """
    product = await market.sell(stock=1)
    order = await market.ordered(product)
    market.clock.advance(timedelta(minutes=15))
    assert await fire_timers_once(market.dependencies) == 1
    await market.pay(order)
    assert await market.stock_of(product) == 0
    await market.post(order, "cancel", market.as_buyer(), {"reason": "too late"})
    assert (await market.status_of(order), await market.stock_of(product)) == ("refund_pending", 1)


async def test_the_buyer_cannot_cancel_what_is_on_its_way(market: Market) -> None:
    order = await market.paid()
    await market.post(order, "dispatch", market.as_merchant())
    assert error_of(await market.post(order, "cancel", market.as_buyer(), {"reason": "late"})) == CONFLICT
    assert await market.status_of(order) == "dispatched"


@pytest.mark.parametrize("status", ["expired", "delivered", "paid", "disputed"])
async def test_an_order_that_has_ended_cannot_be_cancelled_or_dispatched(market: Market, status: str) -> None:
    order = await market.ordered()
    await market.fetch("UPDATE orders SET status = $2 WHERE id = $1", UUID(order["id"]), status)
    for headers in (market.as_buyer(), market.as_merchant(), market.as_staff("support_agent")):
        assert (await market.post(order, "cancel", headers, {"reason": "no"})).status_code == 409
    assert (await market.post(order, "dispatch", market.as_merchant())).status_code == 409
    assert await market.status_of(order) == status


@pytest.mark.parametrize(
    "body", [{}, {"reason": ""}, {"reason": "  "}, {"reason": 1}, {"reason": "x", "refundMinor": 1}]
)
async def test_a_cancellation_needs_a_reason_and_nothing_else(market: Market, body: dict[str, Any]) -> None:
    order = await market.ordered()
    assert error_of(await market.post(order, "cancel", market.as_buyer(), body)) == INVALID
    assert await market.status_of(order) == "Processing"


async def test_who_may_see_but_not_act_is_refused_and_who_may_not_see_finds_nothing(market: Market) -> None:
    order = await market.paid(hubId=await market.hub())
    for headers in (market.as_staff("auditor"), market.as_agent(order)):
        assert (await market.post(order, "cancel", headers, {"reason": "no"})).status_code == 403
        assert (await market.post(order, "dispatch", headers)).status_code == 403
    outsider = market.as_merchant(vendor_id=new_id())
    for verb, body in (("cancel", {"reason": "no"}), ("dispatch", {})):
        response = await market.post(order, verb, outsider, body)
        absent = await market.post({"id": str(new_id())}, verb, outsider, body)
        assert error_of(response) == NOT_FOUND
        assert response.json()["detail"] == absent.json()["detail"]
    assert await market.status_of(order) == "paid_escrow"


async def test_a_merchant_who_bought_it_from_another_cannot_dispatch_it(market: Market) -> None:
    order = await market.paid(buyer_id=market.merchant_id)
    assert error_of(await market.post(order, "dispatch", market.as_merchant(vendor_id=new_id()))) == FORBIDDEN


async def test_dispatch_starts_the_pin_window_and_is_published_once(market: Market) -> None:
    order = await market.paid()
    responses = [await market.post(order, "dispatch", market.as_merchant()) for _ in range(2)]
    assert [(response.status_code, response.json()["data"]["status"]) for response in responses] == [
        (200, "dispatched")
    ] * 2
    assert len(await market.published("orders.order_dispatched.v1")) == 1
    timers = await market.fetch("SELECT kind FROM order_timers")
    assert [timer["kind"] for timer in timers] == ["pin_window"]


async def test_an_unpaid_order_cannot_be_dispatched(market: Market) -> None:
    order = await market.ordered()
    assert error_of(await market.post(order, "dispatch", market.as_merchant())) == CONFLICT
    assert (await market.post(order, "dispatch", market.as_merchant(), {"to": "x"})).status_code == 422


async def test_an_id_that_is_no_uuid_is_404(market: Market) -> None:
    for path in ("/api/orders/12", "/api/orders/12/items", "/api/products/12"):
        assert error_of(await market.client.get(path, headers=market.as_buyer())) == NOT_FOUND
