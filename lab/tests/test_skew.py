"""The versions of a skew drill, and its scenarios that continue over a change of versions."""

from collections.abc import AsyncIterator
from typing import cast

import pytest

from lab.drills.doubled import doubled
from lab.drills.skew import SkewedScenarios, choices_of_version
from operations.processes import CAMPUS

PROCESSES = [plan for plan in doubled(CAMPUS).processes if plan.service != "sandbox"]


def test_api_and_worker_run_in_both_combinations_of_versions() -> None:
    first, second, *_ = [choice for _, choice in choices_of_version(1)]
    assert {plan.name for plan in PROCESSES if first(plan)} == {
        plan.name for plan in PROCESSES if plan.name.endswith("-worker")
    }
    assert all(first(plan) is not second(plan) for plan in PROCESSES)


def test_a_seed_gives_each_process_the_same_version_again() -> None:
    chosen = [[choice(plan) for plan in PROCESSES for _, choice in choices_of_version(7)] for _ in range(2)]
    assert chosen[0] == chosen[1]
    seeded = [choice for _, choice in choices_of_version(7)][2]
    assert {seeded(plan) for plan in PROCESSES} == {True, False}


def test_the_new_version_runs_alone_at_the_end() -> None:
    *_, (_, last) = choices_of_version(1)
    assert all(last(plan) for plan in PROCESSES)


async def test_a_scenario_continues_once_for_each_change_of_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[str] = []

    async def renew(_: SkewedScenarios) -> None:
        walked.append("renewed")

    async def steps(name: str, *, fails: bool) -> AsyncIterator[None]:
        walked.append(f"{name} 1")
        yield
        if fails:
            raise TimeoutError("order did not arrive")
        walked.append(f"{name} 2")

    monkeypatch.setattr(SkewedScenarios, "_renew", renew)
    scenarios = SkewedScenarios(*[cast("object", None)] * 6)  # type: ignore[arg-type]
    scenarios._running = [("payout", steps("payout", fails=False)), ("refund", steps("refund", fails=True))]
    await scenarios._continue("old APIs, new workers")
    assert walked == ["renewed", "payout 1", "refund 1"]
    await scenarios._continue("new APIs, old workers")
    assert (walked, scenarios.ended) == (
        ["renewed", "payout 1", "refund 1", "renewed", "payout 2"],
        ["payout"],
    )
    assert scenarios.failures == ["refund, failed on new APIs, old workers: TimeoutError order did not arrive"]
