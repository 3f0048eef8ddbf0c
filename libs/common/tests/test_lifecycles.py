"""A lifecycle decides by its rules: the next state, or why there is none."""

import pytest

from common.database.state_changes import allows_change, states_before
from common.primitives.lifecycles import Lifecycle, Rejection, Rule

LAMP = Lifecycle(
    "Lamp",
    "A lamp.",
    ("off", "on", "broken"),
    {
        "switch": Rule({"off": "on", "on": "off"}, by="a person"),
        "light": Rule({"off": "on"}, repeated={"on"}, stale={"broken"}, by="a timer"),
    },
)


@pytest.mark.parametrize(
    ("state", "trigger", "expected"),
    [
        ("off", "switch", "on"),
        ("off", "light", "on"),
        ("on", "light", Rejection.REPEATED),
        ("broken", "light", Rejection.STALE),
        ("broken", "switch", Rejection.FORBIDDEN),
    ],
)
def test_a_rule_gives_the_next_state_or_the_reason_for_none(state, trigger, expected) -> None:
    assert LAMP.next_state(state, trigger) == expected
    assert LAMP.allows(state, trigger) is not isinstance(expected, Rejection)


def test_the_states_before_triggers_are_listed_in_their_order() -> None:
    assert LAMP.states_before("light", "switch") == ("off", "on")
    assert states_before(LAMP, "light", "switch") == "('off', 'on')"
    assert allows_change(LAMP, "$2", column="l.state") == "(l.state, $2::text) IN (('off', 'on'), ('on', 'off'))"
    assert LAMP.transitions == {("off", "on"), ("on", "off")}


@pytest.mark.parametrize(
    "rule",
    [
        Rule({"off": "gone"}, by=""),
        Rule({"gone": "off"}, by=""),
        Rule({"off": "on"}, repeated={"off"}, by=""),
        Rule(repeated={"off"}, stale={"off"}, by=""),
    ],
)
def test_a_rule_with_an_unknown_state_or_one_named_twice_is_an_error(rule) -> None:
    with pytest.raises(ValueError, match="the rule of switch"):
        Lifecycle("Lamp", "A lamp.", ("off", "on"), {"switch": rule})
