"""What is done next with an attempt to send a payout (contract section 8). Pure: the use cases carry it out.

`reserved`: written down with its reference, and never sent. With a lease (`due_at`) it is somebody's to send; without one it waits
for the next dispatch. `submitting`: somebody calls the gateway. `unknown`: the call ended without an answer. Then the gateway's words.
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
from payouts.domain.transitions import TRANSITIONS, UNDER_WAY, State, Verdict, is_allowed

SubmittableStatus = Literal["reserved", "unknown"]
SubmissionDecision = Literal["send", "fail", "hold", "wait", "skip"]
DueStep = Literal["submit", "query"]

DETAILS_CHANGED: Final = "bank_details_changed: the vendor's bank details changed before the gateway took the transfer"


def may_arrive(called_at: datetime | None, now: datetime) -> bool:
    """Whether a call that began at `called_at`, and of which nobody knows the end, may still reach the gateway."""
    return called_at is not None and now < called_at + LOST_CALL


def may_start_call(started_at: datetime, now: datetime) -> bool:
    """Whether the transfer may still be called for: whoever slept through the lease has perhaps been replaced."""
    return now < started_at + LEASE


def check_submission(
    transfer: LockedTransfer, was: SubmittableStatus, reason: SkipReason | None, now: datetime
) -> SubmissionDecision:
    """What to do with an attempt that was to be sent, judged under the lock and with what holds the payout now.

    leave: somebody else has it. hold: it was never sent, and waits for another dispatch. For one that was sent before and that the
    gateway does not know: wait and ask again later, or fail, when its account is no longer the vendor's and no earlier call can
    arrive any more: given up before, it could be returned or sent again, and leave a second time.
    """
    if transfer.status != was or not transfer.leased:
        return "skip"
    if reason is None:
        return "send"
    if is_allowed(was, "held"):
        return "hold"
    return "fail" if reason == "bank_details_changed" and not may_arrive(transfer.called_at, now) else "wait"


def status_when_claimed(status: State) -> State:
    """An attempt whose lease has run out while it was being sent lost its dispatcher: nobody knows whether the call was made."""
    return TRANSITIONS["claimed"].to[status]


def step_when_due(status: State) -> DueStep:
    """What a worker does with an attempt that it took up."""
    return "submit" if status == "reserved" else "query"


def should_resubmit(status: State, result: VerifyResult) -> bool:
    """The gateway, asked about a call of which nobody knew, has never accepted it."""
    return status == "unknown" and isinstance(result, Absent)


@dataclass(frozen=True, slots=True)
class CallHistory:
    """What is known of an attempt's calls when one of them has ended. `number` counts the times that it was taken to be sent.

    `earlier_at`: when the last call before this one began that is not known to have ended. `refused`: this one was refused, and so it is
    over. `confirmed_at`: when the gateway was then asked for the reference, of which it knew nothing.
    """

    number: int
    earlier_at: datetime | None
    refused: bool = False
    confirmed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AttemptUpdate:
    """What is recorded after a call or a question: news, or that nothing is known; when to ask next; whom to tell.

    `ask_now`: the worker asks at once, too. `called_at`: the last call that is not known to have ended, while the attempt is unknown.
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
    """A submission has ended; None when another one of the attempt has begun since, and what becomes of it is that one's.

    A refusal must have been confirmed by asking for the reference, at a time when no earlier call of it could arrive any more.
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
    """The gateway was asked for the reference, and the attempt is not to be sent again."""
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
        reason=f"The gateway has not said what became of the transfer: {result.reason}.",
    )


def update_while_held(transfer: LockedTransfer, reason: SkipReason, now: datetime) -> AttemptUpdate:
    """The gateway does not know an attempt that was sent before, and it may not be sent again while `reason` holds."""
    poll_at = now + poll_backoff(transfer.poll_count)
    if transfer.called_at is not None and may_arrive(transfer.called_at, now):
        poll_at = min(poll_at, transfer.called_at + LOST_CALL)
    return AttemptUpdate(
        poll_at=poll_at,
        opens="unclassified" if _has_waited_long(transfer) else None,
        reason=f"The gateway does not know the transfer, and it is not sent again: {reason}.",
    )


def next_poll_at(transfer: LockedTransfer, update: TransferUpdate, now: datetime) -> datetime | None:
    """When to ask about a transfer that is at an end: one that arrived may come back, of any other there is nothing left to ask."""
    return next_poll(transfer.arrived_at or now, now) if update.status == "success" else None


def _poll_at(transfer: LockedTransfer, update: TransferUpdate, wait: timedelta, now: datetime) -> datetime | None:
    """On its way: its webhook may be lost, so it is asked for after a while."""
    return now + wait if update.status in UNDER_WAY else next_poll_at(transfer, update, now)


def stays_unknown(status: State, verdict: Verdict) -> bool:
    """An answer to our own call that contradicts the books leaves the attempt unknown: it is asked for, never taken as it is."""
    return verdict == "contradiction" and is_allowed(status, "call_unanswered")


def update_after_contradiction(transfer: LockedTransfer, now: datetime) -> AttemptUpdate:
    """What is recorded of an attempt that is left unknown because the answer to its call contradicts the books."""
    due_at = now + poll_backoff(0)
    reason = "the answer contradicts the books"
    return AttemptUpdate(is_unknown=True, reason=reason, poll_at=due_at, called_at=transfer.called_at)


def _has_waited_long(transfer: LockedTransfer) -> bool:
    return transfer.status == "unknown" and transfer.poll_count + 1 >= POLLS_BEFORE_EXCEPTION
