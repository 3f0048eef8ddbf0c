"""What is done next with an attempt to send a payout (contract section 8). Pure: the use cases carry it out.

`reserved`: written down with its reference, and never sent. With a lease (`due_at`) it is somebody's to send; without one it waits
for the next dispatch. `submitting`: somebody calls the gateway. `unknown`: the call ended without an answer. Then the gateway's words.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from payouts.domain.dispatch import (
    ASKS_BEFORE_EXCEPTION,
    FIRST_ASK,
    LEASE,
    LOST_CALL,
    SkipReason,
    next_look,
    wait_before_asking,
)
from payouts.domain.gateway_answers import Absent, SubmitAnswer, Told, Unclear, VerifyAnswer
from payouts.domain.severity import Cause
from payouts.domain.transfer_news import OURS, RANKS, News, TransferInHand, Verdict

Before = Literal["reserved", "unknown"]
Move = Literal["send", "fail", "hold", "wait", "leave"]
Step = Literal["submit", "ask", "leave"]

DETAILS_CHANGED: Final = "bank_details_changed: the vendor's bank details changed before the gateway took the transfer"


def may_arrive(called_at: datetime | None, now: datetime) -> bool:
    """Whether a call that began at `called_at`, and of which nobody knows the end, may still reach the gateway."""
    return called_at is not None and now < called_at + LOST_CALL


def may_begin_call(begun_at: datetime, now: datetime) -> bool:
    """Whether the transfer may still be called for: whoever slept through the lease has perhaps been replaced."""
    return now < begun_at + LEASE


def judge_submission(transfer: TransferInHand, was: Before, reason: SkipReason | None, now: datetime) -> Move:
    """What to do with an attempt that was to be sent, judged under the lock and with what holds the payout now.

    leave: somebody else has it. hold: it was never sent, and waits for another dispatch. For one that was sent before and that the
    gateway does not know: wait and ask again later, or fail, when its account is no longer the vendor's and no earlier call can
    arrive any more: given up before, it could be returned or sent again, and leave a second time.
    """
    if transfer.status != was or not transfer.leased:
        return "leave"
    if reason is None:
        return "send"
    if was == "reserved":
        return "hold"
    return "fail" if reason == "bank_details_changed" and not may_arrive(transfer.called_at, now) else "wait"


def status_taken_up(status: str) -> str:
    """An attempt whose lease has run out while it was being sent lost its dispatcher: nobody knows whether the call was made."""
    return "unknown" if status == "submitting" else status


def step_when_due(status: str) -> Step:
    """What a worker does with an attempt that it took up."""
    return "submit" if status == "reserved" else "ask"


def may_ask(status: str) -> bool:
    """Whether the gateway is asked now: not while a dispatcher is at work, whose lease would bring the attempt back."""
    return status == "unknown" or status not in OURS


def is_to_be_sent_again(status: str, answer: VerifyAnswer) -> bool:
    """The gateway, asked about a call of which nobody knew, has never accepted it."""
    return status == "unknown" and isinstance(answer, Absent)


@dataclass(frozen=True, slots=True)
class Calls:
    """What is known of an attempt's calls when one of them has ended. `number` counts the times that it was taken to be sent.

    `earlier_at`: when the last call before this one began that is not known to have ended. `refused`: this one was refused, and so it is
    over. `confirmed_at`: when the gateway was then asked for the reference, of which it knew nothing.
    """

    number: int
    earlier_at: datetime | None
    refused: bool = False
    confirmed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Afterwards:
    """What is recorded after a call or a question: news, or that nothing is known; when to ask next; whom to tell.

    `ask_now`: the worker asks at once, too. `called_at`: the last call that is not known to have ended, while the attempt is unknown.
    """

    news: News | None = None
    is_unknown: bool = False
    reason: str = ""
    ask_at: datetime | None = None
    opens: Cause | None = None
    ask_now: bool = False
    called_at: datetime | None = None


def after_call(transfer: TransferInHand, answer: SubmitAnswer, calls: Calls, now: datetime) -> Afterwards | None:
    """A submission has ended; None when another one of the attempt has begun since, and what becomes of it is that one's.

    A refusal must have been confirmed by asking for the reference, at a time when no earlier call of it could arrive any more.
    """
    if isinstance(answer, Told):
        return Afterwards(answer.news, ask_at=_ask_at(transfer, answer.news, FIRST_ASK, now))
    if calls.number != transfer.submissions:
        return None
    still_open = calls.earlier_at if calls.refused else transfer.called_at
    if isinstance(answer, Unclear):
        due_at = now + wait_before_asking(0)
        return Afterwards(is_unknown=True, reason=answer.reason, ask_at=due_at, ask_now=True, called_at=still_open)
    if calls.earlier_at is not None and may_arrive(calls.earlier_at, calls.confirmed_at or now):
        reason = f"refused, and an earlier call may still arrive: {answer.reason}"
        return Afterwards(is_unknown=True, reason=reason, ask_at=calls.earlier_at + LOST_CALL, called_at=still_open)
    return Afterwards(News("call", "failed", transfer.amount_minor, transfer.currency, reason=answer.reason))


def after_question(transfer: TransferInHand, answer: VerifyAnswer, now: datetime) -> Afterwards:
    """The gateway was asked for the reference, and the attempt is not to be sent again."""
    wait = wait_before_asking(transfer.asks)
    if isinstance(answer, Told):
        return Afterwards(answer.news, ask_at=_ask_at(transfer, answer.news, max(wait, FIRST_ASK), now))
    if isinstance(answer, Absent):
        return Afterwards(
            ask_at=now + wait,
            opens="unclassified",
            reason="The gateway accepted this transfer before and now knows no such reference.",
        )
    return Afterwards(
        ask_at=now + wait,
        opens="timeout" if _has_waited_long(transfer) else None,
        reason=f"The gateway has not said what became of the transfer: {answer.reason}.",
    )


def after_waiting(transfer: TransferInHand, reason: SkipReason, now: datetime) -> Afterwards:
    """The gateway does not know an attempt that was sent before, and it may not be sent again while `reason` holds."""
    ask_at = now + wait_before_asking(transfer.asks)
    if transfer.called_at is not None and may_arrive(transfer.called_at, now):
        ask_at = min(ask_at, transfer.called_at + LOST_CALL)
    return Afterwards(
        ask_at=ask_at,
        opens="unclassified" if _has_waited_long(transfer) else None,
        reason=f"The gateway does not know the transfer, and it is not sent again: {reason}.",
    )


def look_again_at(transfer: TransferInHand, news: News, now: datetime) -> datetime | None:
    """When to ask about a transfer that is at an end: one that arrived may come back, of any other there is nothing left to ask."""
    return next_look(transfer.arrived_at or now, now) if news.status == "success" else None


def _ask_at(transfer: TransferInHand, news: News, wait: timedelta, now: datetime) -> datetime | None:
    """On its way: its webhook may be lost, so it is asked for after a while."""
    return now + wait if RANKS[news.status] == 0 else look_again_at(transfer, news, now)


def is_open_after_contradiction(status: str, verdict: Verdict) -> bool:
    """An answer to our own call that contradicts the books leaves the attempt unknown: it is asked for, never taken as it is."""
    return verdict == "contradiction" and status == "submitting"


def after_contradiction(transfer: TransferInHand, now: datetime) -> Afterwards:
    """What is recorded of an attempt that is left unknown because the answer to its call contradicts the books."""
    due_at = now + wait_before_asking(0)
    reason = "the answer contradicts the books"
    return Afterwards(is_unknown=True, reason=reason, ask_at=due_at, called_at=transfer.called_at)


def _has_waited_long(transfer: TransferInHand) -> bool:
    return transfer.status == "unknown" and transfer.asks + 1 >= ASKS_BEFORE_EXCEPTION
