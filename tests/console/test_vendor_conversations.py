"""A vendor's inbox: answers, offers and their withdrawal, blocks and reports."""

from typing import Any

from operations.journey import Marketplace
from tests.console.browser import IMAGES_ARE_LOADED, NARROW, wait_until
from tests.console.conftest import Arrival
from tests.console.vendor_steps import opened_conversation
from tests.end_to_end.conftest import Users
from tests.storefront.shopper import photo


async def messages(market: Marketplace, users: Users, conversation: dict[str, Any]) -> list[dict[str, Any]]:
    return list(await market.get(f"/api/conversations/{conversation['id']}/messages", users.buyer))


async def test_a_vendor_replies_on_a_phone_and_makes_an_offer(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    product, conversation = await opened_conversation(market, users, "Less for two? <b>https://evil.example</b>")
    one = await visitor("vendor")
    await one.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await one.open("/conversations")
    await one.page.locator(f'a[href="/conversations/{conversation["id"]}"]').click()
    assert "Less for two? <b>https://evil.example</b>" in await one.text()
    assert await one.page.locator("main a[href*='evil']").count() == 0
    await one.fill("Text", "Yes. My PIN is 482913")
    # Past the photo, to the button.
    for _ in range(2):
        await one.page.keyboard.press("Tab")
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
    _, conversation = await opened_conversation(market, users, "Hello")
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
    _, conversation = await opened_conversation(market, users, "Rude words")
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


async def test_a_vendor_sends_a_photo_that_the_buyer_sees(visitor: Arrival, market: Marketplace, users: Users) -> None:
    _, conversation = await opened_conversation(market, users, "Show me")
    one = await visitor("vendor")
    await one.open(f"/conversations/{conversation['id']}")
    name, content, media_type = photo()
    file = {"name": name, "mimeType": media_type, "buffer": content}
    await one.page.get_by_label("Photo (optional)").set_input_files(file)  # type: ignore[arg-type]
    await one.click("Send the message")
    assert await one.notice() == "The message is sent."
    assert await one.page.locator(".thread img").count() == 1
    await wait_until(one.page, IMAGES_ARE_LOADED)
    await one.check_page()
    sent = (await messages(market, users, conversation))[0]
    image = await market.http.get(sent["imageUrl"], headers=users.buyer.headers)
    assert (sent["text"], image.headers["content-type"]) == ("Photo", "image/webp")


async def test_a_vendor_offers_a_variant(visitor: Arrival, market: Marketplace, users: Users) -> None:
    product, conversation = await opened_conversation(market, users, "In large?")
    variants = [{"values": {"Size": size}, "priceMinor": 90_000, "stock": 3, "active": True} for size in "ML"]
    saved = await market.http.put(
        f"/api/products/{product['id']}/variants",
        json={"options": [{"name": "Size", "values": ["M", "L"]}], "variants": variants},
        headers={**users.vendor.headers, "If-Match": f'"{product["revision"]}"'},
    )
    large = next(one for one in saved.json()["data"]["variants"] if one["values"] == {"Size": "L"})
    one = await visitor("vendor")
    await one.open(f"/conversations/{conversation['id']}")
    await one.page.get_by_label(f"Variant of {product['name']}").select_option(label="L (₦900.00, 3 in stock)")
    await one.fill("Price of one in naira", "750")
    await one.click("Make the offer")
    assert await one.notice() == "The offer is made. The buyer accepts it by paying."
    offer = (await messages(market, users, conversation))[0]["offer"]
    assert (offer["variantId"], offer["unitPriceMinor"]) == (large["id"], 75_000)
    await one.check_page()
