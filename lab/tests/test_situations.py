"""The situations that the seeds of a simulation must reach."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from common.primitives.lifecycles import Lifecycle, Rejection, Rule
from lab.simulation.situations import (
    EXPECTED,
    explained,
    reaching_tests,
    record_meanwhile,
    situations_report,
    unreachable,
)
from lab.stepped.reached import REACHED, decision_names, observe_decisions
from testkit.state_changes import StateChange

ROOT = Path(__file__).parents[2]
LAMP = Lifecycle(
    "Lamp",
    "A lamp.",
    ("off", "on", "broken"),
    {
        "switch_on": Rule({"off": "on"}, repeated={"on"}, by="anyone"),
        "fade": Rule({"on": "off"}, stale={"off"}, by="time"),
    },
)


@pytest.fixture(autouse=True)
def _nothing_reached() -> Iterator[None]:
    before = set(REACHED)
    REACHED.clear()
    yield
    REACHED.clear()
    REACHED.update(before)


def change(second: int, table: str, after: str, *, subject: str = "order 1", row: str = "") -> StateChange:
    return StateChange(
        datetime(2031, 1, 1, tzinfo=UTC) + timedelta(seconds=second), table, row or table, subject, None, after
    )


def test_decisions_are_recorded_with_their_outcome() -> None:
    observe_decisions([LAMP])
    assert LAMP.next_state("off", "switch_on") == "on"
    assert LAMP.next_state("broken", "switch_on") is Rejection.FORBIDDEN
    assert not LAMP.allows("off", "fade")
    assert {"Lamp: switch_on in off", "Lamp: switch_on is forbidden", "Lamp: fade is stale in off"} == REACHED
    assert decision_names(LAMP) >= REACHED


def test_observed_lifecycles_keep_their_transitions() -> None:
    observe_decisions([LAMP])
    assert LAMP.transitions == {("off", "on"), ("on", "off")}
    assert LAMP.states_before("switch_on") == ("off",)


def test_a_change_meets_the_states_of_the_other_rows_of_its_order() -> None:
    record_meanwhile(
        [
            change(3, "chargebacks", "opened"),
            change(1, "refunds", "pending"),
            change(2, "refunds", "submitted"),
            change(2, "refunds", "failed", subject="order 2"),
        ]
    )
    assert "chargeback opened while refund submitted" in REACHED
    assert not {"chargeback opened while refund pending", "chargeback opened while refund failed"} & REACHED


def test_the_report_counts_the_situations_that_nothing_reaches() -> None:
    untested = EXPECTED - explained() - reaching_tests().keys()
    REACHED.update(sorted(untested)[1:])
    assert situations_report()[0].endswith(
        "\n1 of the expected situations are reached by no story, no seed and no test"
    )
    REACHED.update(untested)
    assert situations_report()[0].endswith("\nevery expected situation is reached by a story, a seed or a test")


def test_at_least_150_situations_are_expected() -> None:
    assert len(EXPECTED - explained()) >= 150


def test_a_test_reaches_each_situation_that_only_tests_reach() -> None:
    assert not explained("in_tests") - explained("excluded") - reaching_tests().keys()


def test_no_test_with_a_database_reaches_an_excluded_situation() -> None:
    reached = {name for name, test in reaching_tests().items() if "/unit/" not in test}
    assert not explained("excluded") & reached


def test_the_tests_that_reach_situations_exist() -> None:
    reasons = " ".join(reason for several in unreachable().values() for reason in several)
    for test in {*reaching_tests().values(), *re.findall(r"services/\S+::\w+", reasons)}:
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), test


def test_every_explanation_is_of_an_expected_situation() -> None:
    patterns = [pattern for reasons in unreachable().values() for several in reasons.values() for pattern in several]
    assert not [one for one in patterns if not any(fnmatchcase(name, one) for name in EXPECTED)]


def test_the_report_names_what_was_never_reached() -> None:
    left = EXPECTED - explained()
    missing = min(left)
    REACHED.update(left - {missing})
    line, wrong = situations_report()
    assert f"{len(left) - 1} of {len(left)} reached" in line
    assert f"never: {missing} (" in line
    assert not wrong


def test_the_report_names_what_an_explanation_excludes_wrongly() -> None:
    name = min(explained())
    REACHED.add(name)
    assert situations_report()[1] == [name]
