"""A product of several sizes and colours: the choice, the lines of the cart, the order, its review and its return."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest_asyncio
from playwright.async_api import Page, expect

from operations.journey import Marketplace, SignedInUser
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import fill_cart, order_id_in

TIMES = "\N{MULTIPLICATION SIGN}"


@pytest_asyncio.fixture(loop_scope="session")
async def hoodie(market: Marketplace, vendor: SignedInUser) -> AsyncIterator[dict[str, Any]]:
    """Yield a product of which small is sold in red only, and large not any more.

    Other tests of this system buy the newest product of a vendor, without a variant.
    """
    variants = [
        {"values": {"Size": size, "Colour": colour}, "priceMinor": price_minor, "stock": stock, "active": size != "L"}
        for size, colour, price_minor, stock in (
            ("S", "Red", 400_000, 3),
            ("S", "Blue", 400_000, 0),
            ("M", "Red", 450_000, 2),
            ("M", "Blue", 470_050, 5),
            ("L", "Red", 500_000, 9),
        )
    ]
    options = [{"name": "Size", "values": ["S", "M", "L"]}, {"name": "Colour", "values": ["Red", "Blue"]}]
    name = f"Hoodie {uuid4().hex[:8]}"
    body = {"name": name, "description": "Warm.", "category": "hostel", "options": options, "variants": variants}
    created = await market.post("/api/products", body, vendor)
    yield created
    response = await market.http.delete(f"/api/products/{created['id']}", headers=vendor.headers)
    assert response.is_success, response.text


def variant_id(product: dict[str, Any], *values: str) -> str:
    return next(one["id"] for one in product["variants"] if tuple(one["values"].values()) == values)


async def choosable(page: Page) -> list[str]:
    return [await one.inner_text() for one in await page.locator(".value:not(:has(:disabled))").all()]


async def test_only_a_variant_in_stock_can_be_chosen(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, hoodie: dict[str, Any]
) -> None:
    at_shop = await shopper(buyer, path=f"/?q={hoodie['name'].replace(' ', '+')}")
    page = at_shop.page
    await expect(page.locator(".card").get_by_text("from ₦4,000.00")).to_be_visible()
    await at_shop.click(hoodie["name"], "link")
    await expect(page.get_by_role("radio", name="S", exact=True)).to_be_checked()
    assert await choosable(page) == ["S", "M", "Red"]
    for sold_out in ("L (not available)", "Blue (not available)"):
        await expect(page.get_by_role("radio", name=sold_out)).to_be_disabled()
    await expect(page.locator(".product-text .price")).to_have_text("₦4,000.00")
    await expect(page.get_by_text("3 left")).to_be_visible()
    await at_shop.check_page()

    await page.get_by_role("radio", name="S", exact=True).focus()
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("radio", name="M", exact=True)).to_be_checked()
    assert await choosable(page) == ["S", "M", "Red", "Blue"]
    await page.get_by_role("radio", name="Blue").check()
    await expect(page.locator(".product-text .price")).to_have_text("₦4,700.50")
    await expect(page.get_by_text("5 left")).to_be_visible()
    # Small is not sold in blue: the choice of the size leads to the colour that is.
    await page.get_by_role("radio", name="S", exact=True).check()
    await expect(page.get_by_role("radio", name="Red")).to_be_checked()
    await at_shop.click("Add to cart")
    await expect(page.get_by_text("1 in your cart")).to_be_visible()
    (line,) = (await market.get("/api/carts/current", buyer))["items"]
    assert line["variantId"] == variant_id(hoodie, "S", "Red")


async def test_the_sign_in_returns_to_the_chosen_variant(
    shopper: Arrival, market: Marketplace, hoodie: dict[str, Any]
) -> None:
    chosen = variant_id(hoodie, "M", "Blue")
    at_shop = await shopper(path=f"/products/{hoodie['id']}?variant={chosen}")
    await expect(at_shop.page.get_by_role("radio", name="Blue")).to_be_checked()
    await at_shop.click("Add to cart")
    await at_shop.page.wait_for_url(f"**/sign-in?next=*variant%3D{chosen}")


async def test_two_variants_are_two_lines_to_the_return(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser, hoodie: dict[str, Any]
) -> None:
    red, blue = f"{hoodie['name']} (M, Red)", f"{hoodie['name']} (M, Blue)"
    for values in (("S", "Red"), ("M", "Red"), ("M", "Blue")):
        await fill_cart(market, buyer, hoodie["id"], variant_id=variant_id(hoodie, *values))
    at_shop = await shopper(buyer, path="/cart")
    page = at_shop.page
    await at_shop.click(f"Remove {hoodie['name']} (S, Red)")
    await expect(page.locator(".lines li")).to_have_count(2)
    await page.get_by_role("group", name=f"Quantity of {blue}").get_by_role("button", name="One more").click()
    await expect(page.get_by_text("₦9,401.00")).to_be_visible()
    await at_shop.check_page()
    await at_shop.click(red, "link")
    await expect(page.get_by_role("radio", name="Red")).to_be_checked()
    await expect(page.get_by_role("radio", name="M", exact=True)).to_be_checked()

    await at_shop.open(f"/checkout/{hoodie['vendorId']}")
    for line in (f"1 {TIMES} {red}", f"2 {TIMES} {blue}"):
        await expect(page.get_by_text(line)).to_be_visible()
    await page.get_by_role("button", name="Pay ₦13,901.00").click()
    await page.wait_for_url("**/pay/**")
    await page.get_by_role("button", name="Pay ").click()
    await page.wait_for_url("**/orders/**")
    order_id = order_id_in(page.url)
    await expect(page.get_by_test_id("pin")).to_be_visible()
    await expect(page.get_by_text(f"2 {TIMES} {blue}")).to_be_visible()
    await market.dispatch(vendor, order_id)
    await market.verify_delivery(vendor, order_id, await market.delivery_pin(buyer, order_id))

    # One review of the product, whatever its variants.
    await expect(page.get_by_role("button", name="Send review")).to_have_count(1)
    await at_shop.open_section("Return something")
    await page.get_by_label(blue).select_option("Return 1")
    await at_shop.fill("Why?", "Too small.")
    await at_shop.check_page()
    await at_shop.click("Ask for the return")
    await expect(page.get_by_text(f"1 {TIMES} {blue}", exact=True)).to_be_visible()
    await expect(page.get_by_text("The seller has not decided yet.")).to_be_visible()
    await at_shop.check_page()
    (request,) = await market.get(f"/api/orders/{order_id}/return-requests", vendor)
    assert [(one["variantId"], one["quantity"]) for one in request["items"]] == [(variant_id(hoodie, "M", "Blue"), 1)]
    assert request["reason"] == "Too small."
