"""Clients of the running system, each with an address of its own."""

import time
from collections.abc import AsyncIterator

import pytest_asyncio

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from tests.end_to_end.responses import Responses
from tests.running_system import FRESH_SECONDS, SETTINGS, Users, everybody, new_address, new_market

__all__ = ["SETTINGS", "Users", "new_address"]


@pytest_asyncio.fixture(loop_scope="session")
async def market(system: System, responses: Responses) -> AsyncIterator[Marketplace]:
    """Yield a client with an address of its own."""
    market = new_market(system, responses)
    yield market
    await market.close()


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def _fresh_tokens(users: Users, system: System, responses: Responses) -> None:
    """Renew tokens: one is valid for 15 minutes, and so is the second step of a sign-in."""
    if time.monotonic() - users.since > FRESH_SECONDS:
        vars(users).update(vars(await everybody(system, responses)))
