"""The buyer's story at the example storefront, from the sign-up to the review."""

import re
from typing import Any
from uuid import uuid4

from PIL import Image
from playwright.async_api import Route, expect

from contracts.demo import ADA, BOLA
from operations.journey import Marketplace, SignedInUser
from tests.end_to_end.steps import a_product
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import Shopper, fill_cart, order_id_in, paid_order

PASSWORD = "plantain-and-eggs"
_CODE = re.compile(r"(?<!\d)\d{6}(?!\d)")


async def jollof(market: Marketplace) -> dict[str, Any]:
    return (await market.products(q="jollof rice", inStock="true", limit=1))[0]


async def sign_up(buyer: Shopper, market: Marketplace) -> None:
    """Create an account by the form, with the code pasted from the mail."""
    email = f"shop.{uuid4().hex}@unilag.edu.ng"
    await buyer.click("Create an account", "link")
    await buyer.fill("Full name", "Tobi Alabi")
    await buyer.fill("Mail address", email)
    await buyer.fill("Phone (optional)", f"+234803{uuid4().int % 10**7:07d}")
    await buyer.fill("Password", "short")
    await buyer.click("Create account")
    await expect(buyer.page.get_by_role("alert")).to_contain_text("Password needs at least 10 characters")
    await buyer.fill("Password", PASSWORD)
    await buyer.check_page()
    await buyer.click("Create account")
    await buyer.page.get_by_label("Code", exact=True).wait_for()
    await buyer.check_page()

    async def mailed() -> str | None:
        codes = [_CODE.search(message["text"]) for message in await market.messages(email, "email")]
        return codes[0][0] if codes and codes[0] else None

    code = await market.until("the code", mailed, market.wait_seconds_max)
    await buyer.page.get_by_label("Code", exact=True).focus()
    # As a paste from the mail does: the field's own limit of characters holds.
    await buyer.page.keyboard.insert_text(f"\u200e{code[:3]}\u00a0{code[3:]}")
    await buyer.click("Confirm")


async def pay(buyer: Shopper, back: str = "orders") -> None:
    """Leave for the payment page, pay there, and return to the order or the purchase."""
    await buyer.page.get_by_role("button", name="Pay ₦").click()
    await buyer.page.wait_for_url("**/pay/**")
    await buyer.page.get_by_role("button", name="Pay ").click()
    await buyer.page.wait_for_url(f"**/{back}/**")


async def test_a_new_student_searches_buys_receives_and_reviews(
    shopper: Arrival, market: Marketplace, vendor: SignedInUser
) -> None:
    buyer = await shopper()
    page = buyer.page
    await page.get_by_role("searchbox").fill("jolof rice")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/?q=jolof*")
    await expect(page.get_by_role("link", name="Jollof Rice, regular plate")).to_be_visible()
    await buyer.click("Jollof Rice, regular plate", "link")
    await expect(page.get_by_text("₦1,800.00")).to_be_visible()

    # What was chosen before the sign-in is in the cart after it.
    await buyer.click("One more")
    await buyer.click("Add to cart")
    await page.wait_for_url("**/sign-in?next=*")
    await sign_up(buyer, market)
    await page.wait_for_url("**/products/*")
    await expect(page.get_by_text("2 in your cart")).to_be_visible()

    await page.get_by_role("link", name="Go to the cart").click()
    await expect(page.get_by_text("Subtotal")).to_be_visible()
    await buyer.click("Check out Ada's Kitchen", "link")
    await page.get_by_label("Akoka Main Gate").check()
    await buyer.fill("Note for the seller (optional)", "Room 12, please call.")
    await expect(page.get_by_role("button", name="Pay ₦3,600.00")).to_be_enabled()
    await pay(buyer)

    order_id = order_id_in(page.url)
    await expect(page.get_by_test_id("pin")).to_have_text(re.compile(r"^\d{6}$"))
    await expect(page.get_by_role("heading", name="You collect it at Akoka Main Gate")).to_be_visible()
    await market.dispatch(vendor, order_id)
    await expect(page.get_by_role("heading", name="On its way")).to_be_visible()
    await market.post(f"/api/orders/{order_id}/arrive", {}, await market.sign_in("hub@campus.example"))
    await expect(page.get_by_role("heading", name="Arrived at Akoka Main Gate")).to_be_visible()
    pin = await page.get_by_test_id("pin").inner_text()
    await market.verify_delivery(vendor, order_id, pin)
    await expect(page.get_by_role("heading", name="Delivered")).to_be_visible()
    await expect(page.get_by_test_id("pin")).to_have_count(0)

    await page.get_by_label("4 stars").check()
    await buyer.fill("Your review", "Hot, and plenty of it.")
    await buyer.check_page()
    await buyer.click("Send review")
    await expect(page.get_by_text("Thank you for your review")).to_be_visible()
    product_id = (await market.order(vendor, order_id))["items"][0]["productId"]
    reviews = await market.get(f"/api/products/{product_id}/reviews")
    assert (reviews[0]["rating"], reviews[0]["text"]) == (4, "Hot, and plenty of it.")

    await buyer.click("Orders", "link")
    await expect(page.get_by_text("Delivered")).to_be_visible()
    await page.get_by_role("link", name="Account").click()
    await expect(page.get_by_text("Tobi Alabi")).to_be_visible()
    await buyer.click("Sign out")
    await expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    assert await page.evaluate("sessionStorage.length + localStorage.length") == 0


