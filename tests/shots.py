"""Write the images of the main screens from a running system: `make shots`, after `make run`.

Each exists at 1280 and 360 px, in light and dark.
"""

import asyncio
import io
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from PIL import Image
from playwright.async_api import Browser

from contracts.demo import LAGOS
from operations.journey import Marketplace, SignedInUser
from operations.processes import CONSOLE_PORT, SANDBOX_PORT
from operations.secrets import read_secrets
from tests.browsers import running_browser
from tests.console.browser import NARROW, WIDE, Visitor, adopt_session
from tests.console.decisions import short_charge
from tests.end_to_end.steps import delivered_order, paid_order
from tests.running_system import Users
from tests.storefront.shopper import Customer, keep_tokens, new_customer
from tests.storefront.site import build_storefront, served

FOLDER: Final = Path(__file__).parents[1] / "docs" / "images"
COLORS_MAX: Final = 48
"""Enough for text, badges and drawings, and a third of the size."""
CONSOLE: Final = (
    ("work", "maker", "/"),
    ("order", "support", "/orders/{disputed}"),
    ("ticket", "support", "/support-tickets/{ticket}"),
    ("person", "support", "/users/{buyer}"),
    ("quarantine", "checker", "/quarantined-charges/{charge}"),
    ("payouts", "maker", "/payouts"),
    ("sales", "checker", "/sales?groupBy=vendor"),
    ("alerts", "ops", "/alerts"),
    ("health", "ops", "/system-health"),
    ("today", "vendor", "/today"),
    ("products", "vendor", "/products"),
    ("wallet", "vendor", "/wallet"),
    ("vendors", "campus", "/vendors"),
    ("takedowns", "campus", "/product-takedowns"),
    ("hub", "campus", "/hubs/{hub}"),
    ("staff", "admin", "/staff"),
    ("settings", "admin", "/settings"),
)
STOREFRONT: Final = (
    ("shop", "/?category=meals", ".grid"),
    ("product", "/products/{product}", ".buy"),
    ("cart", "/cart", ".lines"),
    ("order", "/orders/{order}", ".pin"),
    ("orders", "/orders", ".orders"),
)
PAGES: Final = (("guide", "/guides/orders"), ("lifecycles", "/lifecycles"))
_ROLES: Final = ("support", "campus", "maker", "checker", "ops", "auditor", "admin", "hub")


