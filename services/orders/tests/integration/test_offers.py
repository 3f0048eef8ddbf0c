"""Offers in conversations: who makes one, what a checkout accepts, and that each is used once (contract section
11.9).
"""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import pytest_asyncio

from common.primitives.clock import iso
from common.primitives.ids import new_id
from orders.domain.conversations import KEPT, OFFER_VALID_MAX
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND, data_of, error_of, invalid_field_of

from .conftest import Market
from .steps import approve_vendor, created_sale
from .variant_steps import Shirts

PATH = "/api/conversations"
PRICE_MINOR = 120_000


@pytest_asyncio.fixture(loop_scope="session")
async def shop(market: Market) -> Market:
    await approve_vendor(market)
    return market


async def conversation_about(market: Market, product_id: UUID, headers: dict[str, str] | None = None) -> str:
    response = await market.client.post(PATH, json={"productId": str(product_id)}, headers=headers or market.as_buyer())
    return data_of(response, 201)["id"]


async def make(
    market: Market, conversation_id: str, product_id: Any, headers: dict[str, str] | None = None, **terms: Any
) -> httpx.Response:
    body = {"productId": str(product_id), "quantity": 2, "unitPriceMinor": PRICE_MINOR, **terms}
    return await market.client.post(
        f"{PATH}/{conversation_id}/offers", json=body, headers=headers or market.as_merchant()
    )


async def offered(market: Market, product_id: UUID, **terms: Any) -> tuple[str, dict[str, Any]]:
    """Return a conversation about the product, and an open offer in it."""
    conversation_id = await conversation_about(market, product_id)
    return conversation_id, data_of(await make(market, conversation_id, product_id, **terms), 201)["offer"]


async def withdraw(
    market: Market, conversation_id: str, offer: dict[str, Any], headers: dict[str, str] | None = None
) -> httpx.Response:
    path = f"{PATH}/{conversation_id}/offers/{offer['id']}/withdraw"
    return await market.client.post(path, headers=headers or market.as_merchant())


def line_of(offer: dict[str, Any], **changed: Any) -> dict[str, Any]:
    line = {"productId": offer["productId"], "quantity": offer["quantity"], "offerId": offer["id"]}
    return line | ({"variantId": offer["variantId"]} if offer["variantId"] else {}) | changed


async def accept(
    market: Market,
    *lines: dict[str, Any],
    path: str = "/api/orders/checkout",
    buyer_id: UUID | None = None,
    key: UUID | None = None,
    **body: Any,
) -> httpx.Response:
    headers = market.as_buyer(buyer_id, idempotency_key=key or uuid4())
    return await market.client.post(path, json={"items": lines, **body}, headers=headers)


async def shown(market: Market, conversation_id: str) -> list[tuple[str, str | None]]:
    """Return the state and the order of the offers in the conversation, newest first."""
    messages = data_of(await market.client.get(f"{PATH}/{conversation_id}/messages", headers=market.as_buyer()))
    return [(each["offer"]["status"], each["offer"]["orderId"]) for each in messages if each["offer"]]


async def test_an_offer_is_a_message_of_the_vendor(shop: Market) -> None:
    product_id = await shop.sell()
    conversation_id, offer = await offered(shop, product_id)
    [message] = data_of(await shop.client.get(f"{PATH}/{conversation_id}/messages", headers=shop.as_buyer()))
    assert (message["author"], message["offer"]) == ("vendor", offer)
    assert message["text"] == "Offer: 2 x Jollof Rice for ₦1,200.00 each."
    assert (offer["status"], offer["orderId"], offer["unitPriceMinor"]) == ("open", None, PRICE_MINOR)
    assert offer["expiresAt"] == iso(shop.clock.now() + OFFER_VALID_MAX)
    [event] = await shop.published("orders.message_posted.v1")
    assert (event["author"], event["readerId"]) == ("vendor", str(shop.buyer_id))
    [event] = await shop.published("orders.offer_made.v1")
    assert event == {
        "offerId": offer["id"],
        "conversationId": conversation_id,
        "buyerId": str(shop.buyer_id),
        "vendorId": str(shop.vendor_id),
        "productId": str(product_id),
        "quantity": 2,
        "unitPriceMinor": PRICE_MINOR,
        "expiresAt": offer["expiresAt"],
    }


