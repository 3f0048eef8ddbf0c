"""The storefront on a slow line, without a connection, on the home screen, and for the keyboard."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from PIL import Image
from playwright.async_api import CDPSession, Page, Route, expect

from operations.journey import Marketplace, SignedInUser
from tests.console.browser import wait_until
from tests.end_to_end.steps import a_product
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import TOKENS, Customer
from tests.storefront.site import Site

# A second-generation connection at its edge: 50 kB a second with a round trip of 400 ms.
SLOW_LINE = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 25_000}
# What each page shows when it is complete.
PAGES = {
    "/": ".grid",
    "/?q=rice": ".grid",
    "/?q=nothing-of-the-kind": ".empty",
    "/products/{product}": ".buy",
    "/sign-in": "form",
    "/sign-up": "form",
    "/cart": ".lines",
    "/checkout/{vendor}": ".summary",
    "/orders": ".orders",
    "/orders/{order}": ".pin",
    "/account": ".facts",
    "/balance": ".amount",
    "/saved": ".page h2",
    "/tickets": ".empty",
    "/vendors/{shop}": ".grid",
    "/no-such-page": "h1",
}


async def developer_tools(page: Page) -> CDPSession:
    tools = await page.context.new_cdp_session(page)
    await tools.send("Network.enable")
    return tools


async def worker_ready(page: Page) -> None:
    """Wait until the service worker serves the application's files."""
    await page.evaluate("navigator.serviceWorker.ready.then(({active}) => active.state)")
    await wait_until(page, "navigator.serviceWorker.controller !== null")


@pytest.mark.parametrize(("path", "complete"), PAGES.items())
async def test_a_first_visit_of_a_page_transfers_less_than_70_kb(
    path: str, complete: str, shopper: Arrival, market: Marketplace, customer: Customer, site: Site
) -> None:
    at_shop = await shopper(await market.sign_in(customer.email), path="/manifest.webmanifest")
    tools = await developer_tools(at_shop.page)
    urls: dict[str, str] = {}
    received: list[int] = []

    def count(event: dict[str, Any]) -> None:
        if not urls.get(event["requestId"], site.origin).startswith(site.origin):
            received.append(event["encodedDataLength"])

    def remember(event: dict[str, Any]) -> None:
        # Images are as large and as many as sellers upload them.
        if event["type"] != "Image":
            urls[event["requestId"]] = event["response"]["url"]

    tools.on("Network.responseReceived", remember)
    tools.on("Network.loadingFinished", count)
    sent_before = len(site.sent)
    await at_shop.open(path.format(**customer.paths))
    await at_shop.page.locator(complete).first.wait_for()
    await worker_ready(at_shop.page)
    # The page's own files, once for page and service worker, and the answers of the API.
    transferred = sum(site.sent[sent_before:]) + sum(received)
    assert len(received) > 0
    assert 30_000 < transferred < 70_000
    await at_shop.check_page()


async def test_a_slow_line_shows_a_page_to_buy_from_before_its_images(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser, vendor: SignedInUser, tmp_path
) -> None:
    name = f"Plantain {uuid4().hex[:8]}"
    product = await market.post(
        "/api/products",
        {"name": name, "description": "Ripe.", "category": "groceries", "priceMinor": 90_050, "stock": 5},
        vendor,
    )
    photo = tmp_path / "plantain.png"
    Image.linear_gradient("L").resize((900, 700)).save(photo)
    uploaded = await market.http.post(
        f"/api/products/{product['id']}/images", files={"file": photo.read_bytes()}, headers=vendor.headers
    )
    assert uploaded.status_code == 201, uploaded.text

    at_shop = await shopper(buyer)
    page = at_shop.page
    await worker_ready(page)
    images_may_arrive = asyncio.Event()
    held: list[str] = []

    async def hold(route: Route) -> None:
        held.append(route.request.url)
        await images_may_arrive.wait()
        await route.continue_()

    await page.context.route("**/media/**", hold)
    tools = await developer_tools(page)
    await tools.send("Network.emulateNetworkConditions", SLOW_LINE)
    await at_shop.open(f"/?q={name.replace(' ', '+')}")
    card = page.locator(".card", has_text=name)
    await expect(card.get_by_text("₦900.50")).to_be_visible()
    without_image = await card.bounding_box()
    await card.get_by_role("link").click()
    await at_shop.click("Add to cart")
    await expect(page.get_by_text("1 in your cart")).to_be_visible()
    assert await page.locator(".art img").evaluate("image => image.naturalWidth") == 0
    assert held

    images_may_arrive.set()
    await page.go_back()
    await expect(card.locator("img")).to_have_js_property("naturalWidth", 320)
    # The image takes the place of the drawing: nothing moves under the thumb.
    assert await card.bounding_box() == without_image
    await at_shop.check_page()


async def test_without_a_connection_the_application_opens_and_shows_it(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    order = await market.checkout(buyer, (await a_product(market))["id"])
    at_shop = await shopper(buyer)
    page = at_shop.page
    await worker_ready(page)
    await page.context.set_offline(True)
    await at_shop.open("/orders")
    await expect(page.get_by_role("heading", name="My orders")).to_be_visible()
    await expect(page.get_by_text("You are offline. This page loads as soon as you are connected.")).to_be_visible()
    await at_shop.open("/")
    await expect(page.get_by_role("banner")).to_contain_text("You are offline")
    await page.get_by_role("link", name="Orders").click()
    await page.context.set_offline(False)
    await expect(page.get_by_text(order["number"])).to_be_visible()
    await at_shop.check_page()


async def test_an_api_that_does_not_respond_is_one_sentence_and_another_try(
    shopper: Arrival, market: Marketplace, buyer: SignedInUser
) -> None:
    order = await market.checkout(buyer, (await a_product(market))["id"])
    at_shop = await shopper(buyer)
    page = at_shop.page
    await page.route("**/api/orders?*", lambda route: route.abort("connectionrefused"))
    await at_shop.open("/orders")
    sentence = page.get_by_text("The marketplace does not respond. Check your connection, then try again.")
    await expect(sentence).to_be_visible()
    await page.unroute_all()
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_text(order["number"])).to_be_visible()


