"""A buyer pays by a transfer from their bank's app: the account, its number and the time that is left."""

import re
from typing import Any

from playwright.async_api import expect

from operations.journey import Marketplace, SignedInUser
from tests.storefront.conftest import Arrival


async def unpaid_order(market: Marketplace, buyer: SignedInUser) -> dict[str, Any]:
    product = (await market.products(q="jollof rice", inStock="true", limit=1))[0]
    return await market.checkout(buyer, product["id"])


async def transferred(market: Marketplace, buyer: SignedInUser, order_id: str, **body: int) -> None:
    """Transfer into the account of the order's payment, as from the buyer's bank."""
    payments = await market.get("/api/payments", buyer, params={"orderId": order_id})
    reference = payments[0]["reference"]
    response = await market.sandbox.post(f"/control/charges/{reference}/transfer", json=body)
    assert response.status_code == 200, response.text


async def test_an_order_is_paid_by_transfer_to_the_account_shown(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    order = await unpaid_order(market, buyer)
    at_shop = await shopper(buyer, path=f"/orders/{order['id']}")
    page = at_shop.page
    await at_shop.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await at_shop.click("Pay by bank transfer")
    number = page.get_by_test_id("account-number")
    await expect(number).to_have_text(re.compile(r"^\d{10}$"))
    await expect(page.get_by_test_id("transfer-clock")).to_have_text(re.compile(r"^1?\d:\d{2}$"))
    await expect(page.get_by_text("Titan · CAMPUS CHECKOUT")).to_be_visible()
    await at_shop.check_page()

    await at_shop.click("Copy the account number")
    await expect(page.get_by_text("Copied.")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == await number.inner_text()

    await page.reload()
    await at_shop.click("Pay by bank transfer")
    await expect(number).to_be_visible()
    await transferred(market, buyer, order["id"])
    await expect(page.get_by_test_id("pin")).to_have_text(re.compile(r"^\d{6}$"))


async def test_too_low_a_transfer_is_shown_with_what_happens(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    order = await unpaid_order(market, buyer)
    at_shop = await shopper(buyer, path=f"/orders/{order['id']}")
    await at_shop.click("Pay by bank transfer")
    await expect(at_shop.page.get_by_test_id("account-number")).to_be_visible()
    await transferred(market, buyer, order["id"], amount=100_000)

    async def quarantined() -> bool | None:
        payments = await market.get("/api/payments", buyer, params={"orderId": order["id"]})
        return payments[0]["status"] == "quarantined" or None

    await market.until("the quarantine", quarantined, market.wait_seconds_max)
    await at_shop.page.reload()
    await expect(at_shop.page.get_by_text("₦1,000.00 arrived, and ₦")).to_be_visible()
    await at_shop.check_page()
