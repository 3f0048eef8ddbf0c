"""A suspended vendor sells nothing new, and its open orders finish (contract section 10)."""

import pytest

from common.primitives.ids import new_id
from contracts.identity import (
    CampusChanged,
    HubChanged,
    VendorApproved,
    VendorChanged,
    VendorReinstated,
    VendorSuspended,
)
from testkit.responses import CONFLICT, error_of

from .conftest import Market


async def suspend(market: Market, **delivery):
    return await market.receive(market.vendor_event(VendorSuspended, reason="Complaints"), **delivery)


async def reinstate(market: Market, **delivery):
    return await market.receive(market.vendor_event(VendorReinstated), **delivery)


async def is_suspended(market: Market):
    [row] = await market.fetch("SELECT suspended FROM vendors WHERE id = $1", market.vendor_id)
    return row["suspended"]


async def listed(market: Market, **params):
    response = await market.client.get("/api/products", params=params)
    return {product["id"] for product in response.json()["data"]}


async def test_a_suspended_vendors_products_are_neither_listed_nor_sold(market: Market) -> None:
    product_id = await market.sell(stock=5)
    elsewhere = await market.sell(vendor_id=new_id())
    await suspend(market)
    assert await listed(market) == {str(elsewhere)}
    assert await listed(market, vendorId=str(market.vendor_id)) == set()
    assert (await market.client.get(f"/api/products/{product_id}")).status_code == 404
    response = await market.checkout(product_id)
    assert error_of(response) == CONFLICT
    assert "suspended" in response.json()["detail"]
    assert await market.stock_of(product_id) == 5
    assert await market.fetch("SELECT id FROM orders") == []
    assert await market.published("orders.order_placed.v1") == []
    await reinstate(market)
    assert await listed(market) == {str(product_id), str(elsewhere)}
    assert (await market.checkout(product_id)).status_code == 201


async def test_orders_placed_before_the_suspension_finish(market: Market) -> None:
    waiting, paid = await market.ordered(), await market.paid()
    await suspend(market)
    await market.pay(waiting)
    for order in (waiting, paid):
        dispatched = await market.post(order, "dispatch", market.as_merchant())
        assert (dispatched.status_code, dispatched.json()["data"]["status"]) == (200, "dispatched")


async def test_the_same_checkout_again_returns_its_order_even_after_the_suspension(market: Market) -> None:
    product_id, key = await market.sell(), "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"
    first = await market.checkout(product_id, key=key)
    await suspend(market)
    again = await market.checkout(product_id, key=key)
    assert (again.status_code, again.json()["data"]["id"]) == (201, first.json()["data"]["id"])


@pytest.mark.parametrize("order", [(2, 3), (3, 2)])
async def test_the_highest_sequence_of_a_suspension_is_kept_in_any_order(market: Market, order) -> None:
    deliveries = {2: suspend, 3: reinstate}
    for sequence in order:
        await deliveries[sequence](market, sequence=sequence)
    assert await is_suspended(market) is False
    await suspend(market, sequence=4)
    assert await is_suspended(market) is True


async def test_a_changed_name_neither_ends_a_suspension_nor_makes_it_stale(market: Market) -> None:
    await market.receive(market.vendor_event(VendorChanged, commission_basis_points=250), sequence=3)
    await suspend(market, sequence=2)
    await market.receive(market.vendor_event(VendorApproved), sequence=1)
    [row] = await market.fetch("SELECT suspended, commission_basis_points FROM vendors")
    assert (row["suspended"], row["commission_basis_points"]) == (True, 250)


async def test_a_suspension_delivered_again_after_the_reinstatement_changes_nothing(market: Market) -> None:
    first = await suspend(market, sequence=2)
    await reinstate(market, sequence=3)
    await suspend(market, sequence=2, event_id=first.event_id)
    assert await is_suspended(market) is False


async def test_nothing_is_delivered_to_a_hub_of_a_closed_campus(market: Market) -> None:
    product_id, hub_id, campus_id = await market.sell(), new_id(), new_id()
    hub = HubChanged(hub_id=hub_id, campus_id=campus_id, name="Gate", delivery_fee_minor=0, active=True)
    await market.receive(hub)
    for active, status in ((True, 201), (False, 422), (True, 201)):
        await market.receive(CampusChanged(campus_id=campus_id, name="Lagos", active=active))
        response = await market.checkout(product_id, hubId=str(hub_id))
        assert response.status_code == status
    assert await market.stock_of(product_id) == 8
