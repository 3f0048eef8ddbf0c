"""Every HTML page of the gateway and of the sandbox in a browser: narrow screens, accessibility, content policy, size,
keyboard.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from aiohttp import web
from playwright.async_api import Browser, Page, Request

from campus_tools.guides.site import SITE, build_site, pages_of, read_chapters
from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.browsers import running_browser
from tests.console.browser import NARROW, WIDE, accessibility_faults
from tests.console.conftest import browser
from tests.end_to_end.conftest import market
from tests.end_to_end.steps import placed_order
from tests.guides.blocks import blocks_of
from tests.running_system import Users

__all__ = ["browser", "market"]

PAGE_BYTES_MAX = 100_000
# The viewer and the OpenAPI document, with all operations.
REFERENCE_BYTES_MAX = 680_000
# The viewer renders all operations in one task, which takes 40 s on two cores with other test workers.
REFERENCE_MILLISECONDS_MAX = 180_000
GATEWAY_PAGES = (
    "/",
    "/docs",
    "/events",
    "/lifecycles",
    "/errors",
    "/errors/validation-failed",
    "/errors/rate-limit-exceeded",
)
GUIDES = tuple(page.address for page in pages_of(read_chapters()))
SANDBOX_PAGES = ("/", "/inbox", "/inbox?q=order", "/payments", "/traces", "/api", "/pay/unknown")


@pytest.fixture(scope="module", autouse=True)
def _built_site() -> None:
    if not SITE.exists():
        build_site(SITE)


@dataclass
class Visit:
    """A page in a browser, with what it loaded and what the browser reported."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    async def bytes_loaded(self) -> int:
        """Return the bodies as they were sent, compressed."""
        sizes = [await request.sizes() for request in self.requests if await request.response() is not None]
        return sum(max(0, size["responseBodySize"]) for size in sizes)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def only_visit(browser: Browser) -> AsyncIterator[Visit]:
    """Yield the browser of all these tests, which loads each file each time: in a new one every script is compiled
    again.
    """
    context = await browser.new_context()
    visited = Visit(await context.new_page())
    devtools = await context.new_cdp_session(visited.page)
    await devtools.send("Network.enable")
    await devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
    visited.page.on("pageerror", lambda error: visited.errors.append(str(error)))
    visited.page.on("requestfinished", lambda request: visited.requests.append(request))
    visited.page.on("console", lambda message: visited.errors.append(message.text) if message.type == "error" else None)
    yield visited
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(only_visit: Visit, system: System) -> Visit:
    await only_visit.page.goto(f"{system.base_url}/health/liveness")
    await only_visit.page.set_viewport_size(WIDE)
    only_visit.errors.clear()
    only_visit.requests.clear()
    return only_visit


async def check(visit: Visit, url: str, bytes_max: int) -> None:
    """Check what every page must be, at 1280 and at 360 pixels."""
    response = await visit.page.goto(url, wait_until="load")
    assert response is not None
    if "/docs" in url:
        await visit.page.locator(".opblock-tag").first.wait_for(timeout=REFERENCE_MILLISECONDS_MAX)
    assert await visit.bytes_loaded() <= bytes_max, url
    assert [error for error in visit.errors if f"{response.status}" not in error] == [], url
    assert "unsafe" not in response.headers["content-security-policy"]
    assert await visit.page.locator("script:not([src]), style:not([data-emotion])").count() == 0, url
    for size in (WIDE, NARROW):
        await visit.page.set_viewport_size(size)
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert await visit.page.evaluate(overflow) <= 0, f"{url} scrolls sideways at {size['width']} px"
        faults = await accessibility_faults(visit.page)
        assert faults == [], f"{url} at {size['width']} px"
    assert await visit.page.title() != ""
    assert await visit.page.locator("h1, h2.title").count() > 0, url


@pytest.mark.parametrize("path", [*GATEWAY_PAGES, *GUIDES, "/guides/no-such-page", "/errors/nope"])
async def test_a_page_of_the_gateway_fits_and_is_accessible(system: System, visit: Visit, path: str) -> None:
    limit = REFERENCE_BYTES_MAX if path == "/docs" else PAGE_BYTES_MAX
    await check(visit, f"{system.base_url}{path}", limit)


@pytest.mark.parametrize("path", ["/errors", "/events", "/lifecycles"])
async def test_no_identifier_breaks_on_a_narrow_screen(system: System, visit: Visit, path: str) -> None:
    await visit.page.set_viewport_size(NARROW)
    await visit.page.goto(f"{system.base_url}{path}")
    broken = await visit.page.locator("main table code").evaluate_all(
        "all => all.filter(one => one.getClientRects().length > 1).map(one => one.textContent)"
    )
    assert broken == []


async def test_a_block_of_a_guide_is_copied_by_its_button(system: System, visit: Visit) -> None:
    await visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await visit.page.goto(f"{system.base_url}{GUIDES[1]}")
    block = visit.page.locator("main .copied").first
    await block.get_by_role("button", name="Copy").click()
    await block.get_by_role("button", name="Copied").wait_for()
    copied = await visit.page.evaluate("navigator.clipboard.readText()")
    assert copied == await block.locator("pre").inner_text()


@pytest.mark.parametrize("path", SANDBOX_PAGES)
async def test_a_page_of_the_sandbox_fits_and_is_accessible(system: System, visit: Visit, path: str) -> None:
    await check(visit, f"{system.sandbox_url}{path}", PAGE_BYTES_MAX)