@pytest.mark.parametrize("path", ["/api/orders/checkout", "/api/purchases"])
async def test_a_checkout_accepts_the_offer_at_its_price(shop: Market, path: str) -> None:
    product_id = await shop.sell()
    conversation_id, offer = await offered(shop, product_id)
    await shop.fetch("UPDATE products SET price_minor = 500000 WHERE id = $1", product_id)
    total_minor = 2 * PRICE_MINOR
    placed = data_of(await accept(shop, line_of(offer), path=path, expectedTotalMinor=total_minor), 201)
    assert (placed["totalMinor"], await shop.stock_of(product_id)) == (total_minor, 8)
    [order] = await shop.fetch("SELECT id::text, commission_minor FROM orders")
    assert order["commission_minor"] == total_minor * 5 // 100
    assert await shown(shop, conversation_id) == [("accepted", order["id"])]
    [event] = await shop.published("orders.offer_accepted.v1")
    assert (event["offerId"], event["orderId"], event["buyerId"]) == (offer["id"], order["id"], str(shop.buyer_id))


async def test_an_order_has_items_with_and_without_an_offer(shop: Market) -> None:
    offered_id, other_id = await shop.sell(), await shop.sell(price_minor=1_000)
    _, offer = await offered(shop, offered_id)
    other = {"productId": str(other_id), "quantity": 3}
    order = data_of(await accept(shop, other, line_of(offer)), 201)
    assert [each["unitPriceMinor"] for each in order["items"]] == [1_000, PRICE_MINOR]


async def test_an_offer_is_used_once_under_a_race(shop: Market) -> None:
    product_id = await shop.sell()
    conversation_id, offer = await offered(shop, product_id)
    responses = await asyncio.gather(*(accept(shop, line_of(offer)) for _ in range(6)))
    assert sorted(response.status_code for response in responses) == [201] + [409] * 5
    assert await shop.stock_of(product_id) == 8
    [(status, order_id)] = await shown(shop, conversation_id)
    assert status == "accepted"
    assert [row["id"] for row in await shop.fetch("SELECT id::text FROM orders")] == [order_id]


@pytest.mark.parametrize("path", ["/api/orders/checkout", "/api/purchases"])
async def test_concurrent_requests_under_one_key_place_one_order(shop: Market, path: str) -> None:
    _, offer = await offered(shop, await shop.sell())
    key = uuid4()
    responses = await asyncio.gather(*(accept(shop, line_of(offer), key=key, path=path) for _ in range(5)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.json()["data"]["id"] for response in responses}) == 1
    assert error_of(await accept(shop, line_of(offer) | {"offerId": str(new_id())}, key=key, path=path)) == INVALID


async def test_an_acceptance_and_a_withdrawal_at_once_have_one_winner(shop: Market) -> None:
    for _ in range(4):
        conversation_id, offer = await offered(shop, await shop.sell())
        accepted, withdrawn = await asyncio.gather(accept(shop, line_of(offer)), withdraw(shop, conversation_id, offer))
        assert (accepted.status_code, withdrawn.status_code) in ((201, 409), (409, 200))
        [(status, _)] = await shown(shop, conversation_id)
        assert status == ("accepted" if accepted.status_code == 201 else "withdrawn")


