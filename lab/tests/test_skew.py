"""The versions of a skew drill, and its scenarios that continue over a change of versions."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import cast
from unittest.mock import AsyncMock

import pytest

from lab.drills.doubled import doubled
from lab.drills.skew import SkewedScenarios, Versions, choices_of_version
from lab.drills.upgrade import _skew
from lab.report import Report
from operations.processes import CAMPUS

PROCESSES = [plan for plan in doubled(CAMPUS).processes if plan.service != "sandbox"]


def test_api_and_worker_run_in_both_combinations_of_versions() -> None:
    first, second, *_ = [versions.is_new for versions in choices_of_version([1])]
    assert {plan.name for plan in PROCESSES if first(plan)} == {
        plan.name for plan in PROCESSES if plan.name.endswith("-worker")
    }
    assert all(first(plan) is not second(plan) for plan in PROCESSES)


def test_a_seed_gives_each_process_the_same_version_again() -> None:
    chosen = [[versions.is_new(plan) for plan in PROCESSES for versions in choices_of_version([7])] for _ in range(2)]
    assert chosen[0] == chosen[1]


def test_each_seed_gives_processes_of_both_versions() -> None:
    seeded = [versions for versions in choices_of_version(range(1, 11)) if versions.seed is not None]
    assert [versions.seed for versions in seeded] == list(range(1, 11))
    drawn = [tuple(map(versions.is_new, PROCESSES)) for versions in seeded]
    assert len(set(drawn)) == 10
    assert all(set(versions) == {True, False} for versions in drawn)


def test_the_new_version_runs_alone_at_the_end() -> None:
    *_, last = choices_of_version([1])
    assert all(map(last.is_new, PROCESSES))


@pytest.fixture
def renewed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    async def renew(_: SkewedScenarios) -> None:
        walked.append("renewed")

    walked: list[str] = []
    monkeypatch.setattr(SkewedScenarios, "_renew", renew)
    return walked


def scenarios_of(walked: list[str]) -> SkewedScenarios:
    """Return scenarios without a system: a payout of three steps, and a refund that fails at its second."""

    async def steps(name: str, *, fails: bool) -> AsyncIterator[None]:
        walked.append(f"{name} 1")
        yield
        if fails:
            raise TimeoutError("order did not arrive")
        walked.append(f"{name} 2")

    scenarios = SkewedScenarios(*[cast("object", None)] * 6)  # type: ignore[arg-type]
    scenarios._running = [("payout", steps("payout", fails=False)), ("refund", steps("refund", fails=True))]
    return scenarios


async def test_a_scenario_continues_once_for_each_change_of_versions(renewed: list[str]) -> None:
    scenarios = scenarios_of(renewed)
    await scenarios._continue("old APIs, new workers", scenarios._running)
    assert renewed == ["renewed", "payout 1", "refund 1"]
    await scenarios._continue("new APIs, old workers", scenarios._running)
    assert (renewed, scenarios.ended) == (
        ["renewed", "payout 1", "refund 1", "renewed", "payout 2"],
        ["payout"],
    )
    assert scenarios.failures == ["refund, failed on new APIs, old workers: TimeoutError order did not arrive"]


async def test_seeds_start_all_kinds_of_scenarios_and_pause_some(
    renewed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def endless(name: str) -> AsyncIterator[None]:
        while True:
            walked[name] += 1
            yield

    def start(scenarios: SkewedScenarios) -> Mapping[str, Callable[[], AsyncIterator[None]]]:
        return {name: partial(endless, name) for name in names}

    scenarios, walked, names = scenarios_of(renewed), Counter[str](), "abcdefg"
    monkeypatch.setattr(SkewedScenarios, "_scenarios", property(start))
    scenarios._running = []
    for versions in [versions for versions in choices_of_version(range(1, 11)) if versions.seed is not None]:
        await scenarios.advance(versions)
    assert set(walked) == set(names)
    assert len(scenarios._running) == 30
    # Each of three scenarios of the first seed would continue ten times, those of the last one once.
    assert 30 < walked.total() < 3 * sum(range(1, 11))


async def test_a_combination_without_a_seed_starts_one_of_each_kind(
    renewed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def steps(name: str) -> AsyncIterator[None]:
        renewed.append(name)
        yield

    monkeypatch.setattr(
        SkewedScenarios, "_scenarios", property(lambda _: {name: partial(steps, name) for name in "abc"})
    )
    scenarios = scenarios_of(renewed)
    scenarios._running = []
    await scenarios.advance(Versions("old APIs, new workers", lambda _: True))
    assert renewed == ["renewed", "a", "b", "c"]


async def test_the_audit_after_all_combinations_has_the_variables_of_the_new_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its program is of the new version, and imports modules that the old one has not."""

    async def advance(versions: Versions) -> None:
        advanced.append(versions.name)

    async def opened(*_: object) -> SkewedScenarios:
        return cast("SkewedScenarios", SimpleNamespace(advance=advance, finish=AsyncMock()))

    advanced: list[str] = []
    monkeypatch.setattr(SkewedScenarios, "open", opened)
    configured: list[Mapping[str, str]] = []
    system, new, old = SimpleNamespace(configure=configured.append), {"PYTHONPATH": ""}, {"PYTHONPATH": "old"}
    replaced = SimpleNamespace(system=system, roll=AsyncMock(return_value=[]))
    await _skew([1], new, old, replaced, None, Report(), print)  # type: ignore[arg-type]
    assert (advanced[0], advanced[-1]) == ("the old version", "the new version")
    assert old in configured
    assert configured[-1] == new
