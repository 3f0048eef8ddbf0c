"""Search an order of events that explains what clients saw of an order, by the lifecycle that the service decides with.

All possible states are kept at once (Wing and Gong, just in time): a request takes effect at some moment between its
invocation and its completion. Events of payments, timers and staff are not in the history, and may happen at any
moment.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from common.primitives.lifecycles import Rejection
from lab.histories.reading import ABSENT, FinalOrder, Operation
from orders.domain.transitions import ORDER, STATES, State, Trigger

COMMANDS: Final[Mapping[str, tuple[Trigger, ...]]] = {
    "cancel": ("buyer_cancels", "vendor_cancels", "staff_cancels"),
    "dispatch": ("vendor_dispatches",),
    "verify-delivery": ("pin_accepted",),
    "dispute": ("buyer_disputes",),
}
_RECORDED: Final = frozenset(trigger for triggers in COMMANDS.values() for trigger in triggers)
_NEXT: Final[Mapping[str, frozenset[str]]] = {
    state: frozenset(
        rule.to[state] for trigger, rule in ORDER.rules.items() if trigger not in _RECORDED and state in rule.to
    )
    for state in STATES
} | {ABSENT: frozenset()}


class _World(NamedTuple):
    """A possible state, and the operations that took effect and are not complete."""

    state: str
    done: frozenset[int]


@dataclass(frozen=True, slots=True)
class Observation:
    """A read of the order's state, or a command. `seen`: the state in its response; None when it is not known."""

    operation: Operation
    command: str | None
    seen: str | None

    def states_after(self, state: str) -> Iterable[str]:
        if self.command is None:
            return
        if self.command == "checkout":
            if state == ABSENT:
                yield "Processing"
            return
        for trigger in COMMANDS[self.command]:
            after = _after(state, trigger)
            if after is not None and self.seen in (None, after):
                yield after


def _after(state: str, trigger: Trigger) -> str | None:
    """Return the state after a successful command; None for one that is rejected."""
    known: State | None = next((one for one in STATES if one == state), None)
    after = Rejection.FORBIDDEN if known is None else ORDER.next_state(known, trigger)
    if isinstance(after, Rejection):
        return state if after is Rejection.REPEATED else None
    return after


def contradiction_of(
    order_id: str, observations: Sequence[Observation], final: FinalOrder | None, *, is_whole: bool
) -> str | None:
    """Return a sentence about the first observation that no order of events explains; None when all are explained."""
    is_created = any(one.command == "checkout" for one in observations)
    worlds = {_World(ABSENT, frozenset())} if is_created else {_World(state, frozenset()) for state in STATES}
    pending: dict[int, Observation] = {}
    shown: Observation | None = None
    for _, is_completion, number in _moments(observations):
        one = observations[number]
        if not is_completion:
            pending[number] = one
            continue
        worlds = {
            world._replace(done=world.done - {number}) for world in _reachable(worlds, pending) if number in world.done
        }
        del pending[number]
        if not worlds:
            return _sentence(order_id, one, shown, final)
        if one.seen is not None:
            shown = one
    if not is_whole or (final is None and not is_created):
        return None
    status = ABSENT if final is None else final.status
    if status in {world.state for world in _reachable(worlds, pending)}:
        return None
    before = "" if shown is None else f", although {shown.operation} returned `{shown.seen}`"
    return f"lost acknowledged write: order {order_id} is {status} at the end{before}"


def _moments(observations: Sequence[Observation]) -> list[tuple[float, bool, int]]:
    """Return invocations and completions in the sequence of their lines."""
    moments: list[tuple[float, bool, int]] = []
    for number, one in enumerate(observations):
        moments.append((one.operation.invoked, False, number))
        if one.operation.type != "info":
            moments.append((one.operation.completed, True, number))
    return sorted(moments)


def _reachable(worlds: Iterable[_World], pending: Mapping[int, Observation]) -> set[_World]:
    """Return all worlds after any events and any pending operations. A read takes effect wherever its state appears."""
    reads: dict[str, set[int]] = {}
    for number, one in pending.items():
        if one.command is None and one.seen is not None:
            reads.setdefault(one.seen, set()).add(number)

    def world_of(state: str, done: frozenset[int]) -> _World:
        return _World(state, done | reads.get(state, set()))

    left = [world_of(*world) for world in worlds]
    found = set(left)
    while left:
        state, done = left.pop()
        after = [world_of(each, done) for each in _NEXT[state]]
        for number, one in pending.items():
            if number not in done:
                after += [world_of(each, done | {number}) for each in one.states_after(state)]
        new = set(after) - found
        found |= new
        left += new
    return found


def _sentence(order_id: str, one: Observation, shown: Observation | None, final: FinalOrder | None) -> str:
    before = "before" if shown is None else f"after {shown.operation} had returned `{shown.seen}`"
    if one.command is not None:
        seen = "" if one.seen is None else f" as `{one.seen}`"
        return (
            f"lost update: {one.operation} was acknowledged{seen} {before}; no order of events of {order_id} has both"
        )
    kind = "lost acknowledged write" if final is None or final.status == one.seen else "stale read"
    return f"{kind}: {one.operation} read `{one.seen}` {before}"