async def test_a_withdrawn_offer_is_rejected(shop: Market) -> None:
    product_id = await shop.sell()
    conversation_id, offer = await offered(shop, product_id)
    for _ in range(2):
        message = data_of(await withdraw(shop, conversation_id, offer))
        assert message["offer"]["status"] == "withdrawn"
    response = await accept(shop, line_of(offer))
    assert (error_of(response), invalid_field_of(response)[1]) == (CONFLICT, "items.0.offerId")
    assert response.json()["invalid_params"][0]["reason"] == "is withdrawn"
    messages = data_of(await shop.client.get(f"{PATH}/{conversation_id}/messages", headers=shop.as_buyer()))
    assert [each["text"] for each in messages] == ["I have withdrawn my offer.", messages[1]["text"]]
    assert await shop.stock_of(product_id) == 10


async def test_an_expired_offer_is_rejected(shop: Market) -> None:
    until = shop.clock.now() + timedelta(hours=1)
    conversation_id, offer = await offered(shop, await shop.sell(), expiresAt=iso(until))
    shop.clock.advance(timedelta(hours=1))
    response = await accept(shop, line_of(offer))
    assert (error_of(response), response.json()["invalid_params"][0]["reason"]) == (CONFLICT, "is expired")
    assert error_of(await withdraw(shop, conversation_id, offer)) == CONFLICT
    assert await shown(shop, conversation_id) == [("expired", None)]


async def test_a_used_offer_stays_used_after_its_order_was_cancelled(shop: Market) -> None:
    product_id = await shop.sell()
    conversation_id, offer = await offered(shop, product_id)
    order = data_of(await accept(shop, line_of(offer)), 201)
    data_of(await shop.post(order, "cancel", shop.as_buyer(), {"reason": "Changed my mind"}))
    assert await shop.stock_of(product_id) == 10
    response = await accept(shop, line_of(offer))
    assert (error_of(response), response.json()["invalid_params"][0]["reason"]) == (CONFLICT, "is accepted")
    assert error_of(await withdraw(shop, conversation_id, offer)) == CONFLICT


async def test_only_the_buyer_of_the_conversation_uses_the_offer(shop: Market) -> None:
    product_id = await shop.sell()
    conversation_id, offer = await offered(shop, product_id)
    response = await accept(shop, line_of(offer), buyer_id=new_id())
    assert (error_of(response), invalid_field_of(response)[1]) == (INVALID, "items.0.offerId")
    assert error_of(await accept(shop, line_of(offer) | {"offerId": str(new_id())})) == INVALID
    assert await shown(shop, conversation_id) == [("open", None)]
    assert await shop.stock_of(product_id) == 10


@pytest.mark.parametrize("field", ["productId", "quantity"])
async def test_an_offer_is_for_exactly_its_terms(shop: Market, field: str) -> None:
    _, offer = await offered(shop, await shop.sell())
    other = {"productId": str(await shop.sell()), "quantity": 1}[field]
    response = await accept(shop, line_of(offer, **{field: other}))
    assert (error_of(response), invalid_field_of(response)[1]) == (INVALID, f"items.0.{field}")
    assert await shop.fetch("SELECT id FROM orders") == []


async def test_an_offer_stays_open_after_a_rejected_checkout(shop: Market) -> None:
    product_id = await shop.sell(stock=1)
    conversation_id, offer = await offered(shop, product_id)
    for path in ("/api/orders/checkout", "/api/purchases"):
        assert error_of(await accept(shop, line_of(offer), path=path)) == CONFLICT
    assert await shown(shop, conversation_id) == [("open", None)]
    await shop.fetch("UPDATE products SET stock = 2 WHERE id = $1", product_id)
    assert (await accept(shop, line_of(offer))).status_code == 201


async def test_an_offer_replaces_the_price_of_a_flash_sale(shop: Market) -> None:
    product_id = await shop.sell(price_minor=1_000)
    await created_sale(shop, product_id, quantity=5)
    _, offer = await offered(shop, product_id, quantity=3, unitPriceMinor=900)
    order = data_of(await accept(shop, line_of(offer)), 201)
    assert order["totalMinor"] == 2_700
    assert await shop.fetch("SELECT sold FROM flash_sales WHERE sold > 0") == []