async def test_the_mailbox_of_a_user_and_a_mail_in_it_are_accessible(system: System, visit: Visit) -> None:
    async with httpx.AsyncClient(base_url=system.sandbox_url, trust_env=False, timeout=60) as sandbox:
        email = "mailbox.reader@unilag.edu.ng"
        body = {"email": email, "password": system.secrets["DEMO_PASSWORD"], "fullName": "Ada Obi"}
        async with httpx.AsyncClient(base_url=system.base_url, trust_env=False, timeout=60) as api:
            assert (await api.post("/api/auth/signup", json=body)).status_code == 201
        assert (await sandbox.get("/control/messages", params={"to": email, "wait": 60}, timeout=90)).json() != []
    await check(visit, f"{system.sandbox_url}/inbox?person={quote(email)}", PAGE_BYTES_MAX)
    await visit.page.get_by_text("As a mail program shows it").first.click()
    shown = visit.page.frame_locator("iframe").first.locator("body")
    await shown.wait_for()
    assert "code" in (await shown.inner_text()).lower()
    assert visit.errors == []


async def test_the_search_finds_a_guide_an_operation_and_an_error_by_keyboard(system: System, visit: Visit) -> None:
    page = visit.page
    await page.goto(f"{system.base_url}/errors")
    for words, address in (
        ("delivery pin locked", "/guides/"),
        ("orders/checkout", "/docs#/orders/orders.checkout"),
        ("RATE_LIMIT_EXCEEDED", "/errors/rate-limit-exceeded"),
        ("escrow_held", "/events#payments.escrow_held.v1"),
    ):
        await page.keyboard.press("/")
        await page.get_by_label("Search", exact=True).fill(words)
        links = page.locator("search li a")
        await links.first.wait_for()
        found = [await link.get_attribute("href") or "" for link in await links.all()]
        assert any(one.startswith(address) for one in found), (words, found)
        assert "result" in await page.get_by_role("status").inner_text()
        await page.keyboard.press("Escape")
        assert await links.first.is_hidden()
    await page.keyboard.press("/")
    await page.get_by_label("Search", exact=True).fill("quickstart")
    await page.locator("search li a").first.wait_for()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/guides/quickstart**")
    assert visit.errors == []
    assert all(request.url.startswith(system.base_url) for request in visit.requests)


async def test_the_first_tab_skips_the_navigation(system: System, visit: Visit) -> None:
    await visit.page.goto(f"{system.base_url}/guides/orders")
    await visit.page.keyboard.press("Tab")
    assert await visit.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    await visit.page.keyboard.press("Enter")
    assert await visit.page.evaluate("document.activeElement.id") == "content"


async def test_a_payment_is_made_from_the_start_page(
    system: System, visit: Visit, market: Marketplace, users: Users
) -> None:
    order = await placed_order(market, users)
    intent = await market.pay_intent(users.buyer, order["id"])
    await visit.page.goto(system.sandbox_url)
    await visit.page.locator(f"li a[href$='/pay/{intent['accessCode']}']").click()
    await check(visit, visit.page.url, PAGE_BYTES_MAX)
    await visit.page.get_by_role("button", name="Pay").click()
    await visit.page.get_by_role("heading", name="Payment successful").wait_for()
    await market.order_reaches(users.buyer, order["id"], "paid_escrow")


@pytest_asyncio.fixture(loop_scope="session")
async def notifying_browser() -> AsyncIterator[Browser]:
    async with running_browser(notifies=True) as running:
        yield running


async def test_the_service_worker_of_the_guide_shows_a_notification(notifying_browser: Browser) -> None:
    """The browser receives the push as from its push service, which would be a server of the browser's maker."""
    [worker] = [block.code for block in blocks_of("push") if block.name == "push-worker.js"]
    [page_script] = [block.code for block in blocks_of("push") if block.name == "push-page.js"]
    files = {"/push-worker.js": worker, "/push-page.js": page_script}

    async def serve(request: web.Request) -> web.Response:
        script = files.get(request.path)
        if script is None:
            return web.Response(text="<!doctype html><title>Shop</title>", content_type="text/html")
        return web.Response(text=script, content_type="text/javascript")

    app = web.Application()
    app.router.add_get("/{path:.*}", serve)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
    context = await notifying_browser.new_context(permissions=["notifications"])
    try:
        page = await context.new_page()
        devtools = await context.new_cdp_session(page)
        registered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def note(event: dict) -> None:
            for one in event["registrations"]:
                if not registered.done():
                    registered.set_result(one["registrationId"])

        devtools.on("ServiceWorker.workerRegistrationUpdated", note)
        await devtools.send("ServiceWorker.enable")
        await page.goto(origin)
        assert await page.evaluate("import('/push-page.js').then((module) => typeof module.subscribe)") == "function"
        await page.evaluate(
            "navigator.serviceWorker.register('/push-worker.js').then(() => "
            "navigator.serviceWorker.ready).then(() => null)"
        )
        message = (
            '{"title": "Order on its way", "body": "CM-7K2P", "template": "order_dispatched",'
            ' "notificationId": "n1", "subject": {"kind": "order", "id": "o1", "orderId": "o1"}}'
        )
        delivered = {"origin": origin, "registrationId": await registered, "data": message}
        await devtools.send("ServiceWorker.deliverPushMessage", delivered)
        shown = await page.evaluate(
            """async () => {
                const registration = await navigator.serviceWorker.ready;
                for (;;) {
                    const [one] = await registration.getNotifications();
                    if (one) return [one.title, one.body, one.tag, one.data.orderId];
                    await new Promise((resolve) => setTimeout(resolve, 50));
                }
            }"""
        )
        assert shown == ["Order on its way", "CM-7K2P", "n1", "o1"]
    finally:
        await context.close()
        await runner.cleanup()