async def test_a_dispute_shows_its_reason_and_its_photo(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser, tmp_path
) -> None:
    order = await paid_order(market, buyer, (await jollof(market))["id"])
    photo = tmp_path / "photo.jpg"
    Image.effect_noise((650, 475), 60).resize((2600, 1900)).convert("RGB").save(photo, quality=95)
    at_shop = await shopper(buyer, path=f"/orders/{order['id']}")
    page = at_shop.page
    await at_shop.open_section("Something is wrong")
    await page.get_by_label("What happened?").select_option("It is damaged")
    await at_shop.fill("Describe it", "The lid is broken.")
    await page.get_by_label("Photo (optional)").set_input_files(photo)
    await at_shop.check_page()
    await at_shop.click("Open a dispute")
    await expect(page.get_by_role("heading", name="In dispute")).to_be_visible()
    await expect(page.get_by_text("It is damaged")).to_be_visible()
    await expect(page.get_by_role("img", name=re.compile("^From the buyer"))).to_be_visible()
    await at_shop.check_page()
    dispute = await market.get(f"/api/orders/{order['id']}/dispute", vendor)
    assert (dispute["reason"], dispute["details"]) == ("damaged", "The lid is broken.")
    # Smaller than the photo was: the phone shrinks it before the upload.
    assert dispute["evidence"][0]["byteCount"] < photo.stat().st_size / 2


