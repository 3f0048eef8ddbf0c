"""Long names, large amounts, other scripts, removed products and long conversations, at 320 px."""

from typing import Any
from uuid import uuid4

from playwright.async_api import expect

from operations.journey import Marketplace, SignedInUser
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import fill_cart, paid_order, photo

SMALLEST = {"width": 320, "height": 640}
PRICE_MINOR = 412_500_000
AMOUNT = "₦4,125,000.00"
# Amounts that the window or a card cuts, or that are broken over two lines.
CUT_AMOUNTS = """[...document.querySelectorAll("main *, header *")]
    .filter((one) => !one.children.length && /^₦[0-9.,]+$/.test(one.textContent.trim()) && one.offsetParent)
    .filter((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size;
        const edge = one.closest(".card")?.getBoundingClientRect().right ?? innerWidth;
        return lines > 1 || range.getBoundingClientRect().right > edge;
    }).map((one) => one.outerHTML)"""
# Words of the progress of an order that are broken over two lines.
BROKEN_STEPS = """[...document.querySelectorAll(".steps li")].filter((one) => {
    const range = document.createRange();
    range.selectNodeContents(one.lastChild);
    return range.getClientRects().length > 1;
}).map((one) => one.textContent)"""


async def offer(market: Marketplace, vendor: SignedInUser, **more: Any) -> dict[str, Any]:
    body = {"name": f"Lamp {uuid4().hex[:8]}", "description": "Bright.", "category": "hostel", "priceMinor": 90_000}
    created: dict[str, Any] = await market.post("/api/products", {**body, "stock": 5, **more}, vendor)
    return created


async def remove(market: Marketplace, vendor: SignedInUser, product: dict[str, Any]) -> None:
    response = await market.http.delete(f"/api/products/{product['id']}", headers=vendor.headers)
    assert response.is_success, response.text


async def test_names_and_amounts_fit_the_smallest_phone(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser
) -> None:
    word = f"Ultra{uuid4().hex}"
    name = f"{word} Professional-Grade Generator With Remote Start, Wheels And Toolkit"
    description = f"{'Supercalifragilistic' * 6} and more."
    product = {"name": name, "description": description, "category": "electronics", "priceMinor": PRICE_MINOR}
    product = await market.post("/api/products", {**product, "stock": 9}, vendor)
    order = await paid_order(market, buyer, product["id"])
    await fill_cart(market, buyer, product["id"], 2)
    pages = {
        f"/?q={word}": ".card",
        f"/products/{product['id']}": ".buy",
        "/cart": ".lines",
        f"/checkout/{product['vendorId']}": ".summary",
        f"/orders/{order['id']}": ".pin",
        "/orders": ".orders",
        "/balance": ".amount",
        f"/vendors/{product['vendorId']}": ".grid",
    }
    at_shop = await shopper(buyer)
    page = at_shop.page
    await page.set_viewport_size(SMALLEST)  # type: ignore[arg-type]
    for path, complete in pages.items():
        await at_shop.open(path)
        await page.locator(complete).first.wait_for()
        await at_shop.check_width()
        assert await page.evaluate(CUT_AMOUNTS) == [], path
        assert await page.evaluate(BROKEN_STEPS) == [], path
    name_on_card = page.locator(".card", has_text=word).get_by_role("link")
    await at_shop.open(f"/?q={word}")
    await name_on_card.wait_for()
    # Three lines at most; the page of the product has the whole name.
    assert await name_on_card.evaluate("one => one.clientHeight < one.scrollHeight")
    assert await page.locator(".card .price").inner_text() == AMOUNT
    for path, name_in_list in (("/cart", ".lines .name"), ("/orders", ".orders .name")):
        await at_shop.open(path)
        await page.locator(name_in_list).first.wait_for()
        assert await page.locator(name_in_list).first.evaluate("one => one.clientHeight < one.scrollHeight"), path


async def test_all_photos_of_a_product_can_be_opened(
    shopper: Arrival, market: Marketplace, vendor: SignedInUser
) -> None:
    product = await offer(market, vendor)
    for red in (20, 120, 220):
        path = f"/api/products/{product['id']}/images"
        response = await market.http.post(path, files={"file": photo(red)}, headers=vendor.headers)
        assert response.status_code == 201, response.text
    images = (await market.get(f"/api/products/{product['id']}"))["images"]
    assert len(images) == 3
    at_shop = await shopper(path=f"/products/{product['id']}")
    large = at_shop.page.get_by_role("img", name=product["name"])
    for number, image in enumerate(images, start=1):
        await at_shop.click(f"Photo {number} of 3")
        assert (await large.get_attribute("src") or "").endswith(image)
    await at_shop.check_page()


