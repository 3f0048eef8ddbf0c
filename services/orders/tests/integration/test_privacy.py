"""Erasure of a user: open obligations are reported, no new ones start in the meantime, and then all their texts are
removed.
"""

import asyncio
from datetime import timedelta
from uuid import uuid4

from common.primitives.ids import new_id
from contracts.identity import ErasureRefused, ErasureRequested, UserErased, VendorApproved, VendorChanged, VendorClosed
from testkit.responses import CONFLICT, error_of

from .conftest import Market

SECRET = "Block C room 12 beside Ngozi"


def erasure_requested(market: Market, **more):
    return ErasureRequested(user_id=market.buyer_id, request_id=new_id(), **more)


async def published_verdicts(market: Market):
    return [event.get("openMatters", []) for event in await market.published("orders.erasure_judged.v1")]


async def traces(market: Market, text):
    """Return the tables that contain the text, without the outbox."""
    return await market.tables_with(text) - {"outbox", "outbox_sequences"}


async def delivered(market: Market, **more):
    order = await market.ordered(**more)
    await market.pay(order)
    path = f"/api/orders/{order['id']}"
    pin = (await market.client.get(f"{path}/delivery-pin", headers=market.as_buyer())).json()["data"]["pin"]
    response = await market.client.post(
        f"{path}/verify-delivery", json={"pin": pin}, headers=market.as_buyer(idempotency_key=uuid4())
    )
    assert response.status_code == 200, response.text
    await market.release(order)
    return order


async def write(market: Market, path, body):
    return await market.client.post(path, json=body, headers=market.as_buyer())


async def test_open_matters_are_published_and_the_user_may_buy_on(market: Market) -> None:
    product_id = await market.sell()
    await market.ordered(product_id)
    await market.receive(erasure_requested(market))
    assert await published_verdicts(market) == [["open_orders"]]
    assert (await market.checkout(product_id)).status_code == 201


async def test_a_user_without_open_matters_is_blocked_until_the_rejection(market: Market) -> None:
    product_id = await market.sell()
    requested = await market.receive(erasure_requested(market))
    await market.receive(erasure_requested(market), event_id=requested.event_id, sequence=requested.sequence)
    assert await published_verdicts(market) == [[]]
    assert error_of(await market.checkout(product_id)) == CONFLICT
    assert await market.stock_of(product_id) == 10
    cart = await market.client.put(
        f"/api/carts/current/items/{product_id}", json={"quantity": 1}, headers=market.as_buyer()
    )
    assert cart.status_code == 409
    assert (await market.checkout(product_id, buyer_id=new_id())).status_code == 201
    await market.receive(ErasureRefused(user_id=market.buyer_id, request_id=new_id()))
    assert (await market.checkout(product_id)).status_code == 201


async def test_a_checkout_during_the_evaluation_is_counted_or_rejected(market: Market) -> None:
    product_id = await market.sell(stock=99)
    responses = await asyncio.gather(
        market.receive(erasure_requested(market)), *(market.checkout(product_id, key=uuid4()) for _ in range(6))
    )
    statuses = {response.status_code for response in responses[1:]}
    [matters] = await published_verdicts(market)
    assert statuses <= {201, 409}
    assert (matters == ["open_orders"]) == (201 in statuses)
    if not matters:
        assert await market.fetch("SELECT 1 FROM orders") == []


async def test_a_request_that_comes_after_its_own_rejection_blocks_no_user(market: Market) -> None:
    product_id = await market.sell()
    await market.receive(ErasureRefused(user_id=market.buyer_id, request_id=new_id()), sequence=8)
    await market.receive(erasure_requested(market), sequence=7)
    assert await published_verdicts(market) == []
    assert (await market.checkout(product_id)).status_code == 201


async def test_erasure_removes_the_buyer_s_texts_and_keeps_the_amounts(market: Market) -> None:
    product_id = await market.sell()
    order = await delivered(market, product_id=product_id, deliveryNote=SECRET)
    path = f"/api/orders/{order['id']}"
    items = [{"itemId": order["items"][0]["id"], "quantity": 1}]
    requested = await write(market, f"{path}/return-requests", {"items": items, "reason": SECRET})
    assert requested.status_code == 201, requested.text
    await market.receive(erasure_requested(market))
    assert await published_verdicts(market) == [["undecided_returns"]]
    review = await write(
        market, f"/api/products/{product_id}/reviews", {"orderId": order["id"], "rating": 4, "text": SECRET}
    )
    assert review.status_code == 201, review.text
    cancelled = await market.ordered(product_id)
    await market.pay(cancelled)
    assert (await write(market, f"/api/orders/{cancelled['id']}/cancel", {"reason": SECRET})).status_code == 200
    disputed = await market.ordered(product_id)
    await market.pay(disputed)
    dispute = await write(market, f"/api/orders/{disputed['id']}/dispute", {"reason": SECRET, "details": SECRET})
    assert dispute.status_code == 200, dispute.text
    assert await traces(market, SECRET) == {"orders", "return_requests", "reviews", "order_refunds", "order_disputes"}
    kept = "SELECT id, buyer_id, status, total_amount, refunded_minor, created_at FROM orders ORDER BY id"
    before = await market.fetch(kept)
    erased = await market.receive(UserErased(user_id=market.buyer_id), sequence=20)
    await market.receive(UserErased(user_id=market.buyer_id), event_id=erased.event_id, sequence=20)
    assert await traces(market, SECRET) == set()
    assert await market.fetch(kept) == before
    [product] = await market.fetch("SELECT rating_sum, rating_count FROM products WHERE id = $1", product_id)
    assert tuple(product.values()) == (4, 1)
    await market.receive(ErasureRefused(user_id=market.buyer_id, request_id=new_id()), sequence=21)
    late = await write(
        market, f"/api/vendors/{market.vendor_id}/reviews", {"orderId": order["id"], "rating": 1, "text": SECRET}
    )
    assert (late.status_code, await traces(market, SECRET)) == (409, set())


