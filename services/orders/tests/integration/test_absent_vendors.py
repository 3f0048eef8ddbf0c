"""A vendor who is away sells nothing new until the end that it named, and paid orders go on (contract section 11.5)."""

from datetime import timedelta

import pytest

from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.identity import VendorChanged, VendorClosed, VendorReinstated
from testkit.responses import CONFLICT, data_of, error_of

from .conftest import Market

KEY = "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"


async def set_absence(market: Market, *, days: int | None = 3, event=VendorChanged, **delivery):
    until = None if days is None else iso(market.clock.now() + timedelta(days=days))
    changed = event(
        vendor_id=market.vendor_id,
        owner_user_id=market.merchant_id,
        business_name="Ada's Kitchen",
        legal_name="Ada Obi Ventures",
        campus_id=market.campus_id,
        absent_until=until,
        absence_message=None if until is None else "Exams",
    )
    await market.receive(changed, **delivery)
    return None if until is None else {"until": until, "message": "Exams"}


async def shown(market: Market, product_id, **headers):
    return data_of(await market.client.get(f"/api/products/{product_id}", headers=headers))["vendorAway"]


async def test_products_show_the_absence_until_it_ends_by_itself(market: Market) -> None:
    product_id = await market.sell()
    assert await shown(market, product_id) is None
    away = await set_absence(market)
    assert await shown(market, product_id) == away
    [listed] = data_of(await market.client.get("/api/products"))
    assert listed["vendorAway"] == away
    [own] = data_of(await market.client.get("/api/products/mine", headers=market.as_merchant()))
    assert own["vendorAway"] == away
    market.clock.advance(timedelta(days=3))
    assert await shown(market, product_id) is None


async def test_no_checkout_is_accepted_before_the_end_of_the_absence(market: Market) -> None:
    product_id = await market.sell(stock=5)
    away = await set_absence(market)
    response = await market.checkout(product_id)
    assert error_of(response) == CONFLICT
    [param] = response.json()["invalid_params"]
    assert param == {"name": "items.0.productId", "reason": f"items[0] its vendor is away until {away['until']}"}
    assert await market.stock_of(product_id) == 5
    assert await market.fetch("SELECT id FROM orders") == []
    market.clock.advance(timedelta(days=3))
    assert (await market.checkout(product_id)).status_code == 201


async def test_a_purchase_names_the_item_whose_vendor_is_absent(market: Market) -> None:
    elsewhere, product_id = await market.sell(vendor_id=new_id()), await market.sell()
    await set_absence(market)
    items = [{"productId": str(each), "quantity": 1} for each in (elsewhere, product_id)]
    response = await market.client.post(
        "/api/purchases", json={"items": items}, headers=market.as_buyer(idempotency_key=KEY)
    )
    assert error_of(response) == CONFLICT
    assert [param["name"] for param in response.json()["invalid_params"]] == ["items.1.productId"]
    assert await market.fetch("SELECT id FROM purchases") == []


async def test_orders_placed_before_the_absence_go_on(market: Market) -> None:
    waiting, paid = await market.ordered(), await market.paid()
    await set_absence(market)
    await market.pay(waiting)
    for order in (waiting, paid):
        dispatched = await market.post(order, "dispatch", market.as_merchant())
        assert (dispatched.status_code, data_of(dispatched)["status"]) == (200, "dispatched")


@pytest.mark.parametrize("sequences", [(2, 3), (3, 2)])
async def test_the_newest_event_decides_whether_a_vendor_is_absent(market: Market, sequences) -> None:
    product_id = await market.sell()
    for sequence in sequences:
        await set_absence(market, days=3 if sequence == 2 else None, sequence=sequence)
    assert await shown(market, product_id) is None


async def test_an_erasure_removes_the_message_of_an_absent_vendor(market: Market) -> None:
    await set_absence(market, sequence=2)
    closed = VendorClosed(vendor_id=market.vendor_id, owner_user_id=market.merchant_id, campus_id=market.campus_id)
    await market.receive(closed, sequence=3)
    [row] = await market.fetch("SELECT absent_until, absence_message FROM vendors WHERE id = $1", market.vendor_id)
    assert (row["absent_until"], row["absence_message"]) == (None, None)


async def test_a_reinstatement_keeps_the_absence(market: Market) -> None:
    product_id = await market.sell()
    away = await set_absence(market, event=VendorReinstated, sequence=4)
    assert await shown(market, product_id) == away
