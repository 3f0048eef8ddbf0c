"""Variants of a vendor's products, the hours of the shop, and replies to reviews."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from operations.journey import Marketplace
from tests.console.browser import Visitor
from tests.console.conftest import Arrival
from tests.console.naughty import TEXT
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import delivered_order


async def _variants(market: Marketplace, users: Users, product_id: str) -> dict[str, dict[str, Any]]:
    product = await market.get(f"/api/products/{product_id}", users.vendor)
    return {", ".join(one["values"].values()): one for one in product["variants"]}


async def _product(market: Marketplace, users: Users) -> str:
    body = {
        "name": f"Shirt {uuid4().hex[:8]}", "description": "Cotton", "category": "clothing",
        "priceMinor": 250_000, "stock": 3,
    }  # fmt: skip
    return str((await market.post("/api/products", body, users.vendor))["id"])


async def _set_options(one: Visitor, product_id: str, **values: str) -> None:
    """Fill in and send the form of the options."""
    await one.open(f"/products/{product_id}/variants")
    for number, (name, texts) in enumerate(values.items(), 1):
        await one.fill(f"Option {number}", name)
        await one.fill(f"Values of option {number}", texts)
    await one.click("Save the options")


async def _with_variants(one: Visitor, market: Marketplace, users: Users) -> str:
    """Return a product with stocked variants, made in the browser."""
    product_id = await _product(market, users)
    await _set_options(one, product_id, Size="S, M", Colour="Red")
    assert (await one.notice()).startswith("The options are saved.")
    await one.fill("Stock of S, Red", "4")
    await one.fill("Stock of M, Red", "7")
    await one.fill("Price of M, Red", "2,750.50")
    await one.fill("SKU of M, Red", f"SH-{uuid4().hex[:6]}")
    await one.click("Save the variants")
    assert await one.notice() == "The variants are saved."
    return product_id


async def test_options_make_variants_with_price_and_stock(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("vendor")
    product_id = await _with_variants(one, market, users)
    await one.check_page()
    product = await market.get(f"/api/products/{product_id}", users.vendor)
    assert (product["priceMinor"], product["stock"]) == (250_000, 11)
    assert "₦2,750.50" in await one.text()
    await one.open(f"/products/{product_id}/variants")
    await one.check_page()
    assert (await _variants(market, users, product_id))["M, Red"]["priceMinor"] == 275_050


async def test_a_further_option_keeps_prices_and_stock(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("vendor")
    product_id = await _with_variants(one, market, users)
    before = await _variants(market, users, product_id)
    await _set_options(one, product_id, Size="S, M, L", Tint="Red", Cut="wide, slim")
    after = await _variants(market, users, product_id)
    assert len(after) == 6
    assert after["M, Red, wide"]["id"] == before["M, Red"]["id"]
    assert (after["M, Red, wide"]["stock"], after["L, Red, slim"]["stock"]) == (7, 0)


async def test_a_sale_during_the_count_is_kept_or_refused(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("vendor")
    product_id = await _with_variants(one, market, users)
    small = (await _variants(market, users, product_id))["S, Red"]
    item = {"productId": product_id, "variantId": small["id"], "quantity": 1}
    await one.open(f"/products/{product_id}/variants")
    await market.post("/api/purchases", {"items": [item]}, users.buyer, key=uuid4())
    await one.fill("Stock of M, Red", "9")
    await one.click("Save the variants")
    assert await one.notice() == "The variants are saved."
    stocks = {label: variant["stock"] for label, variant in (await _variants(market, users, product_id)).items()}
    assert stocks == {"S, Red": 3, "M, Red": 9}
    await one.open(f"/products/{product_id}/variants")
    await market.post("/api/purchases", {"items": [item]}, users.buyer, key=uuid4())
    await one.fill("Stock of S, Red", "8")
    await one.click("Save the variants")
    assert "S, Red: 2 in stock now." in await one.page.get_by_role("alert").inner_text()
    await one.check_page()
    assert (await _variants(market, users, product_id))["S, Red"]["stock"] == 2


async def test_too_many_variants_are_refused(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("vendor")
    product_id = await _product(market, users)
    many = ", ".join(map(str, range(60)))
    await _set_options(one, product_id, Size=many, Colour=many, Cut=many)
    assert "more than 100 variants" in await one.text()
    await one.check_page()


async def test_a_hundred_variants_are_saved_in_one_form(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("vendor")
    product_id = await _product(market, users)
    ten = ", ".join(map(str, range(10)))
    await _set_options(one, product_id, Row=ten, Seat=ten)
    await one.fill("Stock of 9, 9", "5")
    await one.click("Save the variants")
    assert await one.notice() == "The variants are saved."
    assert (await market.get(f"/api/products/{product_id}", users.vendor))["stock"] == 5


async def test_a_flash_sale_names_its_variant(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("vendor")
    product_id = await _with_variants(one, market, users)
    await one.click("Plan a flash sale", "link")
    medium = (await _variants(market, users, product_id))["M, Red"]
    await one.page.get_by_label("Product", exact=True).select_option(f"{product_id} {medium['id']}")
    day = (datetime.now(UTC) + timedelta(days=2)).date()
    await one.fill("Sale price in naira", "2000")
    await one.fill("Quantity", "5")
    await one.fill("Starts (Lagos time)", f"{day}T10:00")
    await one.fill("Ends (Lagos time)", f"{day}T12:00")
    await one.check_page()
    await one.click("Plan the sale")
    assert await one.notice() == "The sale is planned."
    sale = await market.get(f"/api/flash-sales/{one.page.url.rsplit('/', 1)[-1]}", users.vendor)
    assert (sale["variantId"], sale["regularPriceMinor"]) == (medium["id"], 275_050)


async def test_the_condition_of_a_product_is_changed(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("vendor")
    product_id = await _with_variants(one, market, users)
    await one.page.get_by_label("Condition", exact=True).select_option("like_new")
    await one.click("Save the product")
    assert await one.notice() == "The product is saved."
    assert (await market.get(f"/api/products/{product_id}", users.vendor))["condition"] == "like_new"


async def test_an_absence_starts_and_ends(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("other_vendor")
    profile = await market.get("/api/profiles/current", users.other_vendor)
    path = f"/api/vendors/{profile['vendorId']}"
    await one.open("/shop")
    day = (datetime.now(UTC) + timedelta(days=2)).date()
    await one.fill("Away until (Lagos time)", f"{day}T10:00")
    await one.fill("Message for buyers", TEXT[:200])
    await one.click("Set the shop away")
    assert (await one.notice()).startswith("The shop is away.")
    absence = (await market.get(path))["away"]
    assert datetime.fromisoformat(absence["until"]) == datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
    await one.check_page()
    await one.click("Take orders again")
    assert await one.notice() == "The shop takes orders again."
    assert (await market.get(path))["away"] is None


async def test_opening_hours_are_typed_by_day(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("other_vendor")
    await one.open("/shop")
    await one.fill("Monday", "8:00-12:00, 13:00-17:30")
    await one.fill("Tuesday", "in the morning")
    await one.click("Save the hours")
    assert "write periods such as" in await one.text()
    await one.check_page()
    await one.fill("Tuesday", "")
    await one.click("Save the hours")
    assert await one.notice() == "The opening hours are saved."
    profile = await market.get("/api/profiles/current", users.other_vendor)
    hours = (await market.get(f"/api/vendors/{profile['vendorId']}"))["openingHours"]
    assert hours == [
        {"day": "mon", "from": "08:00", "to": "12:00"},
        {"day": "mon", "from": "13:00", "to": "17:30"},
    ]
    assert await one.page.get_by_label("Monday", exact=True).input_value() == "08:00-12:00, 13:00-17:30"


async def test_a_vendor_replies_to_a_review_once(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await delivered_order(market, users)
    text = f"Well packed {uuid4().hex[:8]}"
    path = f"/api/vendors/{order['vendorId']}/reviews"
    await market.post(path, {"orderId": order["id"], "rating": 5, "text": text}, users.buyer)
    one = await visitor("vendor")
    await one.open("/own-reviews")
    written = one.page.get_by_role("listitem").filter(has_text=text)
    await written.locator("summary", has_text="Reply").click()
    await written.get_by_label("Your reply", exact=True).fill("Thank you!")
    await one.check_page()
    await written.get_by_role("button", name="Publish the reply").click()
    assert await one.notice() == "The reply is published."
    assert await written.locator("summary").count() == 0
    assert "Thank you!" in await written.inner_text()
    await one.check_page()
