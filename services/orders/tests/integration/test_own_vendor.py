"""Users neither buy from nor review the vendor that they own or sell for."""

from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.identity import VendorApproved, VendorChanged
from contracts.permissions import permissions_of
from testkit.responses import FORBIDDEN, error_of


@pytest_asyncio.fixture(loop_scope="session")
async def shop(market: Any) -> Any:
    """Return the market, whose vendor is known with its owner."""
    await market.receive(market.vendor_event(VendorApproved), sequence=1)
    return market


def _insiders(shop: Any) -> dict[str, dict[str, str]]:
    return {
        "owner with a token from before the shop": shop.as_buyer(shop.merchant_id),
        "owner with a new token": shop.as_merchant(),
        "a packer of the vendor": shop.as_packer(),
        "another account that sells for the vendor": shop.headers(
            new_id(), roles=("buyer", "merchant"), vendor_id=shop.vendor_id
        ),
    }


async def test_no_user_buys_from_their_own_vendor(shop: Any) -> None:
    product_id = await shop.sell(stock=5)
    for who, headers in _insiders(shop).items():
        body = {"items": [{"productId": str(product_id), "quantity": 1}]}
        with_key = {**headers, "Idempotency-Key": str(uuid4())}
        refused = await shop.client.post("/api/orders/checkout", json=body, headers=with_key)
        assert error_of(refused) == FORBIDDEN, who
        assert "your own vendor" in refused.json()["detail"]
    assert await shop.stock_of(product_id) == 5
    assert await shop.fetch("SELECT id FROM orders") == []
    assert await shop.published("orders.order_placed.v1") == []
    assert (await shop.checkout(product_id)).status_code == 201


async def test_a_cart_of_the_own_vendor_is_not_checked_out(shop: Any) -> None:
    product_id = await shop.sell(stock=5)
    headers = shop.as_buyer(shop.merchant_id)
    cart = await shop.client.put(f"/api/carts/current/items/{product_id}", json={"quantity": 1}, headers=headers)
    body, with_key = {"cartId": cart.json()["data"]["id"]}, {**headers, "Idempotency-Key": str(uuid4())}
    assert error_of(await shop.client.post("/api/orders/checkout", json=body, headers=with_key)) == FORBIDDEN
    kept = (await shop.client.get("/api/carts/current", headers=headers)).json()["data"]
    assert len(kept["items"]) == 1


async def test_no_user_reviews_their_own_vendor(shop: Any) -> None:
    order = await shop.paid()
    assert (await shop.verify(order, await shop.pin_of(order))).status_code == 200
    product_id = order["items"][0]["productId"]
    review = {"orderId": order["id"], "rating": 5, "text": "The best"}
    # As if the order was from before the buyer became the owner.
    await shop.receive(shop.vendor_event(VendorChanged, owner_user_id=shop.buyer_id), sequence=2)
    owner, seller = shop.as_buyer(), shop.as_buyer(vendor_id=shop.vendor_id)
    for headers in (owner, seller):
        for path in (f"/api/vendors/{shop.vendor_id}/reviews", f"/api/products/{product_id}/reviews"):
            assert error_of(await shop.client.post(path, json=review, headers=headers)) == FORBIDDEN, path
    assert await shop.fetch("SELECT id FROM reviews") == []
    await shop.receive(shop.vendor_event(VendorChanged), sequence=3)
    path = f"/api/vendors/{shop.vendor_id}/reviews"
    assert (await shop.client.post(path, json=review, headers=shop.as_buyer())).status_code == 201


async def test_the_database_refuses_an_order_of_the_owner(shop: Any) -> None:
    database, permissions = shop.database, permissions_of(["buyer"])
    place = (
        "INSERT INTO orders (id, number, buyer_id, vendor_id, campus_id, status, currency, total_amount, "
        "subtotal_minor, "
        "delivery_fee_minor, commission_minor, refunded_minor, payment_due_at, idempotency_key, fingerprint, revision, "
        "created_at, updated_at) VALUES ($1, 'CM-0000-0000', $2, $3, $4, 'Processing', 'NGN', 1, 1, 0, 0, 0, now(), "
        "$1, '', 1, now(), now())"
    )
    for user_id, vendor_id in ((shop.merchant_id, None), (new_id(), shop.vendor_id)):
        caller = Caller(user_id=user_id, vendor_id=vendor_id, permissions=permissions)
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="own_vendor"):
            async with database.unit_of_work(acting_as=caller) as uow:
                await uow.execute(place, new_id(), user_id, shop.vendor_id, shop.campus_id)
    buyer = Caller(user_id=new_id(), permissions=permissions)
    order_id = new_id()
    async with database.unit_of_work(acting_as=buyer) as uow:
        assert await uow.execute(place, order_id, buyer.id, shop.vendor_id, shop.campus_id) == 1
    assert isinstance(order_id, UUID)
