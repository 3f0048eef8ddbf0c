"""Long names and large amounts on the smallest phone: 320 px."""

from uuid import uuid4

from operations.journey import Marketplace, SignedInUser
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import fill_cart, paid_order

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
    name_on_card = page.locator(".card", has_text=word).get_by_role("link")
    await at_shop.open(f"/?q={word}")
    await name_on_card.wait_for()
    # Three lines at most; the page of the product has the whole name.
    assert await name_on_card.evaluate("one => one.clientHeight < one.scrollHeight")
    assert await page.locator(".card .price").inner_text() == AMOUNT