async def main() -> None:
    port_base = int(os.environ.get("PORT_BASE", "8080"))
    secrets = read_secrets(Path(os.environ.get("STATE_DIR", ".state")) / "secrets.env")
    base_url = f"http://127.0.0.1:{port_base}"
    market = Marketplace.at(base_url, f"http://127.0.0.1:{port_base + SANDBOX_PORT}", secrets, patient=True)
    users = await _users(market)
    ids, customer = await _work(market, users), await new_customer(market)
    buyer = await market.sign_in(customer.email)
    for old in FOLDER.glob("*.webp"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        build_storefront(Path(folder), base_url)
        with served(Path(folder)) as site:
            async with running_browser() as browser:
                for size in (WIDE, NARROW):
                    for scheme in ("light", "dark"):
                        options = {"viewport": size, "color_scheme": scheme, "locale": "en-GB"}
                        await _capture_console(
                            browser, f"http://127.0.0.1:{port_base + CONSOLE_PORT}", users, ids, options
                        )
                        await _capture_storefront(browser, site.origin, buyer, customer, options)
                        await _capture_pages(browser, base_url, options)
    await market.close()
    written = sorted(FOLDER.glob("*.webp"))
    size = sum(one.stat().st_size for one in written)
    sys.stdout.write(f"{len(written)} images in {FOLDER.relative_to(FOLDER.parents[1])}, {size:,} bytes\n")


async def _users(market: Marketplace) -> Users:
    staff = {name: await market.sign_in_with_two_factors(f"{name}@campus.example", name.upper()) for name in _ROLES}
    return Users(
        buyer=await market.sign_in("buyer@unilag.edu.ng"),
        other_buyer=await market.sign_in("buyer2@unilag.edu.ng"),
        vendor=await market.sign_in_with_two_factors("vendor@unilag.edu.ng", "VENDOR"),
        other_vendor=await market.sign_in_with_two_factors("vendor2@unilag.edu.ng", "VENDOR2"),
        **staff,
    )


async def _work(market: Marketplace, users: Users) -> dict[str, str]:
    """Leave some work for every role. Return the ids of the pages."""
    for _ in range(2):
        await paid_order(market, users)
    await delivered_order(market, users)
    other = (await market.products(inStock="true", limit=20))[-1]
    await market.pay(
        await market.pay_intent(users.other_buyer, (await market.checkout(users.other_buyer, other["id"]))["id"])
    )
    disputed = await paid_order(market, users)
    complaint = {"reason": "not_as_described", "details": "The lid is broken and the color is another one."}
    await market.post(f"/api/orders/{disputed['id']}/dispute", complaint, users.buyer)
    question = {"subject": "Where is my order?", "message": "I waited at the gate.", "orderId": disputed["id"]}
    ticket = await market.post("/api/support-tickets", question, users.buyer)
    charge = await short_charge(market, users)
    wallet = await market.wallet(users.vendor)
    if wallet["availableMinor"] >= wallet["transferMinimumMinor"]:
        await market.request_payout(users.vendor, wallet["availableMinor"])
    await _delist_product(market, users)
    (hub, *_) = await market.get(f"/api/campuses/{LAGOS.id}/hubs", users.campus)
    ids = {"buyer": disputed["buyerId"], "hub": hub["id"]}
    return {**ids, "disputed": disputed["id"], "ticket": ticket["id"], "charge": charge["id"]}


async def _delist_product(market: Marketplace, users: Users) -> None:
    offered = {"name": "Branded bags", "description": "As new.", "category": "fashion", "priceMinor": 1_500_000}
    product = await market.post("/api/products", {**offered, "stock": 2}, users.vendor)
    reason = {"reason": "The photo shows another product"}
    await market.post(f"/api/products/{product['id']}/delist", reason, users.campus)


async def _capture_console(
    browser: Browser, url: str, users: Users, ids: Mapping[str, str], options: Mapping[str, Any]
) -> None:
    secrets = read_secrets(Path(os.environ.get("STATE_DIR", ".state")) / "secrets.env")
    for name, role, path in CONSOLE:
        async with _visitor(browser, url, options) as one:
            await adopt_session(one, getattr(users, role), secrets)
            await one.open(path.format(**ids))
            await one.page.wait_for_load_state("networkidle")
            await _capture(one, f"console-{name}", options)


async def _capture_storefront(
    browser: Browser, origin: str, buyer: SignedInUser, customer: Customer, options: Mapping[str, Any]
) -> None:
    async with _visitor(browser, origin, options) as one:
        await keep_tokens(one.page, origin, buyer)
        for name, path, complete in STOREFRONT:
            await one.open(path.format(**customer.paths))
            await one.page.locator(complete).first.wait_for()
            await _capture(one, f"storefront-{name}", options)


async def _capture_pages(browser: Browser, base_url: str, options: Mapping[str, Any]) -> None:
    async with _visitor(browser, base_url, options) as one:
        for name, path in PAGES:
            await one.open(path)
            await one.page.wait_for_load_state("networkidle")
            await _capture(one, f"pages-{name}", options)


@asynccontextmanager
async def _visitor(browser: Browser, url: str, options: Mapping[str, Any]) -> AsyncIterator[Visitor]:
    context = await browser.new_context(**options)
    yield Visitor(context, await context.new_page(), url)
    await context.close()


async def _capture(one: Visitor, name: str, options: Mapping[str, Any]) -> None:
    image = Image.open(io.BytesIO(await one.page.screenshot())).convert("RGB")
    few = image.quantize(COLORS_MAX, dither=Image.Dither.NONE).convert("RGB")
    target = FOLDER / f"{name}-{options['viewport']['width']}-{options['color_scheme']}.webp"
    few.save(target, lossless=True, quality=100, method=6)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except httpx.ConnectError:
        sys.exit("No system responds. `make run` starts it, in another terminal.")
