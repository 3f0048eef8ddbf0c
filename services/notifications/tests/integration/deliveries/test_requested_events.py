"""Outcomes of messages are published while a team in the list of subscribers names the type (decision 140)."""

from datetime import timedelta
from pathlib import Path

import pytest

from common.primitives.clock import ManualClock

from ..conftest import OpenScenario, Scenario

SETTLED = "notifications.delivery_settled.v1"
REQUESTED = f"demo:\n  topics: ['*']\nsearch:\n  topics: [{SETTLED}]\n"


def write(path: Path, clock: ManualClock, text: str) -> None:
    """Write the list, and let the time pass after which a process reads it again."""
    path.write_text(text)
    clock.advance(timedelta(seconds=15))


async def send_a_message(scenario: Scenario, *, issue: int) -> int:
    """Send a message to its end; return how many outcomes were published since the beginning."""
    await scenario.receive(scenario.pin("042917", issue=issue))
    await scenario.send_queued()
    return len(await scenario.published(SETTLED))


async def test_a_change_of_the_list_is_read_while_the_process_runs(
    scenario: Scenario, clock: ManualClock, subscribers: Path
) -> None:
    await scenario.project_users()
    write(subscribers, clock, "demo:\n  topics: ['*']\n")
    assert await send_a_message(scenario, issue=1) == 0
    write(subscribers, clock, REQUESTED)
    assert await send_a_message(scenario, issue=2) == 1
    # A file that is half written changes nothing.
    write(subscribers, clock, REQUESTED[:30])
    assert await send_a_message(scenario, issue=3) == 2
    write(subscribers, clock, "{}\n")
    assert await send_a_message(scenario, issue=4) == 2


@pytest.mark.parametrize("path", [None, "no/such/file.yaml"])
async def test_without_a_list_no_outcome_is_published(open_scenario: OpenScenario, path: str | None) -> None:
    async with open_scenario(subscribers_file=path) as scenario:
        await scenario.project_users()
        assert await send_a_message(scenario, issue=1) == 0
