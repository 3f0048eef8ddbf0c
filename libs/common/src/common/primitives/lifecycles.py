"""Lifecycles: the states of a resource, and for each trigger the rule that decides the next one."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

StateT = TypeVar("StateT", bound=str)
TriggerT = TypeVar("TriggerT", bound=str)


class Rejection(Enum):
    """Why a trigger changes no state.

    `REPEATED` is a success without effect. `STALE` is a late report, which is ignored and counted. `FORBIDDEN` is a
    command that the state does not allow, or a report that contradicts it.
    """

    REPEATED = "repeated"
    STALE = "stale"
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True)
class Rule(Generic[StateT]):
    """One trigger: the next state by state, where it is repeated or stale, and who causes it."""

    to: Mapping[StateT, StateT] = field(default_factory=dict)
    repeated: Set[StateT] = frozenset()
    stale: Set[StateT] = frozenset()
    by: str = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class Lifecycle(Generic[StateT, TriggerT]):
    """All states of a resource, in the order of a usual course, and the rules that decide between them.

    Raises ValueError for a rule that names another state, or one state twice. A state that a rule does not name forbids
    its trigger.
    """

    name: str
    meaning: str
    states: tuple[StateT, ...]
    rules: Mapping[TriggerT, Rule[StateT]]

    def __post_init__(self) -> None:
        for trigger, rule in self.rules.items():
            named = [*rule.to, *rule.repeated, *rule.stale]
            if len(named) != len(set(named)) or not {*named, *rule.to.values()} <= set(self.states):
                raise ValueError(f"{self.name}: the rule of {trigger} names a state twice, or an unknown one")

    def next_state(self, state: StateT, trigger: TriggerT) -> StateT | Rejection:
        """Return the next state, which may equal `state`, or the reason for no transition."""
        rule = self.rules[trigger]
        if state in rule.to:
            return rule.to[state]
        if state in rule.repeated:
            return Rejection.REPEATED
        return Rejection.STALE if state in rule.stale else Rejection.FORBIDDEN

    @property
    def transitions(self) -> set[tuple[StateT, StateT]]:
        """Return all pairs of a state and a next state."""
        return {pair for rule in self.rules.values() for pair in rule.to.items()}

    def allows(self, state: StateT, trigger: TriggerT) -> bool:
        """Return whether the trigger has a next state."""
        return state in self.rules[trigger].to

    def states_before(self, *triggers: TriggerT) -> tuple[StateT, ...]:
        """Return the states that one of the triggers leaves, in their order."""
        left = {state for trigger in triggers for state in self.rules[trigger].to}
        return tuple(state for state in self.states if state in left)