async def test_the_pin_of_an_order_that_was_paid_around_the_erasure_is_not_shown(market: Market) -> None:
    order = await market.ordered()
    assert (await write(market, f"/api/orders/{order['id']}/cancel", {"reason": "too late"})).status_code == 200
    await market.pay(order)
    await market.receive(UserErased(user_id=market.buyer_id), sequence=20)
    shown = await market.client.get(f"/api/orders/{order['id']}/delivery-pin", headers=market.as_buyer())
    assert error_of(shown) == CONFLICT


async def test_a_recent_sale_blocks_a_vendor_s_erasure_which_removes_name_and_products(market: Market) -> None:
    vendor = {"vendor_id": market.vendor_id, "owner_user_id": market.merchant_id, "legal_name": "Yetunde Obi"}
    shop = {**vendor, "business_name": "Yetunde's Kitchen", "campus_id": market.campus_id}
    await market.receive(VendorApproved(**shop))
    order = await delivered(market)
    requested = {"user_id": market.merchant_id, "vendor_id": market.vendor_id}
    await market.receive(ErasureRequested(request_id=new_id(), **requested))
    market.clock.advance(timedelta(days=8))
    await market.receive(ErasureRequested(request_id=new_id(), **requested))
    assert await published_verdicts(market) == [["recent_sales"], []]
    [product] = await market.fetch("SELECT id FROM products")
    assert (await market.checkout(product["id"])).status_code == 409
    closed = VendorClosed(vendor_id=market.vendor_id, owner_user_id=market.merchant_id, campus_id=market.campus_id)
    await market.receive(closed, sequence=9)
    await market.receive(VendorChanged(**shop), sequence=8)
    assert await traces(market, "Yetunde") == set()
    shown = await market.client.get("/api/products")
    assert shown.json()["data"] == []
    seen = await market.client.get(f"/api/orders/{order['id']}", headers=market.as_buyer())
    assert seen.json()["data"]["items"][0]["name"] == "Jollof Rice"


async def test_texts_on_a_closed_vendors_sales_go_and_those_of_the_buyer_stay(
    market: Market,
) -> None:
    cancelled, disputed = await market.ordered(), await market.ordered()
    for order in (cancelled, disputed):
        await market.pay(order)
    assert (
        await write(market, f"/api/orders/{cancelled['id']}/cancel", {"reason": "Yetunde is ill"})
    ).status_code == 200
    complaint = {"reason": "Yetunde was late", "details": "Yetunde never came"}
    assert (await write(market, f"/api/orders/{disputed['id']}/dispute", complaint)).status_code == 200
    amounts = "SELECT id, order_id, amount_minor, status FROM order_refunds ORDER BY id"
    before = await market.fetch(amounts)
    closed = VendorClosed(vendor_id=market.vendor_id, owner_user_id=market.merchant_id, campus_id=market.campus_id)
    await market.receive(closed)
    assert await traces(market, "Yetunde") == {"order_disputes"}
    assert await market.fetch(amounts) == before
    await market.receive(UserErased(user_id=market.buyer_id))
    assert await traces(market, "Yetunde") == set()


async def records(market: Market, headers, limit=2):
    """All pages of the personal records of a user, by section."""
    found, params = {}, {"limit": limit}
    while True:
        response = await market.client.get("/api/personal-records/orders", params=params, headers=headers)
        assert response.status_code == 200, response.text
        page = response.json()
        assert len(page["data"]) <= limit
        for line in page["data"]:
            found.setdefault(line["section"], []).append(line["record"])
        if not page["meta"]["has_more"]:
            return found
        params["cursor"] = page["meta"]["next_cursor"]


async def test_a_buyer_reads_all_that_is_kept_of_them_and_nothing_of_another(market: Market) -> None:
    product_id = await market.sell(stock=50)
    mine = [(await market.ordered(product_id, deliveryNote=SECRET))["id"] for _ in range(3)]
    outsider = new_id()
    foreign = await market.ordered(product_id, buyer_id=outsider, deliveryNote="Another room")
    found = await records(market, market.as_buyer())
    assert [order["id"] for order in found["orders"]] == sorted(mine)
    assert {order["deliveryNote"] for order in found["orders"]} == {SECRET}
    assert len(found["orderItems"]) == 3
    assert "Another room" not in str(found)
    # Staff who may read every order have records of their own here, and these are none.
    assert await records(market, market.as_staff("auditor")) == {}
    theirs = await records(market, market.as_buyer(outsider), limit=100)
    assert [order["id"] for order in theirs["orders"]] == [foreign["id"]]
    first = await market.client.get("/api/personal-records/orders", params={"limit": 1}, headers=market.as_buyer())
    stolen = {"limit": 1, "cursor": first.json()["meta"]["next_cursor"]}
    response = await market.client.get("/api/personal-records/orders", params=stolen, headers=market.as_buyer(outsider))
    assert response.status_code == 422
