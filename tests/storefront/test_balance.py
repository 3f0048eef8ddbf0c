"""A refund goes to the buyer's balance, which pays a part of the next order and all of another."""

from typing import Any

import pyotp
from playwright.async_api import expect

from operations.journey import Marketplace, SignedInUser
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import fill_cart, paid_order


async def meal(market: Marketplace) -> dict[str, Any]:
    """Return a product in stock."""
    return (await market.products(q="jollof rice", inStock="true", limit=1))[0]


def naira(minor: int) -> str:
    return f"\N{NAIRA SIGN}{minor / 100:,.2f}"


async def own_balance(market: Marketplace, buyer: SignedInUser) -> tuple[int, int]:
    balance = await market.get("/api/balance", buyer)
    return balance["availableMinor"], balance["heldMinor"]


async def test_a_refund_in_the_balance_pays_the_next_orders(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    product = await meal(market)
    price_minor = product["priceMinor"]
    price = naira(price_minor)
    order = await paid_order(market, buyer, product["id"])
    at_shop = await shopper(buyer, path="/balance")
    page = at_shop.page
    await expect(page.get_by_test_id("available")).to_have_text("₦0.00")
    await expect(page.get_by_text("Nothing yet")).to_be_visible()
    await at_shop.open(f"/orders/{order['id']}")
    await at_shop.open_section("Cancel this order")
    await at_shop.fill("Why?", "Too late.")
    await page.get_by_label("Where does a refund go?").last.select_option("To my balance, for later orders")
    await at_shop.check_page()
    await at_shop.click("Cancel the order")
    await expect(page.get_by_role("heading", name="Refunded")).to_be_visible()
    await expect(page.get_by_text(f"{price} of it is in your balance.")).to_be_visible()

    # A part: the bank pays the rest of two pieces.
    await fill_cart(market, buyer, product["id"], quantity=2)
    await at_shop.open(f"/checkout/{product['vendorId']}")
    await expect(page.get_by_role("button", name=f"Pay {naira(2 * price_minor)}")).to_be_visible()
    await page.get_by_label(f"Use {price} of my balance").check()
    await at_shop.check_page()
    await page.get_by_role("button", name=f"Pay {price}").click()
    await page.wait_for_url("**/pay/**")
    assert await own_balance(market, buyer) == (0, price_minor)
    await page.go_back()
    # What the open payment holds stays chosen, and can be taken back.
    await expect(page.get_by_label(f"Use {price} of my balance")).to_be_checked()
    await expect(page.get_by_role("button", name=f"Pay {price}")).to_be_visible()
    await at_shop.check_page()
    await page.get_by_role("button", name=f"Pay {price}").click()
    await page.wait_for_url("**/pay/**")
    await page.get_by_role("button", name="Pay ").click()
    await page.wait_for_url("**/orders/**")
    await expect(page.get_by_test_id("pin")).to_be_visible()
    assert await own_balance(market, buyer) == (0, 0)

    await at_shop.open("/balance")
    await expect(page.get_by_text(f"-{price}")).to_be_visible()
    await expect(page.get_by_role("link", name="Refund")).to_be_visible()
    await at_shop.check_page()


async def test_an_order_that_the_balance_covers_needs_no_payment_page(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    product = await meal(market)
    first = await paid_order(market, buyer, product["id"])
    price = naira(product["priceMinor"])
    cancelled = {"reason": "Too late.", "refundTo": "balance"}
    await market.post(f"/api/orders/{first['id']}/cancel", cancelled, buyer)
    await market.order_reaches(buyer, first["id"], "refunded")
    order = await market.checkout(buyer, product["id"])
    at_shop = await shopper(buyer, path=f"/orders/{order['id']}")
    page = at_shop.page
    await page.get_by_label(f"Use {price} of my balance").check()
    await expect(page.get_by_role("button", name="Pay by bank transfer")).to_have_count(0)
    await at_shop.check_page()
    await at_shop.click("Pay with my balance")
    await expect(page.get_by_test_id("pin")).to_be_visible()
    assert await own_balance(market, buyer) == (0, 0)


async def test_refunded_money_is_withdrawn_with_a_second_factor(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    product = await meal(market)
    order = await paid_order(market, buyer, product["id"])
    await market.post(f"/api/orders/{order['id']}/cancel", {"reason": "Too late.", "refundTo": "balance"}, buyer)
    await market.order_reaches(buyer, order["id"], "refunded")
    account = {"bank_code": "058", "account_number": "0123456780", "account_name": "Tobi Alabi"}
    await market.sandbox.put("/control/accounts", json=account)
    at_shop = await shopper(buyer, path="/balance")
    page = at_shop.page
    await expect(page.get_by_test_id("available")).to_have_text(naira(order["totalMinor"]))
    await at_shop.open_section("Withdraw to my bank")
    await at_shop.fill("Amount in naira", f"{(order['totalMinor'] - 100) / 100:,.2f}")
    await at_shop.fill("Account number", "0123456780")
    await at_shop.page.get_by_label("Bank", exact=True).select_option(label="Guaranty Trust Bank")
    await at_shop.check_page()
    await at_shop.click("Withdraw")
    # An account without a second factor sets one up; the form stays as it is.
    secret = await page.get_by_test_id("factor-secret").inner_text()
    await at_shop.check_page()
    await at_shop.fill("Code", pyotp.TOTP(secret).now())
    await at_shop.click("Confirm")
    await expect(page.get_by_text("To Tobi Alabi, account ending in 6780")).to_be_visible()
    await expect(page.get_by_test_id("available")).to_have_text("₦1.00")
    await at_shop.check_page()
    [withdrawal] = await market.get("/api/balance/withdrawals", buyer)

    async def paid() -> bool | None:
        found = await market.get(f"/api/balance/withdrawals/{withdrawal['id']}", buyer)
        return found["status"] == "paid" or None

    await market.until("the withdrawal to be paid", paid, 60)
    await page.reload()
    await expect(page.get_by_text("Paid", exact=True)).to_be_visible()
    # The rest is below what a transfer pays: the refusal is shown in the form.
    await at_shop.open_section("Withdraw to my bank")
    await at_shop.fill("Amount in naira", "5,000.00")
    await at_shop.fill("Account number", "0123456780")
    await at_shop.page.get_by_label("Bank", exact=True).select_option(label="Guaranty Trust Bank")
    await at_shop.click("Withdraw")
    await expect(page.get_by_role("alert")).to_be_visible()
    await at_shop.check_page()
