"""A vendor's inbox: answers, offers and their withdrawal, blocks and reports."""

from typing import Any
from uuid import uuid4

from operations.journey import Marketplace
from tests.console.browser import NARROW
from tests.console.conftest import Arrival
from tests.end_to_end.conftest import Users


async def opened(market: Marketplace, users: Users, text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a new product of the vendor, and the conversation in which the buyer asks about it."""
    body = {
        "name": f"Plantain {uuid4().hex[:8]}",
        "description": "Ripe.",
        "category": "groceries",
        "priceMinor": 90_000,
        "stock": 9,
    }
    product = await market.post("/api/products", body, users.vendor)
    conversation = await market.post("/api/conversations", {"productId": product["id"]}, users.buyer)
    await market.post(f"/api/conversations/{conversation['id']}/messages", {"text": text}, users.buyer)
    return product, conversation


async def messages(market: Marketplace, users: Users, conversation: dict[str, Any]) -> list[dict[str, Any]]:
    return list(await market.get(f"/api/conversations/{conversation['id']}/messages", users.buyer))


async def test_a_vendor_replies_on_a_phone_and_makes_an_offer(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    product, conversation = await opened(market, users, "Less for two? <b>https://evil.example</b>")
    one = await visitor("vendor")
    await one.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await one.open("/conversations")
    await one.page.locator(f'a[href="/conversations/{conversation["id"]}"]').click()
    assert "Less for two? <b>https://evil.example</b>" in await one.text()
    assert await one.page.locator("main a[href*='evil']").count() == 0
    await one.fill("Text", "Yes. My PIN is 482913")
    await one.page.get_by_label("Text", exact=True).press("Tab")
    await one.page.keyboard.press("Enter")
    assert "PIN" in await one.notice()
    await one.fill("Quantity", "2")
    await one.fill("Price of one in naira", "750.50")
    await one.click("Make the offer")
    assert await one.notice() == "The offer is made. The buyer accepts it by paying."
    offer, reply, _ = await messages(market, users, conversation)
    assert reply["masked"]
    assert "482913" not in reply["text"]
    terms = [offer["offer"][name] for name in ("productId", "quantity", "unitPriceMinor", "status")]
    assert terms == [product["id"], 2, 75_050, "open"]
    await one.check_page()
    await one.click("Withdraw the offer")
    assert await one.notice() == "The offer is withdrawn."
    assert "Withdrawn" in await one.text() or "withdrawn" in await one.text()


async def test_a_refused_offer_names_its_field(visitor: Arrival, market: Marketplace, users: Users) -> None:
    _, conversation = await opened(market, users, "Hello")
    one = await visitor("vendor")
    await one.open(f"/conversations/{conversation['id']}")
    await one.fill("Quantity", "200")
    await one.fill("Price of one in naira", "10")
    await one.click("Make the offer")
    assert await one.page.get_by_label("Quantity", exact=True).get_attribute("aria-invalid") == "true"
    await one.check_page()


async def test_a_vendor_blocks_a_buyer_and_reports_a_message(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    _, conversation = await opened(market, users, "Rude words")
    one = await visitor("vendor")
    await one.open(f"/conversations/{conversation['id']}")
    await one.click("Report this message")
    assert await one.notice() == "The message is reported. Our staff read this conversation now."
    await one.click("Block this buyer")
    assert await one.notice() == "The buyer is blocked."
    path = f"/api/conversations/{conversation['id']}"
    refused = await market.http.post(f"{path}/messages", json={"text": "?"}, headers=users.buyer.headers)
    assert refused.status_code == 403
    read = await market.http.get(f"{path}/messages", headers=users.support.headers)
    assert read.status_code == 200, read.text
    await one.click("Accept messages of this buyer")
    assert await one.notice() == "The buyer can write again."
    await one.check_page()
