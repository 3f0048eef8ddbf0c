"""A buyer's phone: a browser of 360 pixels with the checks that every page must pass."""

import io
import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from PIL import Image
from playwright.async_api import Browser, Page

from contracts.demo import BOLA
from operations.journey import Marketplace, SignedInUser
from tests.console.browser import NARROW, WIDE, Visitor, wait_until
from tests.storefront.site import Site

TOKENS = "quad.tokens"
"""The storefront's name of the tokens in the browser's storage."""


class Shopper(Visitor):
    """A visitor with a phone."""

    async def check_page(self) -> None:
        """No error in the browser; on a phone and on a wide screen no serious fault of accessibility and no horizontal
        scroll.
        """
        for size in (WIDE, NARROW):
            await self.page.set_viewport_size(size)  # type: ignore[arg-type]
            await wait_until(self.page, f"innerWidth === {size['width']}")
            await self.check_accessibility()
            await self.check_width()


async def new_shopper(browser: Browser, site: Site, user: SignedInUser | None = None) -> Shopper:
    """Return a phone at the storefront, with the session of a user of the API."""
    context = await browser.new_context(viewport=NARROW, locale="en-GB", timezone_id="America/New_York")  # type: ignore[arg-type]
    page = await context.new_page()
    visitor = Shopper(context, page, site.origin)
    if user is not None:
        await keep_tokens(page, site.origin, user)
    return visitor


async def keep_tokens(page: Page, origin: str, user: SignedInUser) -> None:
    """Put the user's tokens into the storage of the storefront's tab."""
    # A page of the origin without the application, which would find no session.
    await page.goto(f"{origin}/manifest.webmanifest")
    tokens = json.dumps({"accessToken": user.access_token, "refreshToken": user.refresh_token})
    await page.evaluate("([name, text]) => sessionStorage.setItem(name, text)", [TOKENS, tokens])


def photo(red: int = 200) -> tuple[str, bytes, str]:
    """Return a photograph as its name, content and media type."""
    written = io.BytesIO()
    Image.new("RGB", (320, 240), (red, 120, 40)).save(written, "JPEG")
    return "photo.jpg", written.getvalue(), "image/jpeg"


async def fill_cart(
    market: Marketplace, buyer: SignedInUser, product_id: str, quantity: int = 1, variant_id: str | None = None
) -> dict[str, Any]:
    """Put a product, or one of its variants, into the buyer's cart by the API."""
    line = {"quantity": quantity, "variantId": variant_id}
    response = await market.http.put(f"/api/carts/current/items/{product_id}", json=line, headers=buyer.headers)
    assert response.status_code == 200, response.text
    cart: dict[str, Any] = response.json()["data"]
    return cart


async def paid_order(market: Marketplace, buyer: SignedInUser, product_id: str) -> dict[str, Any]:
    """Return an order of the buyer in escrow whose notifications are in the feed."""
    order = await market.checkout(buyer, product_id)
    await market.pay(await market.pay_intent(buyer, order["id"]))
    await market.order_reaches(buyer, order["id"], "paid_escrow")

    async def notified() -> bool | None:
        templates = {entry["template"] for entry in await market.get("/api/notifications", buyer)}
        return templates >= {"order_confirmation", "delivery_pin_ready"} or None

    await market.until("the notifications of the payment", notified, market.wait_seconds_max)
    return await market.order(buyer, order["id"])


@dataclass(frozen=True)
class Customer:
    """An account with something on every page. `paths`: the ids of its addresses; no test adds images to `shop`."""

    email: str
    paths: dict[str, str]


async def new_customer(market: Marketplace) -> Customer:
    """Sign up a student, buy a product and put it into the cart once more."""
    buyer = await market.sign_up(f"shop.{uuid4().hex}@unilag.edu.ng", "Tobi Alabi", "+2348031234567")
    product = (await market.products(q="jollof rice", inStock="true", limit=1))[0]
    order = await paid_order(market, buyer, product["id"])
    await fill_cart(market, buyer, product["id"])
    ids = {"product": product["id"], "vendor": product["vendorId"], "shop": str(BOLA.id), "order": order["id"]}
    return Customer(buyer.email, ids)


def order_id_in(url: str) -> str:
    """Return the order whose page has this address."""
    return str(UUID(url.split("?")[0].rsplit("/", 1)[1]))
