"""Stops of checkout and dispatch in an incident: each has a reason, a sentence for everyone, and an end."""

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from operations.campusctl.api_commands import Commands, Own, register_group
from operations.campusctl.exits import MISUSED, Refused
from operations.campusctl.registering import Key, Operator, Yes
from operations.campusctl.showing import Output


class Operation(StrEnum):
    """An operation that can be stopped."""

    checkout = "checkout"
    dispatch = "dispatch"


_DURATION: Final = re.compile(r"([1-9]\d{0,3})([mh])")
_EFFECTS: Final = {
    "checkout": "No buyer can check out",
    "dispatch": "No payout is sent to a bank",
}

Duration = Annotated[str, typer.Option("--for", help="How long: 30m or 2h, at most 24h.", metavar="TIME")]
Reason = Annotated[str, typer.Option(help="Why; staff read it.")]
Message = Annotated[str, typer.Option(help="The sentence that buyers or vendors read.")]


def register(app: typer.Typer) -> None:
    register_group(app, "stop", "Stops of checkout and dispatch, which expire.", STOPS)


def checkout(
    operator: Operator, duration: Duration, reason: Reason, message: Message, yes: Yes = False, key: Key = None
) -> Output:
    """Stop checkout. Orders that were placed go on: payment, delivery, payout."""
    return _start(operator, Operation.checkout, duration, {"reason": reason, "message": message}, yes=yes, key=key)


def dispatch(
    operator: Operator, duration: Duration, reason: Reason, message: Message, yes: Yes = False, key: Key = None
) -> Output:
    """Stop the dispatch of payouts. Transfers that were sent go on."""
    return _start(operator, Operation.dispatch, duration, {"reason": reason, "message": message}, yes=yes, key=key)


def list_stops(operator: Operator) -> Output:
    """List the stops in force and the earlier ones, newest first."""
    rows: list[dict[str, Any]] = []
    for operation in Operation:
        found = operator.api.get(f"/api/stops/{operation}").data
        current = [{**found["current"], "state": "in force"}] if found["current"] else []
        earlier = [{**stop, "state": "lifted" if stop["liftedAt"] else "expired"} for stop in found["earlier"]]
        rows += [{"operation": str(operation), **stop} for stop in current + earlier]
    return Output(
        rows, ("operation", "state", "reason", "message", "stoppedBy", "stoppedAt", "expiresAt", "liftReason")
    )


def end(operator: Operator, operation: Operation, reason: Reason, yes: Yes = False, key: Key = None) -> Output:
    """End a stop before its time."""
    operator.confirm(f"End the stop of {operation}?", yes=yes)
    return Output(operator.api.act(f"/api/stops/{operation}/lift", {"reason": reason}, key).data)


def _start(
    operator: Operator, operation: Operation, duration: str, texts: dict[str, str], *, yes: bool, key: str | None
) -> Output:
    expires_at = datetime.now(UTC) + _length_of(duration)
    operator.confirm(f"{_EFFECTS[operation]} for {duration}. Stop {operation}?", yes=yes)
    body = {**texts, "expiresAt": expires_at.isoformat(timespec="seconds")}
    return Output(operator.api.act(f"/api/stops/{operation}", body, key).data)


def _length_of(duration: str) -> timedelta:
    matched = _DURATION.fullmatch(duration)
    if matched is None:
        raise Refused(f"{duration!r} is no duration.", "Give minutes or hours: --for 30m, --for 2h", exit_code=MISUSED)
    count = int(matched[1])
    return timedelta(minutes=count) if matched[2] == "m" else timedelta(hours=count)


_TEXTS: Final = "--reason 'Wrong prices' --message 'Checkout is back at noon.'"
STOPS: Final[Commands] = {
    "checkout": Own(checkout, (f"--for 30m {_TEXTS}",)),
    "dispatch": Own(dispatch, ("--for 2h --reason 'The bank is down' --message 'Payouts start again at noon.'",)),
    "list": Own(list_stops, ("--json",)),
    "end": Own(end, ("checkout --reason 'The prices are right'",)),
}
