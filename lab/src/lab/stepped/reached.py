"""The situations that the product and the simulated world reached in this program, by name."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from common.primitives.lifecycles import Lifecycle, Rejection

REACHED: Final[set[str]] = set()


class _ObservedStates(dict[str, str]):
    """The next states of a rule, which report each state that is looked up."""

    def __init__(self, states: dict[str, str], on_state: Callable[[str], None]) -> None:
        super().__init__(states)
        self._on_state = on_state

    def __contains__(self, state: object) -> bool:
        self._on_state(str(state))
        return super().__contains__(state)

    def __getitem__(self, state: str) -> str:
        self._on_state(state)
        return super().__getitem__(state)


def observe_decisions(lifecycles: Iterable[Lifecycle[Any, Any]]) -> None:
    """Record the decisions of these lifecycles from now on: all of `Lifecycle` look up `Rule.to` first."""
    for lifecycle in lifecycles:
        for trigger, rule in lifecycle.rules.items():
            names = {state: decision_name(lifecycle, trigger, state) for state in lifecycle.states}
            states = _ObservedStates(dict(rule.to), lambda state, names=names: REACHED.add(names[state]))  # type: ignore[misc]
            object.__setattr__(rule, "to", states)


def decision_name(lifecycle: Lifecycle[Any, Any], trigger: str, state: str) -> str:
    """Return the situation of a trigger in a state. All states that forbid a trigger are one situation."""
    rule = lifecycle.rules[trigger]
    if dict.__contains__(dict(rule.to), state):
        return f"{lifecycle.name}: {trigger} in {state}"
    rejection = Rejection.REPEATED if state in rule.repeated else Rejection.STALE if state in rule.stale else None
    return f"{lifecycle.name}: {trigger} is " + (f"{rejection.value} in {state}" if rejection else "forbidden")


def decision_names(lifecycle: Lifecycle[Any, Any]) -> set[str]:
    """Return the situations of all triggers in all states."""
    return {decision_name(lifecycle, trigger, state) for trigger in lifecycle.rules for state in lifecycle.states}
