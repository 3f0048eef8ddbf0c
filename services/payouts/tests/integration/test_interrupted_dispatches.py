"""A dispatch killed at any commit or call pays once."""

import httpx
import pytest

from testkit.sandbox import Sandbox

from .conftest import Scenario
from .dispatch_steps import (
    MortalDatabase,
    MortalTransport,
    assert_paid_once,
    dispatch_until_death,
    gateways_over,
    recover_in_another_process,
)


@pytest.mark.parametrize("commits", range(6))
async def test_a_dispatch_killed_between_two_commits_pays_once(
    scenario: Scenario, immediate: Sandbox, commits: int
) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    mortal = MortalDatabase(scenario.database, commits)
    lived = await dispatch_until_death(scenario, database=mortal)
    # find, plan with its attempts, unsent, submitting, record, finish: six commits, and a death before each.
    assert not lived
    await recover_in_another_process(scenario, "a new key" if commits % 2 else "the same key")
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("calls", range(3))
async def test_a_dispatch_killed_around_a_gateway_call_pays_once(
    scenario: Scenario, immediate: Sandbox, calls: int, after: bool
) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    async with httpx.AsyncHTTPTransport() as inner:
        gateways = gateways_over(scenario, MortalTransport(inner, calls, after=after))
        # balance, recipient, transfer.
        assert not await dispatch_until_death(scenario, gateways=gateways)
    await recover_in_another_process(scenario, "the same key" if after else "a new key")
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


async def test_a_dispatch_has_no_more_commits_than_the_kills_cover(scenario: Scenario, immediate: Sandbox) -> None:
    vendor = await scenario.ready_vendor(10_000)
    await scenario.payout(vendor, 1_000)
    mortal = MortalDatabase(scenario.database, 6)
    assert await dispatch_until_death(scenario, database=mortal)
    assert mortal.lives == 0
