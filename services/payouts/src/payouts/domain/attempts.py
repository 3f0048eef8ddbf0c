"""Decisions about the attempts to pay a payout (contract section 8). Pure: the use cases execute them.

`reserved`: recorded with its reference, never sent. With a lease (`due_at`) one process sends it; without one it waits
for the next dispatch. `submitting`: a process calls the gateway. `unknown`: the call ended without a result. Every
other status is the gateway's.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from payouts.domain.dispatch import (
    FIRST_POLL_AFTER,
    LEASE,
    LOST_CALL,
    POLLS_BEFORE_EXCEPTION,
    SkipReason,
    next_poll,
    poll_backoff,
)
from payouts.domain.gateway_results import Absent, Reported, SubmitResult, Unclear, VerifyResult
from payouts.domain.severity import Cause
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate
from payouts.domain.transitions import TRANSFER, UNDER_WAY, State, Verdict, is_allowed

SubmittableStatus = Literal["reserved", "unknown"]
SubmissionDecision = Literal["send", "fail", "hold", "wait", "skip"]
DueStep = Literal["submit", "query"]

DETAILS_CHANGED: Final = "bank_details_changed: the vendor's bank details changed before the gateway took the transfer"


def may_arrive(called_at: datetime | None, now: datetime) -> bool:
    """Return whether a call that started at `called_at`, and whose end is unknown, may still reach the gateway."""
    return called_at is not None and now < called_at + LOST_CALL


def may_start_call(started_at: datetime, now: datetime) -> bool:
    """Return whether the transfer may still be requested. After the lease another process may have replaced this
    one.
    """
    return now < started_at + LEASE


def check_submission(
    transfer: LockedTransfer, was: SubmittableStatus, reason: SkipReason | None, now: datetime
) -> SubmissionDecision:
    """Decides about an attempt to send, under the lock and with the present reason to hold the payout.

    skip: another process has it. hold: it was never sent and waits for another dispatch. An attempt that was sent
    before, and that the gateway does not have, waits for the next query. It fails when its account is no longer the
    vendor's and no earlier call can arrive: failed earlier, it could be paid a second time.
    """
    if transfer.status != was or not transfer.leased:
        return "skip"
    if reason is None:
        return "send"
    if is_allowed(was, "held"):
        return "hold"
    return "fail" if reason == "bank_details_changed" and not may_arrive(transfer.called_at, now) else "wait"


def status_when_claimed(status: State) -> State:
    """Return the status of a claimed attempt. After a lapsed submission it is unknown whether the call was made."""
    return TRANSFER.rules["claimed"].to[status]


def step_when_due(status: State) -> DueStep:
    """Return what a worker does with a claimed attempt."""
    return "submit" if status == "reserved" else "query"


def should_resubmit(status: State, result: VerifyResult) -> bool:
    """Return whether the gateway, queried after a call without a result, has never accepted the transfer."""
    return status == "unknown" and isinstance(result, Absent)


@dataclass(frozen=True, slots=True)
class CallHistory:
    """The calls of an attempt when one of them has ended. `number` counts the submissions.

    `earlier_at`: when the last earlier call started whose end is unknown. `refused`: the gateway refused this call, so
    it is over. `confirmed_at`: when a query then found no such reference.
    """

    number: int
    earlier_at: datetime | None
    refused: bool = False
    confirmed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AttemptUpdate:
    """Record after a call or a query: an update or an unknown outcome, the next poll, an exception.

    `poll_now`: the worker also queries at once. `called_at`: the last call whose end is unknown, while the attempt is
    unknown.
    """

    update: TransferUpdate | None = None
    is_unknown: bool = False
    reason: str = ""
    poll_at: datetime | None = None
    opens: Cause | None = None
    poll_now: bool = False
    called_at: datetime | None = None


def update_after_call(
    transfer: LockedTransfer, result: SubmitResult, calls: CallHistory, now: datetime
) -> AttemptUpdate | None:
    """Return what a finished submission changes; None when a later submission has replaced it.

    A rejection counts only after a query found no such reference, at a time when no earlier call could arrive.
    """
    if isinstance(result, Reported):
        return AttemptUpdate(result.update, poll_at=_poll_at(transfer, result.update, FIRST_POLL_AFTER, now))
    if calls.number != transfer.submissions:
        return None
    still_open = calls.earlier_at if calls.refused else transfer.called_at
    if isinstance(result, Unclear):
        due_at = now + poll_backoff(0)
        return AttemptUpdate(is_unknown=True, reason=result.reason, poll_at=due_at, poll_now=True, called_at=still_open)
    if calls.earlier_at is not None and may_arrive(calls.earlier_at, calls.confirmed_at or now):
        reason = f"refused, and an earlier call may still arrive: {result.reason}"
        return AttemptUpdate(is_unknown=True, reason=reason, poll_at=calls.earlier_at + LOST_CALL, called_at=still_open)
    return AttemptUpdate(
        TransferUpdate("call", "failed", transfer.amount_minor, transfer.currency, reason=result.reason)
    )


def update_after_query(transfer: LockedTransfer, result: VerifyResult, now: datetime) -> AttemptUpdate:
    """Return what a query changes, when the attempt is not to be submitted again."""
    wait = poll_backoff(transfer.poll_count)
    if isinstance(result, Reported):
        return AttemptUpdate(result.update, poll_at=_poll_at(transfer, result.update, max(wait, FIRST_POLL_AFTER), now))
    if isinstance(result, Absent):
        return AttemptUpdate(
            poll_at=now + wait,
            opens="unclassified",
            reason="The gateway accepted this transfer before and now knows no such reference.",
        )
    return AttemptUpdate(
        poll_at=now + wait,
        opens="timeout" if _has_waited_long(transfer) else None,
        reason=f"The gateway has not reported the outcome of the transfer: {result.reason}.",
    )


def update_while_held(transfer: LockedTransfer, reason: SkipReason, now: datetime) -> AttemptUpdate:
    """Return what changes when the gateway does not have a sent attempt, and `reason` forbids another submission."""
    poll_at = now + poll_backoff(transfer.poll_count)
    if transfer.called_at is not None and may_arrive(transfer.called_at, now):
        poll_at = min(poll_at, transfer.called_at + LOST_CALL)
    return AttemptUpdate(
        poll_at=poll_at,
        opens="unclassified" if _has_waited_long(transfer) else None,
        reason=f"The gateway does not know the transfer, and it is not sent again: {reason}.",
    )


def next_poll_at(transfer: LockedTransfer, update: TransferUpdate, now: datetime) -> datetime | None:
    """Return when to query an ended transfer: a bank may return a paid one, and pay another one after all."""
    return next_poll(transfer.ended_at or now, now)


def _poll_at(transfer: LockedTransfer, update: TransferUpdate, wait: timedelta, now: datetime) -> datetime | None:
    """Return when to poll. A transfer under way is polled, as its webhook may be lost."""
    return now + wait if update.status in UNDER_WAY else next_poll_at(transfer, update, now)


def stays_unknown(status: State, verdict: Verdict) -> bool:
    """Return whether a call's response contradicts the ledger. The attempt then stays unknown until a query."""
    return verdict == "contradiction" and is_allowed(status, "call_unanswered")


def update_after_contradiction(transfer: LockedTransfer, now: datetime) -> AttemptUpdate:
    """Return what is recorded for an attempt that stays unknown after a contradiction."""
    due_at = now + poll_backoff(0)
    reason = "the gateway's response contradicts the ledger"
    return AttemptUpdate(is_unknown=True, reason=reason, poll_at=due_at, called_at=transfer.called_at)


def _has_waited_long(transfer: LockedTransfer) -> bool:
    return transfer.status == "unknown" and transfer.poll_count + 1 >= POLLS_BEFORE_EXCEPTION
