"""Products with stock and images, flash sales and reviews, as their vendor keeps them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.console.browser import NARROW, PAGE_BYTES_MAX, Visitor
from tests.console.conftest import Arrival
from tests.console.decisions import enter_code
from tests.console.naughty import TEXT
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import a_product, delivered_order


async def _new_product(one: Visitor, name: str, **changes: str) -> str:
    """Fill in and send the form of a new product; return the product's id."""
    await one.open("/products/new")
    await _fill_product(one, name, **changes)
    await one.click("Save the product")
    assert await one.notice() == "The product is saved. Add images now."
    return one.page.url.rsplit("/", 1)[-1]


async def _fill_product(one: Visitor, name: str, **changes: str) -> None:
    await one.fill("Name", name)
    await one.fill("Description", changes.get("description", "A dozen"))
    await one.page.get_by_label("Category", exact=True).select_option("snacks")
    await one.fill("Price in naira", changes.get("price", "1,250.50"))
    await one.fill("Stock", changes.get("stock", "9"))


async def _product(market: Marketplace, users: Users, product_id: str) -> dict[str, Any]:
    return dict(await market.get(f"/api/products/{product_id}", users.vendor))


async def test_a_product_is_added_with_an_image_and_sold_out(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    one = await visitor("vendor")
    product_id = await _new_product(one, f"Puff puff {uuid4().hex[:8]}")
    product = await _product(market, users, product_id)
    assert (product["priceMinor"], product["stock"], product["category"]) == (125_050, 9, "snacks")
    await one.page.get_by_label("Image", exact=True).set_input_files(
        {"name": "puff.png", "mimeType": "image/png", "buffer": await one.page.screenshot(type="png")}
    )
    await one.click("Add the image")
    assert await one.notice() == "The image is added."
    image = one.page.get_by_role("img", name="Image 1 of the product")
    assert await image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    await one.check_page()
    await one.fill("Counted stock", "0")
    await one.click("Save the stock")
    assert await one.notice() == "The stock is saved."
    assert (await _product(market, users, product_id))["inStock"] is False
    await one.click("Remove image 1")
    assert await one.notice() == "The image is removed."
    assert (await _product(market, users, product_id))["images"] == []


async def test_a_product_is_added_with_its_photo_in_one_form(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    one = await visitor("vendor")
    await one.page.set_viewport_size(NARROW)
    name = f"Akara {uuid4().hex[:8]}"
    for buffer, notice in (
        (await one.page.screenshot(type="png"), "The product is saved with its photo."),
        (b"<svg onload=alert(1)>", "The product is saved. Its photo was refused"),
    ):
        await one.open("/products/new")
        await _fill_product(one, name, stock="3")
        await one.page.get_by_label("Photo", exact=True).set_input_files(
            {"name": "akara.png", "mimeType": "image/png", "buffer": buffer}
        )
        await one.click("Save the product")
        assert (await one.notice()).startswith(notice)
    await one.open(f"/products?q={name[:10].upper()}&lowStock=true")
    rows = one.page.get_by_role("region", name="Products").locator("tbody tr")
    assert await rows.count() == 2
    assert await rows.get_by_text("low", exact=True).count() == 2
    assert await rows.locator("img.thumbnail").count() == 1
    await one.check_page()


async def test_a_file_that_is_no_image_is_refused(visitor: Arrival) -> None:
    one = await visitor("vendor")
    await _new_product(one, f"Chin chin {uuid4().hex[:8]}")
    file = one.page.get_by_label("Image", exact=True)
    await file.set_input_files({"name": "x.png", "mimeType": "image/png", "buffer": b"<svg onload=alert(1)>"})
    await one.click("Add the image")
    assert await one.page.get_by_role("alert").count() == 1
    await one.check_page()


async def test_a_stock_that_an_order_changed_is_not_overwritten(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    one = await visitor("vendor")
    product = await a_product(market)
    await one.open(f"/products/{product['id']}")
    await market.checkout(users.buyer, product["id"])
    stock = (await _product(market, users, product["id"]))["stock"]
    await one.fill("Counted stock", str(stock + 100))
    await one.click("Save the stock")
    assert await one.page.get_by_role("alert").count() == 1
    assert (await _product(market, users, product["id"]))["stock"] == stock


async def test_a_double_click_saves_a_product_once(visitor: Arrival, market: Marketplace, users: Users) -> None:
    # Without the script, the browser sends both clicks.
    one = await visitor("vendor", javascript=False)
    name = f"Suya {uuid4().hex[:8]}"
    await one.open("/products/new")
    await _fill_product(one, name)
    await one.page.get_by_role("button", name="Save the product").dblclick()
    assert await one.notice() == "The product is saved. Add images now."
    product_id = one.page.url.rsplit("/", 1)[-1]
    mine = await market.get("/api/products/mine", users.vendor, params={"limit": 20})
    assert [product["id"] for product in mine if product["name"] == name] == [product_id]
    await one.fill("Price in naira", "1300")
    await one.page.get_by_role("button", name="Save the product").dblclick()
    # The page before it has a notice, too.
    await one.page.get_by_role("status").get_by_text("The product is saved.", exact=True).wait_for()
    assert (await _product(market, users, product_id))["priceMinor"] == 130_000


async def test_naughty_texts_of_a_product_are_shown_as_text(visitor: Arrival) -> None:
    one = await visitor("vendor")
    await _new_product(one, TEXT[:120], description=TEXT)
    assert await one.heading() == f"{TEXT[:120]} published"
    assert await one.page.get_by_label("Description", exact=True).input_value() == TEXT
    await one.check_page()
    for path in ("/products", "/flash-sales/new"):
        await one.open(path)
        assert TEXT[:60] in await one.text()
    assert await one.page.evaluate("window.broken") is None
    await one.check_page()


async def test_a_session_that_ends_in_the_middle_of_a_product_form_keeps_its_fields(
    visitor: Arrival, market: Marketplace, users: Users, system: System
) -> None:
    vendor = await market.sign_in("vendor@unilag.edu.ng")
    one = await visitor(vendor)
    name = f'Jollof "party" <b>{uuid4().hex[:8]}</b>'
    await one.open("/products/new")
    await _fill_product(one, name, description="Line one\nLine two", stock="12")
    (await market.http.post("/api/auth/logout", json={}, headers=vendor.headers)).raise_for_status()
    await one.click("Save the product")
    assert await one.heading() == "Sign in again"
    await one.fill("Mail address", "vendor@unilag.edu.ng")
    await one.fill("Password", system.secrets["DEMO_PASSWORD"])
    await one.click("Sign in")
    await enter_code(one, system, "VENDOR", "Verify")
    assert await one.heading() == "Send the form again"
    assert name in await one.text()
    await one.click("Send it now")
    assert await one.notice() == "The product is saved. Add images now."
    product = await _product(market, users, one.page.url.rsplit("/", 1)[-1])
    assert (product["name"], product["stock"]) == (name, 12)
    assert product["description"].split() == ["Line", "one", "Line", "two"]


async def test_an_incomplete_product_keeps_what_was_typed(visitor: Arrival) -> None:
    one = await visitor("vendor")
    await one.open("/products/new")
    await _fill_product(one, "Moi moi", price="12.505")
    await one.click("Save the product")
    assert "write an amount in naira" in await one.text()
    assert await one.page.get_by_label("Name", exact=True).input_value() == "Moi moi"
    await one.check_page()


async def test_a_product_of_another_vendor_is_not_found(visitor: Arrival, market: Marketplace) -> None:
    product = await a_product(market)
    one = await visitor("other_vendor")
    response = await one.open(f"/products/{product['id']}")
    assert response.status == 404
    assert product["name"] not in await one.text()


async def test_a_product_is_withdrawn(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("vendor")
    product_id = await _new_product(one, f"Kuli kuli {uuid4().hex[:8]}")
    await one.open_section("Withdraw from sale")
    await one.click("Withdraw the product")
    assert (await one.notice()).startswith("The product is withdrawn.")
    response = await market.http.get(f"/api/products/{product_id}")
    assert response.status_code == 404


async def test_a_vendor_approves_the_sale_that_staff_proposed(
    visitor: Arrival, market: Marketplace, users: Users, system: System
) -> None:
    one = await visitor("vendor")
    product_id = await _new_product(one, f"Zobo {uuid4().hex[:8]}", price="900")
    now = datetime.now(UTC)
    terms = {
        "productId": product_id, "priceMinor": 45_000, "quantity": 5, "perBuyerLimit": 1,
        "startsAt": (now + timedelta(hours=1)).isoformat(), "endsAt": (now + timedelta(hours=3)).isoformat(),
    }  # fmt: skip
    sale = await market.post("/api/flash-sales", terms, users.campus)
    await one.open("/")
    await one.click("Flash sales to approve", "link")
    await one.page.locator(f"a[href='/flash-sales/{sale['id']}']").click()
    assert "₦450.00" in await one.text()
    await one.check_page()
    await one.click("Approve the sale")
    assert await one.notice() == "The sale is approved."
    shown = await market.get(f"/api/flash-sales/{sale['id']}", users.vendor)
    assert (shown["status"], shown["hash"]) == ("upcoming", None)


async def test_a_vendor_plans_a_sale_in_lagos_time(visitor: Arrival, market: Marketplace, users: Users) -> None:
    one = await visitor("vendor")
    product_id = await _new_product(one, f"Kunu {uuid4().hex[:8]}", price="900")
    await one.click("Plan a flash sale", "link")
    day = (datetime.now(UTC) + timedelta(days=2)).date()
    await one.fill("Sale price in naira", "450")
    await one.fill("Quantity", "5")
    await one.fill("Starts (Lagos time)", f"{day}T10:00")
    await one.fill("Ends (Lagos time)", f"{day}T12:00")
    await one.click("Plan the sale")
    assert await one.notice() == "The sale is planned."
    sale = await market.get(f"/api/flash-sales/{one.page.url.rsplit('/', 1)[-1]}", users.vendor)
    assert sale["productId"] == product_id
    assert datetime.fromisoformat(sale["startsAt"]) == datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
    await one.open_section("End the sale now")
    await one.click("End the sale")
    assert (await one.notice()).startswith("The sale is ended.")


async def test_a_review_is_shown_as_text(visitor: Arrival, market: Marketplace, users: Users) -> None:
    order = await delivered_order(market, users)
    review = {"orderId": order["id"], "rating": 4, "text": TEXT}
    await market.post(f"/api/vendors/{order['vendorId']}/reviews", review, users.buyer)
    one = await visitor("vendor")
    await one.open("/own-reviews")
    assert TEXT in " ".join((await one.text()).split())
    assert await one.page.evaluate("window.broken") is None
    await one.check_page()


async def test_the_longest_list_is_light(visitor: Arrival) -> None:
    one = await visitor("vendor")
    await one.open("/products")
    sizes = await one.bytes_loaded()
    assert any(address.endswith(".css") for address in sizes), sizes
    assert sum(sizes.values()) <= PAGE_BYTES_MAX, sizes
