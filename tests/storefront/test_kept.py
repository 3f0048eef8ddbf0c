"""Saved products, followed sellers, absence, replies, reports and receipts, as a buyer meets them."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest_asyncio
from playwright.async_api import expect

from operations.journey import Marketplace, SignedInUser
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import paid_order


async def used_lamp(market: Marketplace, vendor: SignedInUser) -> dict[str, Any]:
    """Create a product in a good, used condition."""
    body = {"name": f"Lamp {uuid4().hex[:8]}", "description": "Bright.", "category": "hostel", "condition": "good"}
    created: dict[str, Any] = await market.post("/api/products", {**body, "priceMinor": 90_000, "stock": 5}, vendor)
    return created


async def change_shop(market: Marketplace, vendor: SignedInUser, vendor_id: str, change: dict[str, Any]) -> None:
    response = await market.http.patch(f"/api/vendors/{vendor_id}", json=change, headers=vendor.headers)
    assert response.status_code == 200, response.text


@pytest_asyncio.fixture(loop_scope="session")
async def absent_vendors_lamp(market: Marketplace, vendor: SignedInUser) -> AsyncIterator[dict[str, Any]]:
    """Yield a product of a shop that is away for two days, and open at weekends."""
    product = await used_lamp(market, vendor)
    until = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    hours = [{"day": "sat", "from": "09:00", "to": "13:30"}]
    absence = {"away": {"until": until, "message": "Examinations."}, "openingHours": hours}
    await change_shop(market, vendor, product["vendorId"], absence)
    try:
        yield product
    finally:
        await change_shop(market, vendor, product["vendorId"], {"away": None, "openingHours": []})


async def test_the_absence_of_a_vendor_is_shown_and_stops_its_sales(
    shopper: Arrival, buyer: SignedInUser, absent_vendors_lamp: dict[str, Any]
) -> None:
    at_shop = await shopper(buyer, path=f"/products/{absent_vendors_lamp['id']}")
    page = at_shop.page
    await expect(page.get_by_text("Examinations.")).to_be_visible()
    await expect(page.get_by_role("button", name="Add to cart")).to_have_count(0)
    await at_shop.check_page()
    await at_shop.click(absent_vendors_lamp["vendorName"], "link")
    await expect(page.get_by_text("Saturday, 09:00 to 13:30")).to_be_visible()
    await expect(page.get_by_text("Examinations.")).to_be_visible()
    await at_shop.check_page()


async def test_a_buyer_keeps_a_product_and_a_seller(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser
) -> None:
    product = await used_lamp(market, vendor)
    at_shop = await shopper(buyer, path=f"/products/{product['id']}")
    page = at_shop.page
    await at_shop.click("Save for later")
    await expect(page.get_by_role("button", name="Saved: remove")).to_be_visible()
    await at_shop.click(product["vendorName"], "link")
    await at_shop.click("Follow")
    await expect(page.get_by_role("button", name="Unfollow")).to_be_visible()
    await at_shop.open_section("Report this seller")
    await at_shop.fill("What is wrong?", "Sells on other sites.")
    await at_shop.click("Send the report")
    await expect(page.get_by_text("Thank you. Our staff look at it.")).to_be_visible()

    await at_shop.open("/saved")
    await expect(page.get_by_role("link", name=product["name"])).to_be_visible()
    await expect(page.get_by_role("link", name=product["vendorName"])).to_be_visible()
    await at_shop.check_page()
    await at_shop.click(product["name"], "link")
    await at_shop.click("Saved: remove")
    await expect(page.get_by_role("button", name="Save for later")).to_be_visible()
    assert await market.get("/api/saved-products", buyer) == []


async def test_the_condition_filters_the_products(shopper: Arrival, market: Marketplace, vendor: SignedInUser) -> None:
    product = await used_lamp(market, vendor)
    at_shop = await shopper(path=f"/?q={product['name'].replace(' ', '+')}")
    page = at_shop.page
    card = page.locator(".card", has_text=product["name"])
    await expect(card.get_by_text("Good")).to_be_visible()
    await page.get_by_label("Condition").select_option("Fair")
    await page.wait_for_url("**condition=fair")
    await expect(card).to_have_count(0)
    await page.get_by_label("Condition").select_option("Good")
    await expect(card).to_be_visible()
    await at_shop.check_page()


async def test_a_reply_is_below_its_review_and_the_receipt_is_saved(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser
) -> None:
    product = await used_lamp(market, vendor)
    order = await paid_order(market, buyer, product["id"])
    at_shop = await shopper(buyer, path=f"/orders/{order['id']}")
    page = at_shop.page
    async with page.expect_download() as saving:
        await at_shop.click("Save the receipt")
    saved = await saving.value
    assert saved.suggested_filename == f"receipt-{order['number']}.pdf"
    assert (await saved.path()).read_bytes().startswith(b"%PDF")

    await market.dispatch(vendor, order["id"])
    await market.verify_delivery(vendor, order["id"], await market.delivery_pin(buyer, order["id"]))
    review = {"orderId": order["id"], "rating": 4, "text": "Bright enough."}
    written = await market.post(f"/api/products/{product['id']}/reviews", review, buyer)
    await market.post(f"/api/reviews/{written['id']}/reply", {"text": "Thank you, Tobi."}, vendor)
    await at_shop.open(f"/products/{product['id']}")
    await expect(page.get_by_text("The seller replied: Thank you, Tobi.")).to_be_visible()
    await at_shop.check_page()
