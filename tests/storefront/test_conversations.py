"""A buyer talks to a seller: live messages, hidden numbers, reports, blocks, and an offer that a checkout accepts."""

from datetime import datetime
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest_asyncio
from playwright.async_api import expect

from operations.journey import Marketplace, SignedInUser
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import order_id_in, photo


@pytest_asyncio.fixture(loop_scope="session")
async def product(market: Marketplace, vendor: SignedInUser) -> dict[str, Any]:
    body = {
        "name": f"Plantain {uuid4().hex[:8]}",
        "description": "Ripe.",
        "category": "groceries",
        "priceMinor": 90_000,
        "stock": 9,
    }
    return dict(await market.post("/api/products", body, vendor))


async def test_a_buyer_writes_live_and_accepts_an_offer_by_a_checkout(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser, product: dict[str, Any]
) -> None:
    at_shop = await shopper(buyer, path=f"/products/{product['id']}")
    page = at_shop.page
    await at_shop.click("Message the seller")
    await page.wait_for_url("**/messages/*")
    conversation = f"/api/conversations/{page.url.rsplit('/', 1)[1]}"
    await at_shop.fill("Your message", "Less for two? My PIN is 482 913")
    # Past the photo, to the button.
    for _ in range(2):
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("log")).to_contain_text("Less for two?")
    await expect(page.get_by_role("log")).to_contain_text("was hidden")
    await expect(page.get_by_role("log")).not_to_contain_text("913")
    await expect(page.get_by_label("Your message")).to_be_focused()

    message = await market.post(f"{conversation}/messages", {"text": "See https://evil.example"}, vendor)
    await expect(page.get_by_role("log")).to_contain_text("See https://evil.example")
    assert await page.locator("main a[href*='evil']").count() == 0
    sent_at = datetime.fromisoformat(message["createdAt"]).astimezone(ZoneInfo("Africa/Lagos"))
    await expect(page.get_by_role("log")).to_contain_text(f"Seller · {sent_at:%-d %b %Y, %H:%M}")
    offer = {"productId": product["id"], "quantity": 2, "unitPriceMinor": 75_050}
    made = (await market.post(f"{conversation}/offers", offer, vendor))["offer"]
    accept = page.get_by_role("button", name="Accept and pay ₦1,501.00")
    await expect(accept).to_be_visible()
    await at_shop.check_page()
    await accept.click()
    await page.wait_for_url(lambda url: not url.startswith(at_shop.console_url))

    [order] = await market.get("/api/orders", buyer)
    assert order["totalMinor"] == 150_100
    await at_shop.open(f"/messages/{conversation.rsplit('/', 1)[1]}")
    await expect(page.get_by_text("Accepted", exact=True)).to_be_visible()
    await page.get_by_role("link", name="Open the order").click()
    await page.wait_for_url("**/orders/*")
    assert order_id_in(page.url) == order["id"]
    assert made["id"]


async def test_a_withdrawn_offer_disappears_from_the_open_page(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser, product: dict[str, Any]
) -> None:
    opened = await market.post("/api/conversations", {"productId": product["id"]}, buyer)
    path = f"/api/conversations/{opened['id']}"
    offer = {"productId": product["id"], "quantity": 1, "unitPriceMinor": 80_000}
    made = (await market.post(f"{path}/offers", offer, vendor))["offer"]
    at_shop = await shopper(buyer, path=f"/messages/{opened['id']}")
    accept = at_shop.page.get_by_role("button", name="Accept and pay")
    await expect(accept).to_be_visible()
    await market.post(f"{path}/offers/{made['id']}/withdraw", {}, vendor)
    await expect(at_shop.page.get_by_text("Withdrawn", exact=True)).to_be_visible()
    await expect(accept).to_have_count(0)
    await at_shop.check_page()


async def test_a_buyer_reports_a_message_and_blocks_the_seller(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser, product: dict[str, Any]
) -> None:
    at_shop = await shopper(buyer, path="/messages")
    page = at_shop.page
    await expect(page.get_by_text("No messages yet")).to_be_visible()
    opened = await market.post("/api/conversations", {"productId": product["id"]}, buyer)
    path = f"/api/conversations/{opened['id']}/messages"
    await market.post(path, {"text": "Rude words"}, vendor)
    await at_shop.open("/messages")
    await expect(page.get_by_text("1 new")).to_be_visible()
    await at_shop.check_page()
    await page.locator(f'a[href="/messages/{opened["id"]}"]').focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_be_focused()
    await at_shop.click("Report this message")
    await expect(page.get_by_text("Reported. Our staff read this conversation now.")).to_be_visible()
    await at_shop.click("Block this seller")
    await expect(page.get_by_text("You have blocked this seller.")).to_be_visible()
    refused = await market.http.post(path, json={"text": "?"}, headers=vendor.headers)
    assert refused.status_code == 403
    await at_shop.click("Accept messages of this seller")
    await expect(page.get_by_label("Your message")).to_be_visible()
    await at_shop.check_page()


async def test_a_buyer_sends_a_photo_and_sees_the_sellers(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser, product: dict[str, Any]
) -> None:
    opened = await market.post("/api/conversations", {"productId": product["id"]}, buyer)
    path = f"/api/conversations/{opened['id']}"
    at_shop = await shopper(buyer, path=f"/messages/{opened['id']}")
    log = at_shop.page.get_by_role("log")
    name, content, media_type = photo()
    chosen = {"name": name, "mimeType": media_type, "buffer": content}
    await at_shop.page.get_by_label("Photo (optional)").set_input_files(chosen)  # type: ignore[arg-type]
    await at_shop.click("Send")
    await expect(log.get_by_role("img", name="Photo of the buyer")).to_be_visible()
    [sent] = await market.get(f"{path}/messages", vendor)
    assert (sent["text"], sent["imageUrl"]) == ("Photo", f"{path}/images/{sent['imageId']}")

    added = await market.http.post(f"{path}/images", files={"file": photo()}, headers=vendor.headers)
    body = {"text": "Like this one", "imageId": added.json()["data"]["id"]}
    await market.post(f"{path}/messages", body, vendor)
    await expect(log.get_by_role("img", name="Photo of the seller")).to_be_visible()
    await at_shop.check_page()
