"""A cart of the messaging app is reviewed and paid at the storefront, by the link that was sent back."""

import re

from playwright.async_api import expect

from operations.journey import Marketplace
from tests.end_to_end.steps import a_product, purchase_draft
from tests.storefront.conftest import Arrival


async def test_a_cart_of_the_messaging_app_is_paid_by_its_link(shopper: Arrival, market: Marketplace) -> None:
    product = await a_product(market)
    student, path = await purchase_draft(market, product)
    address = path.removeprefix("/api")
    visitor = await shopper(path=address)
    await expect(visitor.page.get_by_text("Sign in to continue")).to_be_visible()

    at_shop = await shopper(student, path=address)
    page = at_shop.page
    await expect(page.get_by_text("Nothing is ordered yet")).to_be_visible()
    await expect(page.get_by_text(product["name"])).to_be_visible()
    await page.get_by_role("radio", name="Moremi Hall").check()
    await at_shop.check_page()
    await page.keyboard.press("Tab")
    await page.get_by_role("button", name="Pay ₦").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/pay/**")
    await page.get_by_role("button", name="Pay ").click()
    await page.wait_for_url("**/purchases/**")
    await expect(page.get_by_test_id("pin")).to_have_text(re.compile(r"^\d{6}$"))
    [purchase] = await market.get("/api/purchases", student)
    [order] = purchase["orders"]
    assert (order["hubId"] is not None, order["totalMinor"]) == (True, product["priceMinor"] + 30_000)

    await at_shop.open(address)
    await at_shop.click("Open the purchase", "link")
    await page.wait_for_url(f"**/purchases/{purchase['id']}")


async def test_another_buyers_cart_is_not_found(shopper: Arrival, market: Marketplace) -> None:
    student, path = await purchase_draft(market, await a_product(market))
    other, _ = await purchase_draft(market, await a_product(market))
    at_shop = await shopper(other, path=path.removeprefix("/api"))
    await expect(at_shop.page.get_by_role("alert")).to_be_visible()
    assert await market.get("/api/purchases", student) == []
