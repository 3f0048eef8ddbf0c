"""Concurrent requests through the gateway: a few rounds of `make races`, which runs two hundred."""

import pytest

from campus_tools.launcher.system import System
from lab.soak.races import RACES, Cast, run_races
from operations.audit import findings_of
from operations.journey import Marketplace

from .conftest import Users

ROUNDS = 4


@pytest.fixture
def cast(users: Users) -> Cast:
    return Cast(users.buyer, users.vendor, users.checker, users.checker, users.auditor)


async def test_two_at_once_have_one_outcome_and_correct_ledgers(
    system: System, market: Marketplace, cast: Cast
) -> None:
    figures = await run_races(market, ROUNDS, lambda _: None, cast)
    assert [line.race for line in figures] == list(RACES)
    assert [line.wrong for line in figures] == [()] * len(RACES)
    assert [sum(line.outcomes.values()) for line in figures] == [ROUNDS] * len(RACES)
    assert await findings_of(system.secrets, market.sandbox) == []