async def test_two_presses_on_pay_place_one_order_and_one_payment(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    product = await jollof(market)
    await fill_cart(market, buyer, product["id"])
    at_shop = await shopper(buyer, path=f"/checkout/{product['vendorId']}")
    button = at_shop.page.get_by_role("button", name="Pay ₦")
    await button.evaluate("button => { button.click(); button.click(); button.click(); }")
    await at_shop.page.wait_for_url("**/pay/**")
    (order,) = await market.get("/api/orders", buyer)
    (payment,) = await market.get("/api/payments", buyer)
    assert payment["orderId"] == order["id"]
    assert payment["amountMinor"] == product["priceMinor"]


async def test_a_press_after_a_lost_response_finds_the_order_of_the_first(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    product = await jollof(market)
    await fill_cart(market, buyer, product["id"])
    at_shop = await shopper(buyer, path=f"/checkout/{product['vendorId']}")
    page = at_shop.page
    placed: list[int] = []

    async def drop_response(route: Route) -> None:
        placed.append((await route.fetch()).status)
        await route.abort()

    await page.route("**/api/orders/checkout", drop_response)
    await page.get_by_role("button", name="Pay ₦").click()
    await expect(page.get_by_role("alert")).to_contain_text("Check your connection")
    assert placed
    assert set(placed) == {201}
    await page.unroute("**/api/orders/checkout")
    await pay(at_shop)
    (order,) = await market.get("/api/orders", buyer)
    assert order_id_in(page.url) == order["id"]


async def test_the_way_back_from_the_payment_page_links_to_the_order(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    product = await jollof(market)
    await fill_cart(market, buyer, product["id"])
    at_shop = await shopper(buyer, path=f"/checkout/{product['vendorId']}")
    await at_shop.page.get_by_role("button", name="Pay ₦").click()
    await at_shop.page.wait_for_url("**/pay/**")
    await at_shop.page.go_back()
    await expect(at_shop.page.get_by_role("heading", name="Waiting for payment")).to_be_visible()
    await at_shop.check_page()
    await pay(at_shop)
    await expect(at_shop.page.get_by_test_id("pin")).to_be_visible()


async def test_a_declined_payment_shows_the_reason_of_the_bank(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    order = await market.checkout(buyer, (await jollof(market))["id"])
    await market.pay(await market.pay_intent(buyer, order["id"]), action="decline", reason="Insufficient funds")
    at_shop = await shopper(buyer, path=f"/orders/{order['id']}")
    await expect(at_shop.page.get_by_role("alert")).to_contain_text("Insufficient funds")
    await pay(at_shop)
    await expect(at_shop.page.get_by_test_id("pin")).to_be_visible()


async def test_the_order_page_follows_changes_without_polling(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser
) -> None:
    order = await paid_order(market, buyer, (await jollof(market))["id"])
    at_shop = await shopper(buyer)
    page = at_shop.page
    loads: list[str] = []
    page.on("request", lambda request: loads.append(request.url) if "/api/" in request.url else None)
    await page.clock.install()
    await at_shop.open(f"/orders/{order['id']}")
    await expect(page.get_by_text("Live: this page updates by itself")).to_be_visible()
    await expect(page.get_by_test_id("pin")).to_be_visible()

    async def loaded_twice() -> bool | None:
        return sum(url.endswith(order["id"]) for url in loads) >= 2 or None

    await market.until("the load that follows the opening of the stream", loaded_twice, market.wait_seconds_max)
    before = len(loads)
    # Every timer of the next 45 seconds fires now; a stream without a byte for 60 would be replaced.
    await page.clock.fast_forward("00:45")
    await page.evaluate("1")
    assert loads[before:] == []
    await market.dispatch(vendor, order["id"])
    await expect(page.get_by_role("heading", name="On its way")).to_be_visible()
    assert loads[before].endswith(f"/api/orders/{order['id']}")


async def test_a_cart_of_two_vendors_is_paid_once(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser
) -> None:
    for shop in (ADA, BOLA):
        product = await a_product(market, of=shop)
        await fill_cart(market, buyer, product["id"])
    at_shop = await shopper(buyer, path="/cart")
    await at_shop.check_page()
    await at_shop.click("Check out everything", "link")
    await expect(at_shop.page.get_by_role("heading", name="Ada's Kitchen, Bola Gadgets")).to_be_visible()
    at_bola = at_shop.page.get_by_role("group", name="Bola Gadgets: where do you collect it?")
    await at_bola.get_by_role("radio", name="Moremi Hall").check()
    await at_shop.fill("Note for Ada's Kitchen (optional)", "Call me at the gate")
    await at_shop.check_page()
    await pay(at_shop, "purchases")
    page = at_shop.page
    for name in (ADA.business_name, BOLA.business_name):
        pin = page.get_by_role("region", name=f"Your delivery PIN for {name}").get_by_test_id("pin")
        await expect(pin).to_have_text(re.compile(r"^\d{6}$"))
    await expect(page.get_by_role("heading", name="Paid", exact=True)).to_be_visible()
    await at_shop.check_page()
    (payment,) = await market.get("/api/payments", buyer)
    orders = await market.get("/api/orders", buyer)
    assert {order["purchaseId"] for order in orders} == {payment["purchaseId"]}
    assert payment["amountMinor"] == sum(order["totalMinor"] for order in orders)

    notes = {order["vendorId"]: (order["hubId"] is not None, order["deliveryNote"]) for order in orders}
    assert notes == {str(ADA.id): (False, "Call me at the gate"), str(BOLA.id): (True, None)}
    of_ada = next(order for order in orders if order["vendorId"] == str(ADA.id))
    await market.dispatch(vendor, of_ada["id"])
    await expect(page.get_by_role("region", name="From Ada's Kitchen").get_by_text("On its way")).to_be_visible()
    await at_shop.click(f"Open order {of_ada['number']}", "link")
    await expect(page.get_by_role("heading", name="On its way")).to_be_visible()
    await at_shop.click("The purchase that it is part of", "link")
    await page.wait_for_url(f"**/purchases/{payment['purchaseId']}")


async def test_an_order_of_an_unpaid_purchase_links_to_its_one_payment(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    products = [await a_product(market, of=shop) for shop in (ADA, BOLA)]
    purchase = await market.purchase(buyer, *(product["id"] for product in products))
    at_shop = await shopper(buyer, path=f"/orders/{purchase['orders'][0]['id']}")
    await at_shop.check_page()
    await at_shop.click("Go to the payment", "link")
    await expect(at_shop.page.get_by_text("One payment for 2 orders.")).to_be_visible()
    await at_shop.check_page()
    await pay(at_shop, "purchases")
    await expect(at_shop.page.get_by_test_id("pin")).to_have_count(2)
