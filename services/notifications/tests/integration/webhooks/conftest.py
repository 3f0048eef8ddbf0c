"""Fixtures: a receiver of webhooks, and a scenario whose endpoints may be on this machine."""

from collections.abc import AsyncIterator

import pytest_asyncio

from ..conftest import OpenScenario, Scenario
from .webhook_receiver import Receiver, receiving


@pytest_asyncio.fixture(loop_scope="session")
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario) -> AsyncIterator[Scenario]:
    async with open_scenario(webhook_allow_loopback=True) as opened_scenario:
        await opened_scenario.project_users()
        await opened_scenario.project_order()
        yield opened_scenario