async def test_removed_and_sold_out_products_are_neither_counted_nor_summed(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser
) -> None:
    kept, removed, sold_out = [await offer(market, vendor) for _ in range(3)]
    for product in (kept, removed, sold_out):
        await fill_cart(market, buyer, product["id"], 2)
    await remove(market, vendor, removed)
    change = {"stock": 0, "revision": sold_out["revision"]}
    response = await market.http.patch(f"/api/products/{sold_out['id']}", json=change, headers=vendor.headers)
    assert response.is_success, response.text
    at_shop = await shopper(buyer, path="/cart")
    page = at_shop.page
    await page.set_viewport_size(SMALLEST)  # type: ignore[arg-type]
    for product, state in ((removed, "No longer sold"), (sold_out, "Sold out")):
        line = page.locator(".lines li", has_text=product["name"])
        await expect(line).to_contain_text(state)
        await expect(line).not_to_contain_text("₦")
    await expect(page.locator(".sum")).to_contain_text("₦1,800.00")
    await expect(page.locator(".badge")).to_have_text("2 items")
    await at_shop.open(f"/checkout/{kept['vendorId']}")
    await expect(page.get_by_text("Something is not available any more")).to_be_visible()
    await at_shop.check_page()


async def test_products_chosen_before_the_sign_in_are_counted_and_kept(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser
) -> None:
    first, second = [await offer(market, vendor) for _ in range(2)]
    at_shop = await shopper(path="/")
    page = at_shop.page
    for product in (first, second):
        await at_shop.open(f"/products/{product['id']}")
        await at_shop.click("Add to cart")
        await page.wait_for_url("**/sign-in?next=*")
    await at_shop.open("/cart")
    await expect(page.get_by_text("The 2 products that you chose are in your cart as soon as")).to_be_visible()
    await at_shop.check_page()
    await page.locator("main").get_by_role("link", name="Sign in").click()
    await at_shop.fill("Mail address", buyer.email)
    await at_shop.fill("Password", market.secrets["DEMO_PASSWORD"])
    await page.locator("main").get_by_role("button", name="Sign in").click()
    for product in (first, second):
        await expect(page.locator(".lines li", has_text=product["name"])).to_be_visible()
    await expect(page.locator(".badge")).to_have_text("2 items")


async def test_arabic_text_is_written_from_the_right(
    shopper: Arrival, market: Marketplace, vendor: SignedInUser
) -> None:
    product = await offer(market, vendor, name="قميص قطني 100% — جودة ممتازة!", description="قماش خالص!")
    at_shop = await shopper(path=f"/products/{product['id']}")
    for text in (at_shop.page.locator("h1"), at_shop.page.locator(".description")):
        await text.wait_for()
        # The sign at the end of the sentence is its leftmost one.
        left = """(one) => {
            const range = document.createRange();
            const node = one.firstChild;
            range.setStart(node, node.length - 1);
            range.setEnd(node, node.length);
            const last = range.getBoundingClientRect();
            range.selectNodeContents(one);
            const lines = [...range.getClientRects()].filter((line) => Math.abs(line.bottom - last.bottom) < 4);
            return last.left - Math.min(...lines.map((line) => line.left));
        }"""
        assert await text.evaluate(left) < 1
    await at_shop.check_page()
    await remove(market, vendor, product)


async def test_a_long_conversation_starts_at_its_newest_message_and_shows_all(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser
) -> None:
    product = await offer(market, vendor)
    opened = await market.post("/api/conversations", {"productId": product["id"]}, buyer)
    path = f"/api/conversations/{opened['id']}/messages"
    texts = [f"{number}. {'Supercalifragilistic' * 8} 😀" for number in range(1, 8)]
    for text in texts:
        await market.post(path, {"text": text}, buyer)
    at_shop = await shopper(buyer)
    page, shown = at_shop.page, at_shop.page.locator(".thread .text")
    await page.set_viewport_size(SMALLEST)  # type: ignore[arg-type]
    # Pages of five in place of fifty: a person sends no hundred messages within a minute.
    await page.route(
        "**/messages?*limit=50*", lambda one: one.continue_(url=one.request.url.replace("limit=50", "limit=5"))
    )
    await at_shop.open(f"/messages/{opened['id']}")
    await expect(shown).to_have_count(5)
    await expect(shown.last).to_be_in_viewport()
    await at_shop.click("Show earlier messages")
    await expect(shown).to_have_count(7)
    # They move two of the first five from the newest page.
    for text in ("And one more", "هل يوجد مقاس أكبر؟"):
        texts.append(text)
        await market.post(path, {"text": text}, vendor)
    await expect(shown).to_have_text(texts)
    await at_shop.check_page()
