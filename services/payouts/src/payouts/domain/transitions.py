"""The one table of transitions of a transfer (contract section 8): state and event give the next state, or a rejection.

The service raises some events itself, from `claimed` to `withdrawn`. The gateway reports the others, by webhook, in the response to
a call, or in the response to a query. Three rejections differ: `REPEATED` is a success without effect, `STALE` is an event that
arrived too late, `CONTRADICTION` disagrees with an earlier report or with the payout: staff decide. The table lists no contradictions: they
are all that it does not list.

A transfer has two states. Its status is the row's; the service's own events apply to it. Its effective status is that of the last
effective report; reports apply to it. A transfer without an effective report has one of `OWN_STATES`.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, get_args

State = Literal[
    "reserved",
    "submitting",
    "unknown",
    "pending",
    "received",
    "otp",
    "success",
    "failed",
    "rejected",
    "blocked",
    "abandoned",
    "reversed",
]

Event = Literal[
    # The service's own.
    "claimed",
    "submission_started",
    "held",
    "call_unanswered",
    "queried",
    "withdrawn",
    # Reports of a transfer under way.
    "pending",
    "received",
    "otp",
    # Reports of a success, by what is known of its payout. `success_confirmed` is the gateway's response to a query.
    "success",
    "success_confirmed",
    "success_of_processed",
    "success_after_reversal",
    "success_after_restitution",
    "success_of_recovered",
    # Reports of a transfer that paid nothing, or whose money was returned.
    "failed",
    "rejected",
    "blocked",
    "abandoned",
    "reversed",
    # A report over another amount or in another currency.
    "mismatch",
]

# How a report of the gateway is recorded (`transfer_observations.verdict`).
Verdict = Literal["advanced", "confirmed", "late_success", "repeated", "stale", "contradiction"]

# What the gateway reports: each is an event, and the state after it.
Report = Literal["pending", "received", "otp", "success", "failed", "rejected", "blocked", "abandoned", "reversed"]

STATES: Final[tuple[State, ...]] = get_args(State)
EVENTS: Final[tuple[Event, ...]] = get_args(Event)
REPORTS: Final[tuple[Report, ...]] = get_args(Report)

# Before the gateway has reported anything.
OWN_STATES: Final[tuple[State, ...]] = ("reserved", "submitting", "unknown")
# The gateway has accepted the transfer and has not reported its end.
UNDER_WAY: Final[tuple[State, ...]] = ("pending", "received", "otp")
# The transfer ended and paid nothing.
FAILURES: Final[tuple[State, ...]] = ("failed", "rejected", "blocked", "abandoned")
# The whole amount was not sent, or was returned.
FAILED_OR_REVERSED: Final[tuple[State, ...]] = (*FAILURES, "reversed")
# The money may have been sent, or may still be sent, by a transfer in one of these.
MAY_STILL_PAY: Final[tuple[State, ...]] = ("submitting", "unknown", *UNDER_WAY)


class Rejection(Enum):
    """Why an event does not change a transfer's state."""

    REPEATED = "repeated"
    STALE = "stale"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class Row:
    """One event: the next state by state, where it repeats itself, where it is stale, and any verdict other than `advanced`."""

    to: Mapping[State, State] = field(default_factory=dict)
    repeated: Set[State] = frozenset()
    stale: Set[State] = frozenset()
    verdicts: Mapping[State, Verdict] = field(default_factory=dict)


def _all_but(*states: State) -> frozenset[State]:
    return frozenset(STATES) - frozenset(states)


def _under_way(status: State) -> Row:
    """Progress among the states under way, in any order; stale after the end."""
    before = {state: status for state in (*OWN_STATES, *UNDER_WAY) if state != status}
    return Row(before, repeated={status}, stale=_all_but(status, *before))


def _failure(status: State) -> Row:
    """The first end counts: another one of the same rank contradicts it, and a reversal has overtaken it."""
    return Row(dict.fromkeys((*OWN_STATES, *UNDER_WAY), status), repeated={status}, stale={"reversed"})


# A success after the reversal of the same transfer completes the payout. The effective status stays, and so does the exception.
_LATE: Final[Mapping[State, Verdict]] = {"reversed": "late_success"}
_FIRST_SUCCESS: Final[Mapping[State, State]] = {
    **dict.fromkeys((*OWN_STATES, *UNDER_WAY), "success"),
    "reversed": "reversed",
}

TRANSITIONS: Final[Mapping[Event, Row]] = {
    # After a lease that expired during a submission it is unknown whether the call was made.
    "claimed": Row({state: "unknown" if state == "submitting" else state for state in STATES}),
    "submission_started": Row(
        {"reserved": "submitting", "unknown": "submitting"}, stale=_all_but("reserved", "unknown")
    ),
    # The attempt was never sent. It keeps its reference and loses its lease.
    "held": Row({"reserved": "reserved"}, stale=_all_but("reserved")),
    "call_unanswered": Row({"submitting": "unknown"}, stale=_all_but("submitting")),
    # Not while a dispatcher submits the attempt: the end of its lease brings the attempt back.
    "queried": Row(
        {state: state for state in STATES if state not in ("reserved", "submitting")}, stale={"reserved", "submitting"}
    ),
    "withdrawn": Row({"reserved": "failed"}, stale=_all_but("reserved")),
    "pending": _under_way("pending"),
    "received": _under_way("received"),
    "otp": _under_way("otp"),
    "success": Row(_FIRST_SUCCESS, repeated={"success"}, verdicts=_LATE),
    "success_confirmed": Row(
        {**_FIRST_SUCCESS, **dict.fromkeys(FAILURES, "success")},
        repeated={"success"},
        verdicts={**_LATE, **dict.fromkeys(FAILURES, "confirmed")},
    ),
    # In any other state another attempt of the payout has arrived: the money has left twice, or is about to.
    "success_of_processed": Row(repeated={"success", "reversed"}),
    # A four-eyes decision has returned the amount after the reversal.
    "success_after_reversal": Row(repeated={"success"}),
    # The amount is in the wallet again: the payout must not be paid a second time before staff have decided (section 14.4).
    "success_after_restitution": Row(),
    # Two people have recorded it as paid, in addition to the payout's own amount.
    "success_of_recovered": Row(repeated=frozenset(STATES)),
    "failed": _failure("failed"),
    "rejected": _failure("rejected"),
    "blocked": _failure("blocked"),
    "abandoned": _failure("abandoned"),
    "reversed": Row(dict.fromkeys(_all_but("reversed"), "reversed"), repeated={"reversed"}),
    "mismatch": Row(),
}


def next_state(state: State, event: Event) -> State | Rejection:
    """The state after the event, which may be the same one, or why the event is rejected."""
    row = TRANSITIONS[event]
    if state in row.to:
        return row.to[state]
    if state in row.repeated:
        return Rejection.REPEATED
    return Rejection.STALE if state in row.stale else Rejection.CONTRADICTION


def is_allowed(state: State, event: Event) -> bool:
    """Whether the event has a next state."""
    return state in TRANSITIONS[event].to


def verdict_of(state: State, event: Event) -> Verdict:
    """How a report of the gateway is recorded."""
    outcome = next_state(state, event)
    if isinstance(outcome, Rejection):
        return outcome.value
    return TRANSITIONS[event].verdicts.get(state, "advanced")
