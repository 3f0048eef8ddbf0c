"""A duplicated tab of the storefront: both have the tokens of one session, whose refresh token works once."""

import asyncio
import json
from typing import Any

from playwright.async_api import Page, Route, expect

from operations.journey import SignedInUser
from tests.storefront.conftest import Arrival
from tests.storefront.shopper import TOKENS, Shopper


class Tabs:
    """The tabs of one browser. Access tokens that the test expired are 401 until a refresh, as after 15 minutes."""

    def __init__(self, shopper: Shopper, buyer: SignedInUser) -> None:
        self.shopper, self.buyer = shopper, buyer
        self.expired: set[str] = set()

    async def duplicated(self) -> tuple[Page, Page]:
        """Return the shopper's tab and a copy of it, with a copy of its session storage."""
        await self.shopper.context.route("**/api/**", self._respond)
        async with self.shopper.context.expect_page() as opened:
            await self.shopper.page.evaluate("void window.open(location.href)")
        copy = await opened.value
        for page in (self.shopper.page, copy):
            await self.is_signed_in(page)
        return self.shopper.page, copy

    async def is_signed_in(self, page: Page) -> None:
        await expect(page.get_by_text(self.buyer.email)).to_be_visible()

    async def expire_and_reload(self, *pages: Page) -> None:
        """Expire the access tokens of the tabs, and load their pages again, all at once."""
        for page in pages:
            stored = await page.evaluate("(name) => sessionStorage.getItem(name)", TOKENS)
            self.expired.add(f"Bearer {json.loads(stored)['accessToken']}")
        await asyncio.gather(*(page.reload() for page in pages))
        for page in pages:
            await self.is_signed_in(page)

    async def _respond(self, route: Route) -> None:
        headers = await route.request.all_headers()
        if route.request.url.endswith("/api/auth/refresh"):
            # Two access tokens of one second are equal.
            self.expired.clear()
        if headers.get("authorization") not in self.expired:
            await route.continue_()
            return
        problem: dict[str, Any] = {"type": "about:blank", "title": "x", "status": 401, "code": "AUTH_TOKEN_EXPIRED"}
        allowed = {"Access-Control-Allow-Origin": "*", "Content-Type": "application/problem+json"}
        await route.fulfill(status=401, headers=allowed, body=json.dumps(problem))


async def test_a_tab_that_was_idle_during_two_refreshes_of_its_copy_stays_signed_in(
    shopper: Arrival, buyer: SignedInUser
) -> None:
    tabs = Tabs(await shopper(buyer, path="/account"), buyer)
    first, copy = await tabs.duplicated()
    for _ in range(2):
        await tabs.expire_and_reload(first)
    await tabs.expire_and_reload(copy)
    await tabs.expire_and_reload(first)


async def test_two_tabs_refresh_at_once_and_stay_signed_in(shopper: Arrival, buyer: SignedInUser) -> None:
    tabs = Tabs(await shopper(buyer, path="/account"), buyer)
    first, copy = await tabs.duplicated()
    for _ in range(3):
        await tabs.expire_and_reload(first, copy)


async def test_a_tab_requests_the_refreshes_that_it_missed(shopper: Arrival, buyer: SignedInUser) -> None:
    tabs = Tabs(await shopper(buyer, path="/account"), buyer)
    first, copy = await tabs.duplicated()
    await copy.goto("about:blank")
    for _ in range(2):
        await tabs.expire_and_reload(first)
    await copy.go_back()
    await tabs.is_signed_in(copy)
    await tabs.is_signed_in(first)


async def test_a_sign_out_signs_the_copy_out(shopper: Arrival, buyer: SignedInUser) -> None:
    tabs = Tabs(await shopper(buyer, path="/account"), buyer)
    first, copy = await tabs.duplicated()
    await first.get_by_role("button", name="Sign out").click()
    await expect(copy.get_by_text(buyer.email)).to_be_hidden()
