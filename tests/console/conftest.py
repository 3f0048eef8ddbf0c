"""Browsers at the running system: one for each person of a test."""

import time
from collections.abc import AsyncIterator, Awaitable
from typing import Protocol

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from campus_tools.launcher.system import System
from operations.journey import Marketplace, SignedInUser
from tests.browsers import running_browser
from tests.console.browser import Visitor, adopt_session, new_visitor
from tests.end_to_end.responses import Responses
from tests.running_system import FRESH_SECONDS, Users, everybody, new_market


class Arrival(Protocol):
    """`await visitor("support")` is a browser in which support is signed in (a name of `Users`); `visitor()` has not
    signed in. A browser that the test changes for good is not `shared` with other tests.
    """

    def __call__(
        self, role: str | SignedInUser = "", *, javascript: bool = True, shared: bool = True
    ) -> Awaitable[Visitor]: ...


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def market(system: System, responses: Responses) -> AsyncIterator[Marketplace]:
    market = new_market(system, responses)
    yield market
    await market.close()


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def _fresh_tokens(users: Users, system: System, responses: Responses) -> None:
    """Renew tokens: one lives for 15 minutes, and so does the second step of a sign-in."""
    if time.monotonic() - users.since > FRESH_SECONDS:
        vars(users).update(vars(await everybody(system, responses)))


@pytest.fixture(scope="session")
def free_visitors() -> list[Visitor]:
    """Return browsers that earlier tests used: in a new one every script is compiled again."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(
    system: System, browser: Browser, users: Users, market: Marketplace, free_visitors: list[Visitor]
) -> AsyncIterator[Arrival]:
    """Browsers of this test. No page may report an error."""
    arrived: dict[Visitor, bool] = {}

    async def arrive(role: str | SignedInUser = "", *, javascript: bool = True, shared: bool = True) -> Visitor:
        is_kept = shared and javascript
        if is_kept and free_visitors:
            one = free_visitors.pop()
        else:
            one = await new_visitor(browser, system.console_url, javascript=javascript)
        arrived[one] = is_kept
        if role:
            user: SignedInUser = getattr(users, role) if isinstance(role, str) else role
            await adopt_session(one, user, system.secrets)
        return one

    yield arrive
    errors = [error for one in arrived for error in one.errors]
    for one, is_kept in arrived.items():
        if is_kept and not errors:
            await one.forget()
            free_visitors.append(one)
        else:
            await one.context.close()
    assert errors == []