async def test_an_offer_of_a_variant_names_it(shop: Market) -> None:
    shirts = Shirts(shop)
    product = await shirts.create()
    red, blue = (each["id"] for each in product["variants"][:2])
    conversation_id = await conversation_about(shop, product["id"])
    assert invalid_field_of(await make(shop, conversation_id, product["id"])) == (422, "variantId")
    assert invalid_field_of(await make(shop, conversation_id, product["id"], variantId=str(new_id()))) == (
        422,
        "variantId",
    )
    offer = data_of(await make(shop, conversation_id, product["id"], variantId=red, quantity=1), 201)["offer"]
    assert invalid_field_of(await accept(shop, line_of(offer, variantId=blue))) == (422, "items.0.variantId")
    order = data_of(await accept(shop, line_of(offer)), 201)
    assert (order["items"][0]["variantId"], order["totalMinor"]) == (red, PRICE_MINOR)


async def test_only_the_vendor_of_the_conversation_makes_and_withdraws_offers(shop: Market) -> None:
    product_id = await shop.sell()
    conversation_id, offer = await offered(shop, product_id)
    third_party = shop.headers(new_id(), roles=("buyer", "merchant"), vendor_id=new_id())
    merchant_who_buys = shop.headers(shop.buyer_id, roles=("buyer", "merchant"), vendor_id=new_id())
    for headers, expected in ((shop.as_buyer(), FORBIDDEN), (third_party, NOT_FOUND), (merchant_who_buys, FORBIDDEN)):
        assert error_of(await make(shop, conversation_id, product_id, headers)) == expected
        assert error_of(await withdraw(shop, conversation_id, offer, headers)) == expected
    other_id = await conversation_about(shop, await shop.sell())
    assert error_of(await withdraw(shop, other_id, offer)) == NOT_FOUND
    assert await shown(shop, conversation_id) == [("open", None)]


async def test_terms_outside_the_limits_are_rejected(shop: Market) -> None:
    product_id = await shop.sell()
    conversation_id, now = await conversation_about(shop, product_id), shop.clock.now()
    foreign, draft = await shop.sell(vendor_id=new_id()), await shop.sell(draft=True)
    for field, value in (
        ("quantity", 0),
        ("quantity", 100),
        ("unitPriceMinor", 0),
        ("unitPriceMinor", "100"),
        ("expiresAt", iso(now)),
        ("expiresAt", iso(now + OFFER_VALID_MAX + timedelta(seconds=1))),
        ("productId", str(foreign)),
        ("productId", str(draft)),
    ):
        assert invalid_field_of(await make(shop, conversation_id, product_id, **{field: value})) == (422, field)
    assert await shop.fetch("SELECT id FROM conversation_messages") == []


async def test_a_blocked_vendor_makes_no_offer_and_withdraws_silently(shop: Market) -> None:
    product_id = await shop.sell()
    conversation_id, offer = await offered(shop, product_id)
    await shop.client.post(f"{PATH}/{conversation_id}/block", headers=shop.as_buyer())
    assert error_of(await make(shop, conversation_id, product_id)) == FORBIDDEN
    assert data_of(await withdraw(shop, conversation_id, offer))["offer"]["status"] == "withdrawn"
    assert len(await shop.fetch("SELECT id FROM conversation_messages")) == 1


async def test_an_offer_expires_with_its_message(shop: Market) -> None:
    _, offer = await offered(shop, await shop.sell())
    data_of(await accept(shop, line_of(offer)), 201)
    shop.clock.advance(KEPT + timedelta(seconds=1))
    await shop.app.remove_old()
    assert await shop.fetch("SELECT id FROM conversation_offers") == []
    assert len(await shop.fetch("SELECT id FROM orders")) == 1
