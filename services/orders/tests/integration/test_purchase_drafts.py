"""Purchase drafts from carts of the messaging app (contract section 6.11)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from common.primitives.ids import new_id
from contracts.identity import UserErased
from contracts.notifications import CartLine, CartReceived
from orders.domain.purchase_drafts import OPEN_FOR
from testkit.responses import CONFLICT, INVALID, NOT_FOUND, data_of, error_of

from .conftest import Market
from .steps import approve_vendor
from .variant_steps import Shirts

DRAFTS = "/api/purchase-drafts"


async def received(market: Market, *lines: tuple[object, int], draft_id: UUID | None = None) -> str:
    """Receive a cart of the buyer and return the id of its draft."""
    items = tuple(CartLine(retailer_id=str(retailer_id), quantity=quantity) for retailer_id, quantity in lines)
    event = CartReceived(draft_id=draft_id or new_id(), user_id=market.buyer_id, items=items)
    await market.receive(event)
    return str(event.draft_id)


async def draft_of(market: Market, draft_id: str) -> dict[str, Any]:
    shown: dict[str, Any] = data_of(await market.client.get(f"{DRAFTS}/{draft_id}", headers=market.as_buyer()))
    return shown


async def check_out(market: Market, draft_id: str, key: object = None, **body: Any) -> httpx.Response:
    headers = {**market.as_buyer(), "Idempotency-Key": str(key or uuid4())}
    return await market.client.post(f"{DRAFTS}/{draft_id}/checkout", json=body, headers=headers)


async def test_a_draft_shows_present_prices_and_what_keeps_items_from_being_ordered(market: Market) -> None:
    rice = await market.sell(price_minor=90_000, stock=5)
    removed = await market.sell(removed_at=market.clock.now())
    hidden = await market.sell(hidden_at=market.clock.now(), hidden_because="report")
    few = await market.sell(price_minor=50_000, stock=1)
    draft_id = await received(
        market, (str(rice).upper(), 1), (rice, 1), (removed, 1), (hidden, 1), (few, 2), ("SKU-7", 1)
    )
    draft = await draft_of(market, draft_id)
    assert [(item["retailerId"], item["quantity"], item["obstacle"]) for item in draft["items"]] == [
        (str(rice), 2, None),
        (str(removed), 1, "unavailable"),
        (str(hidden), 1, "unavailable"),
        (str(few), 2, "out_of_stock"),
        ("SKU-7", 1, "unavailable"),
    ]
    assert draft["items"][2]["name"] is None
    assert (draft["subtotalMinor"], draft["status"], draft["purchaseId"]) == (180_000, "open", None)


async def test_items_of_an_absent_vendor_are_named(market: Market) -> None:
    rice = await market.sell()
    await market.fetch(
        "INSERT INTO vendors (id, business_name, campus_id, sequence, suspended, standing_sequence, absent_until) "
        "VALUES ($1, 'Ada', $2, 1, false, 1, $3)",
        market.vendor_id,
        market.campus_id,
        market.clock.now() + timedelta(days=1),
    )
    draft_id = await received(market, (rice, 1))
    assert [item["obstacle"] for item in (await draft_of(market, draft_id))["items"]] == ["vendor_away"]
    assert error_of(await check_out(market, draft_id)) == CONFLICT


async def test_only_its_buyer_sees_and_checks_out_a_draft(market: Market) -> None:
    draft_id = await received(market, (await market.sell(), 1))
    headers = {**market.as_buyer(new_id()), "Idempotency-Key": str(uuid4())}
    assert error_of(await market.client.get(f"{DRAFTS}/{draft_id}", headers=headers)) == NOT_FOUND
    response = await market.client.post(f"{DRAFTS}/{draft_id}/checkout", json={}, headers=headers)
    assert error_of(response) == NOT_FOUND
    assert error_of(await check_out(market, str(uuid4()))) == NOT_FOUND
    assert (await draft_of(market, draft_id))["status"] == "open"


async def test_a_checkout_makes_one_purchase_at_the_present_price(market: Market) -> None:
    rice, key = await market.sell(price_minor=90_000), uuid4()
    draft_id = await received(market, (rice, 2))
    await market.fetch("UPDATE products SET price_minor = 95000 WHERE id = $1", rice)
    assert error_of(await check_out(market, draft_id, expectedTotalMinor=180_000)) == CONFLICT
    purchase = data_of(await check_out(market, draft_id, key, expectedTotalMinor=190_000), 201)
    assert [order["totalMinor"] for order in purchase["orders"]] == [190_000]
    again = data_of(await check_out(market, draft_id, key, expectedTotalMinor=190_000), 201)
    assert again["id"] == purchase["id"]
    assert error_of(await check_out(market, draft_id)) == CONFLICT
    assert error_of(await check_out(market, draft_id, key, deliveryNote="other"))[0] == 422
    draft = await draft_of(market, draft_id)
    assert (draft["status"], draft["purchaseId"]) == ("checked_out", purchase["id"])


async def test_concurrent_checkouts_make_one_purchase(market: Market) -> None:
    draft_id = await received(market, (await market.sell(), 1))
    responses = await asyncio.gather(*(check_out(market, draft_id) for _ in range(4)))
    assert sorted(response.status_code for response in responses) == [201, 409, 409, 409]


async def test_items_with_an_obstacle_are_left_out_only_on_request(market: Market) -> None:
    rice = await market.sell(price_minor=90_000)
    draft_id = await received(market, ("SKU-7", 1), (rice, 1))
    response = await check_out(market, draft_id)
    assert error_of(response) == CONFLICT
    assert [param["name"] for param in response.json()["invalid_params"]] == ["items.0.retailerId"]
    purchase = data_of(await check_out(market, draft_id, skipUnavailable=True), 201)
    assert purchase["totalMinor"] == 90_000
    empty = await received(market, ("SKU-7", 1))
    assert error_of(await check_out(market, empty, skipUnavailable=True)) == CONFLICT
    assert error_of(await check_out(market, draft_id, skipUnavailable="yes")) == INVALID


async def test_the_same_cart_makes_one_draft(market: Market) -> None:
    rice, draft_id = await market.sell(), new_id()
    for quantity in (1, 2):
        await received(market, (rice, quantity), draft_id=draft_id)
    assert [item["quantity"] for item in (await draft_of(market, str(draft_id)))["items"]] == [1]


async def test_an_expired_draft_cannot_be_checked_out(market: Market) -> None:
    draft_id = await received(market, (await market.sell(), 1))
    market.clock.advance(OPEN_FOR)
    assert (await draft_of(market, draft_id))["status"] == "expired"
    assert error_of(await check_out(market, draft_id)) == CONFLICT


async def test_an_erased_user_has_no_draft(market: Market) -> None:
    rice = await market.sell()
    first = await received(market, (rice, 1))
    await market.receive(UserErased(user_id=market.buyer_id))
    second = await received(market, (rice, 1))
    for draft_id in (first, second):
        response = await market.client.get(f"{DRAFTS}/{draft_id}", headers=market.as_buyer())
        assert error_of(response) == NOT_FOUND


@pytest.mark.parametrize("by_variant", [True, False])
async def test_a_product_with_variants_is_ordered_by_the_id_of_a_variant(market: Market, by_variant: bool) -> None:
    await approve_vendor(market)
    shirt = await Shirts(market).create()
    variant_id = shirt["variants"][0]["id"]
    draft_id = await received(market, (variant_id if by_variant else shirt["id"], 1))
    [item] = (await draft_of(market, draft_id))["items"]
    assert item["obstacle"] == (None if by_variant else "variant_required")
    if by_variant:
        assert (item["name"], item["productId"], item["variantId"]) == ("Shirt (Red, M)", shirt["id"], variant_id)
        assert data_of(await check_out(market, draft_id), 201)["totalMinor"] == 1_500