async def test_an_api_that_does_not_respond_is_no_endless_loading(shopper: Arrival, buyer: SignedInUser) -> None:
    at_shop = await shopper(buyer)
    page = at_shop.page
    for path, content in (("/", ".grid"), ("/account", ".facts")):
        await page.route("**/api/**", lambda route: route.abort("connectionrefused"))
        await at_shop.open(path)
        await expect(page.get_by_text("The marketplace does not respond. Check your connection")).to_be_visible()
        await page.unroute_all()
        await page.get_by_role("button", name="Try again").click()
        await expect(page.locator(content).first).to_be_visible()


async def test_no_cache_and_no_storage_holds_what_the_api_returned(
    shopper: Arrival, market: Marketplace, customer: Customer, site: Site
) -> None:
    at_shop = await shopper(await market.sign_in(customer.email), path=f"/orders/{customer.paths['order']}")
    page = at_shop.page
    await worker_ready(page)
    pin = await page.get_by_test_id("pin").inner_text()
    await at_shop.open("/account")
    await page.locator(".facts").wait_for()
    cached = await page.evaluate(
        """async () => {
            const caches_ = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
            const requests = (await Promise.all(caches_.map((one) => one.keys()))).flat();
            return requests.map(({ url }) => url);
        }"""
    )
    assert cached
    assert [url for url in cached if not url.startswith(f"{site.origin}/")] == []
    stored = await page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert list(json.loads(stored)) == [TOKENS]
    assert pin not in stored
    assert await page.evaluate("indexedDB.databases().then((all) => all.length)") == 0


async def test_the_chosen_colors_stay_on_the_next_page(shopper: Arrival) -> None:
    at_shop = await shopper()
    ground = "getComputedStyle(document.body).backgroundColor"
    assert await at_shop.page.evaluate(ground) == "rgb(255, 249, 240)"
    await at_shop.page.get_by_label("Colors").select_option("dark")
    assert await at_shop.page.evaluate(ground) == "rgb(21, 17, 13)"
    await at_shop.open("/sign-in")
    await at_shop.page.locator("form").wait_for()
    assert await at_shop.page.evaluate(ground) == "rgb(21, 17, 13)"
    await at_shop.check_page()
    await at_shop.page.get_by_label("Colors").select_option("as the device")
    assert await at_shop.page.evaluate(ground) == "rgb(255, 249, 240)"
    assert await at_shop.page.evaluate("localStorage.length") == 0


async def test_the_storefront_can_be_installed(shopper: Arrival) -> None:
    at_shop = await shopper()
    await worker_ready(at_shop.page)
    tools = await developer_tools(at_shop.page)
    manifest = await tools.send("Page.getAppManifest")
    assert manifest["errors"] == []
    described = json.loads(manifest["data"])
    assert (described["display"], described["start_url"]) == ("standalone", "/")
    for icon in described["icons"]:
        response = await at_shop.page.request.get(f"{at_shop.console_url}{icon['src']}")
        (tmp := await response.body())
        assert tmp.startswith(b"\x89PNG"), icon
    found = await tools.send("Page.getInstallabilityErrors")
    # A test's browser keeps nothing, which alone forbids the installation.
    assert {one["errorId"] for one in found["installabilityErrors"]} <= {"in-incognito"}


async def test_the_policy_of_the_page_stops_an_inline_script(shopper: Arrival) -> None:
    at_shop = await shopper()
    violated = await at_shop.page.evaluate(
        """() => new Promise((resolve) => {
            addEventListener("securitypolicyviolation", ({ violatedDirective }) => resolve(violatedDirective));
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.head.append(script);
        })"""
    )
    assert violated == "script-src-elem"
    assert await at_shop.page.evaluate("window.ran") is None
    assert len(at_shop.errors) == 1
    assert "Content Security Policy" in at_shop.errors.pop()


async def test_the_keyboard_reaches_the_content_and_a_new_page_starts_at_its_heading(shopper: Arrival) -> None:
    at_shop = await shopper()
    page = at_shop.page
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    # Another test may have sold the newest product out.
    link = page.locator(".card:not(.sold-out) a").first
    await link.focus()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/products/*")
    await expect(page.locator("h1")).to_be_focused()
    add = page.get_by_role("button", name="Add to cart")
    await add.focus()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/sign-in*")


async def test_an_error_shows_what_failed_and_the_request_id(shopper: Arrival) -> None:
    at_shop = await shopper(path=f"/products/{uuid4()}")
    alert = at_shop.page.get_by_role("alert")
    await expect(alert).to_contain_text("req_")
    await expect(alert.get_by_role("button", name="Try again")).to_be_visible()
    await at_shop.check_page()


async def test_the_sign_in_links_to_no_other_site(shopper: Arrival, market: Marketplace, buyer: SignedInUser) -> None:
    at_shop = await shopper(path="/sign-in?next=%2F%2Fevil.example%2F")
    await at_shop.fill("Mail address", buyer.email)
    await at_shop.fill("Password", market.secrets["DEMO_PASSWORD"])
    await at_shop.click("Sign in")
    await expect(at_shop.page).to_have_url(f"{at_shop.console_url}/")
    await expect(at_shop.page.get_by_role("link", name="Account")).to_be_visible()
