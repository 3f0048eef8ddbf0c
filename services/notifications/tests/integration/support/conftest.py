"""Fixtures: the service with the messaging app."""

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from ..conftest import OpenScenario, Scenario


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario, messaging_settings: dict[str, Any]) -> AsyncIterator[Scenario]:
    async with open_scenario(**messaging_settings) as scenario:
        yield scenario


@pytest_asyncio.fixture(loop_scope="session")
async def known_order(scenario: Scenario) -> None:
    """Project the users and one order."""
    await scenario.project_users()
    await scenario.project_order()
