"""Saved products and followed vendors: lists, limits, and the notices of their changes (contract section 11.7)."""

import pytest

from common.primitives.ids import new_id
from contracts.identity import UserErased, VendorApproved, VendorSuspended
from orders.timers import publish_saved_product_changes_once
from testkit.responses import CONFLICT, NOT_FOUND, data_of, error_of

from .conftest import Market

CHANGED = "orders.saved_product_changed.v1"


async def save(market: Market, product_id, buyer_id=None):
    return await market.client.put(f"/api/saved-products/{product_id}", headers=market.as_buyer(buyer_id))


async def saved(market: Market, **params):
    return await market.client.get("/api/saved-products", params=params, headers=market.as_buyer())


async def patch(market: Market, product_id, **fields):
    path = f"/api/products/{product_id}"
    return data_of(await market.client.patch(path, json=fields, headers=market.as_merchant()))


async def changes(market: Market):
    """Return the published changes, as kind, price and savers."""
    await publish_saved_product_changes_once(market.dependencies)
    return [(each["kind"], each["priceMinor"], each["buyerIds"]) for each in await market.published(CHANGED)]


async def test_a_saved_product_is_listed_once_until_it_is_removed(market: Market) -> None:
    first, second = await market.sell(name="Beans"), await market.sell()
    for product_id in (first, second, second):
        assert data_of(await save(market, product_id))["productId"] == str(product_id)
    listed = data_of(await saved(market))
    assert {each["productId"]: each["product"]["name"] for each in listed} == {
        str(first): "Beans",
        str(second): "Jollof Rice",
    }
    for _ in range(2):
        removed = await market.client.delete(f"/api/saved-products/{first}", headers=market.as_buyer())
        assert removed.status_code == 204
    assert [each["productId"] for each in data_of(await saved(market))] == [str(second)]


async def test_a_cursor_walks_the_saved_products(market: Market) -> None:
    expected = {str(await market.sell()) for _ in range(3)}
    for product_id in expected:
        await save(market, product_id)
    page = (await saved(market, limit=2)).json()
    rest = (await saved(market, limit=2, cursor=page["meta"]["next_cursor"])).json()
    assert [len(page["data"]), len(rest["data"])] == [2, 1]
    assert {each["productId"] for each in page["data"] + rest["data"]} == expected


async def test_a_product_that_is_not_listed_is_not_saved_and_keeps_its_place(market: Market) -> None:
    draft, product_id = await market.sell(draft=True), await market.sell()
    for unknown in (draft, new_id()):
        assert error_of(await save(market, unknown)) == NOT_FOUND
    await save(market, product_id)
    await market.client.delete(f"/api/products/{product_id}", headers=market.as_merchant())
    [entry] = data_of(await saved(market))
    assert (entry["productId"], entry["product"]) == (str(product_id), None)


async def test_a_list_has_its_most_entries(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("save_product", "follow_vendor"):
        monkeypatch.setattr(f"orders.use_cases.saved_items.{module}.ENTRIES_MAX", 1)
    first, second = await market.sell(), await market.sell()
    await save(market, first)
    assert error_of(await save(market, second)) == CONFLICT
    assert (await save(market, first)).status_code == 200


async def test_each_lower_price_is_published_once(market: Market) -> None:
    product_id = await market.sell(price_minor=900)
    await save(market, product_id)
    buyer = [str(market.buyer_id)]
    await patch(market, product_id, priceMinor=1_000)
    await patch(market, product_id, priceMinor=800)
    assert await changes(market) == [("price_drop", 800, buyer)]
    await patch(market, product_id, priceMinor=700)
    assert sorted(await changes(market)) == [("price_drop", 700, buyer), ("price_drop", 800, buyer)]
    assert await changes(market) == await changes(market)


async def test_a_return_to_the_stock_is_published(market: Market) -> None:
    product_id = await market.sell(price_minor=900, stock=1)
    await save(market, product_id)
    order = await market.ordered(product_id, buyer_id=new_id())
    assert await changes(market) == []
    cancelled = await market.post(order, "cancel", market.as_buyer(order["buyerId"]), {"reason": "No"})
    assert cancelled.status_code == 200, cancelled.text
    assert await changes(market) == [("back_in_stock", 900, [str(market.buyer_id)])]


async def test_a_product_that_is_not_for_sale_again_is_dropped(market: Market) -> None:
    sold_out, removed, unsaved = await market.sell(stock=0), await market.sell(), await market.sell()
    for product_id in (sold_out, removed):
        await save(market, product_id)
    await patch(market, sold_out, stock=2)
    await patch(market, sold_out, stock=0)
    await patch(market, unsaved, priceMinor=1)
    await patch(market, removed, priceMinor=1)
    await market.client.delete(f"/api/products/{removed}", headers=market.as_merchant())
    assert await changes(market) == []
    assert await market.fetch("SELECT id FROM saved_product_changes") == []


async def test_a_change_reaches_every_saver_once_in_batches(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orders.use_cases.saved_items.publish_saved_product_change.SAVERS_BATCH", 2)
    product_id = await market.sell(price_minor=900)
    savers = [new_id() for _ in range(5)]
    for buyer_id in savers:
        await save(market, product_id, buyer_id)
    await patch(market, product_id, priceMinor=800)
    published = [buyer_ids for _, _, buyer_ids in await changes(market)]
    assert sorted(map(len, published)) == [1, 2, 2]
    assert sorted(buyer_id for batch in published for buyer_id in batch) == sorted(map(str, savers))
    assert await market.fetch("SELECT id FROM saved_product_changes") == []


async def test_a_followed_vendor_is_listed_until_it_is_unfollowed(market: Market) -> None:
    path = f"/api/followed-vendors/{market.vendor_id}"
    assert error_of(await market.client.put(path, headers=market.as_buyer())) == NOT_FOUND
    await market.receive(market.vendor_event(VendorApproved), sequence=1)
    for _ in range(2):
        assert data_of(await market.client.put(path, headers=market.as_buyer()))["businessName"] == "Ada's Kitchen"
    [entry] = data_of(await market.client.get("/api/followed-vendors", headers=market.as_buyer()))
    assert entry["vendorId"] == str(market.vendor_id)
    assert data_of(await market.client.get("/api/followed-vendors", headers=market.as_buyer(new_id()))) == []
    assert (await market.client.delete(path, headers=market.as_buyer())).status_code == 204
    assert data_of(await market.client.get("/api/followed-vendors", headers=market.as_buyer())) == []
    await market.receive(market.vendor_event(VendorSuspended, reason="Complaints"), sequence=2)
    assert error_of(await market.client.put(path, headers=market.as_buyer())) == NOT_FOUND


async def test_an_erasure_empties_both_lists(market: Market) -> None:
    product_id = await market.sell()
    await market.receive(market.vendor_event(VendorApproved))
    await save(market, product_id)
    await market.client.put(f"/api/followed-vendors/{market.vendor_id}", headers=market.as_buyer())
    await market.receive(UserErased(user_id=market.buyer_id))
    for table in ("saved_products", "followed_vendors"):
        assert await market.fetch(f"SELECT * FROM {table}") == []
