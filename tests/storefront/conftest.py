"""Buyers at the example storefront, built for the running system and served from another origin."""

from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Protocol
from uuid import uuid4

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from campus_tools.launcher.system import System
from operations.journey import Marketplace, SignedInUser
from tests.console.conftest import browser, market
from tests.end_to_end.responses import Responses
from tests.running_system import new_address, new_market
from tests.storefront.shopper import Customer, Shopper, new_customer, new_shopper
from tests.storefront.site import NODE_MISSING, Site, build_storefront, has_node, served

__all__ = ["browser", "market"]

# The system of the test is busy: nothing here is about time, so an expectation waits as long as a step of a page.
expect.set_options(timeout=30_000)


class Arrival(Protocol):
    """`await shopper(user)` is a browser in which the user is signed in; `shopper()` has not signed in."""

    def __call__(self, user: SignedInUser | None = None, *, path: str = "/") -> Awaitable[Shopper]: ...


@pytest.fixture(scope="session")
def node() -> None:
    """Skip a test on a machine without Node, before a system is started."""
    if not has_node():
        pytest.skip(NODE_MISSING)


@pytest.fixture(scope="session")
def site(node: None, system: System, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Yield the storefront on a port of its own."""
    folder = tmp_path_factory.mktemp("storefront")
    build_storefront(folder, system.base_url)
    with served(folder) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def shopper(site: Site, browser: Browser) -> AsyncIterator[Arrival]:
    """Browsers of this test. No page may report an error."""
    arrived: list[Shopper] = []

    async def arrive(user: SignedInUser | None = None, *, path: str = "/") -> Shopper:
        one = await new_shopper(browser, site, user)
        arrived.append(one)
        await one.open(path)
        return one

    yield arrive
    for one in arrived:
        await one.context.close()
    assert [error for one in arrived for error in one.errors] == []


@pytest_asyncio.fixture(loop_scope="session")
async def buyer(site: Site, market: Marketplace) -> SignedInUser:
    """Return a new student with an empty cart."""
    market.http.headers["X-Forwarded-For"] = new_address()
    return await market.sign_up(f"shop.{uuid4().hex}@unilag.edu.ng", "Tobi Alabi", f"+234803{uuid4().int % 10**7:07d}")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def customer(site: Site, system: System, responses: Responses) -> AsyncIterator[Customer]:
    """Yield a student with a paid order and a cart, the same for all tests of a file that only look at pages."""
    market = new_market(system, responses)
    try:
        yield await new_customer(market)
    finally:
        await market.close()


@pytest_asyncio.fixture(loop_scope="session")
async def vendor(site: Site, market: Marketplace) -> SignedInUser:
    """Return the seller of the products that the tests buy."""
    return await market.sign_in("vendor@unilag.edu.ng")
