"""The lifecycle of a transfer (contract section 8): state and event give the next state, or a rejection.

The service raises some events itself, from `claimed` to `withdrawn`. The gateway reports the others, by webhook, in the
response to a call, or in the response to a query. A forbidden report is a contradiction: it disagrees with an earlier
report or with the payout, and staff decide.

A transfer has two states. Its status is the row's; the service's own events apply to it. Its effective status is that
of the last effective report; reports apply to it. A transfer without an effective report has one of `OWN_STATES`.
"""

from collections.abc import Mapping
from typing import Final, Literal, get_args

from common.primitives.lifecycles import Lifecycle, Rejection, Rule

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


_SERVICE: Final = "payouts service"
_GATEWAY: Final = "payment gateway"


def _all_but(*states: State) -> frozenset[State]:
    return frozenset(STATES) - frozenset(states)


def _under_way(status: State) -> Rule[State]:
    """Progress among the states under way, in any order; stale after the end."""
    before = {state: status for state in (*OWN_STATES, *UNDER_WAY) if state != status}
    return Rule(before, repeated={status}, stale=_all_but(status, *before), by=_GATEWAY)


def _failure(status: State) -> Rule[State]:
    """Return the first end counts: another one of the same rank contradicts it, and a reversal has overtaken it."""
    ended = dict.fromkeys((*OWN_STATES, *UNDER_WAY), status)
    return Rule(ended, repeated={status}, stale={"reversed"}, by=_GATEWAY)


# A success after the reversal of the same transfer completes the payout. The effective status stays, and so does the
# exception.
_FIRST_SUCCESS: Final[Mapping[State, State]] = {
    **dict.fromkeys((*OWN_STATES, *UNDER_WAY), "success"),
    "reversed": "reversed",
}

_RULES: Final[dict[Event, Rule[State]]] = {
    # After a lease that expired during a submission it is unknown whether the call was made.
    "claimed": Rule({state: "unknown" if state == "submitting" else state for state in STATES}, by=_SERVICE),
    "submission_started": Rule(
        {"reserved": "submitting", "unknown": "submitting"}, stale=_all_but("reserved", "unknown"), by=_SERVICE
    ),
    # The attempt was never sent. It keeps its reference and loses its lease.
    "held": Rule({"reserved": "reserved"}, stale=_all_but("reserved"), by=_SERVICE),
    "call_unanswered": Rule({"submitting": "unknown"}, stale=_all_but("submitting"), by=_SERVICE),
    # Not while a dispatcher submits the attempt: the end of its lease brings the attempt back.
    "queried": Rule(
        {state: state for state in STATES if state not in ("reserved", "submitting")},
        stale={"reserved", "submitting"},
        by=_SERVICE,
    ),
    "withdrawn": Rule(
        {"reserved": "failed"}, stale=_all_but("reserved"), by="vendor or payouts service, before it is sent"
    ),
    "pending": _under_way("pending"),
    "received": _under_way("received"),
    "otp": _under_way("otp"),
    "success": Rule(_FIRST_SUCCESS, repeated={"success"}, by=_GATEWAY),
    "success_confirmed": Rule(
        {**_FIRST_SUCCESS, **dict.fromkeys(FAILURES, "success")}, repeated={"success"}, by=_GATEWAY
    ),
    # In any other state another attempt of the payout has arrived: the money has left twice, or is about to.
    "success_of_processed": Rule(repeated={"success", "reversed"}, by=_GATEWAY),
    # A four-eyes decision has returned the amount after the reversal.
    "success_after_reversal": Rule(repeated={"success"}, by=_GATEWAY),
    # The amount is in the wallet again: the payout must not be paid a second time before staff have decided
    # (section 14.4).
    "success_after_restitution": Rule(by=_GATEWAY),
    # Two people have recorded it as paid, in addition to the payout's own amount.
    "success_of_recovered": Rule(repeated=frozenset(STATES), by=_GATEWAY),
    "failed": _failure("failed"),
    "rejected": _failure("rejected"),
    "blocked": _failure("blocked"),
    "abandoned": _failure("abandoned"),
    "reversed": Rule(dict.fromkeys(_all_but("reversed"), "reversed"), repeated={"reversed"}, by=_GATEWAY),
    "mismatch": Rule(by=_GATEWAY),
}

TRANSFER: Final = Lifecycle("Transfer", "One attempt of a payout at the payment gateway.", STATES, _RULES)
next_state: Final = TRANSFER.next_state
is_allowed: Final = TRANSFER.allows

_REJECTED: Final[Mapping[Rejection, Verdict]] = {
    Rejection.REPEATED: "repeated",
    Rejection.STALE: "stale",
    Rejection.FORBIDDEN: "contradiction",
}


def verdict_of(state: State, event: Event) -> Verdict:
    """How a report of the gateway is recorded."""
    outcome = next_state(state, event)
    if isinstance(outcome, Rejection):
        return _REJECTED[outcome]
    if event in ("success", "success_confirmed") and state == "reversed":
        return "late_success"
    return "confirmed" if event == "success_confirmed" and state in FAILURES else "advanced"
