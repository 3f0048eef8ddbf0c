"""What is done next with an attempt to send a payout (contract section 8). Pure: the use cases carry it out.

`reserved`: written down with its reference, and never sent. With a lease (`due_at`) it is somebody's to send; without one it waits
for the next dispatch. `submitting`: somebody calls the gateway. `unknown`: the call ended without an answer. Then the gateway's words.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from payouts.domain.dispatch import ASKS_BEFORE_EXCEPTION, FIRST_ASK, SkipReason, wait_before_asking
from payouts.domain.gateway_answers import Absent, Refused, SubmitAnswer, Told, Unclear, VerifyAnswer
from payouts.domain.severity import Cause
from payouts.domain.transfer_news import OURS, RANKS, News, TransferInHand, Verdict

Before = Literal["reserved", "unknown"]
Move = Literal["send", "fail", "hold", "wait", "leave"]
Step = Literal["submit", "ask", "leave"]

DETAILS_CHANGED: Final = "bank_details_changed: the vendor's bank details changed before the gateway took the transfer"


def judge_submission(status: str, leased: bool, was: Before, reason: SkipReason | None) -> Move:
    """What to do with an attempt that was to be sent, judged under the lock and with what holds the payout now.

    leave: somebody else has it. hold: it was never sent, and waits for another dispatch. For one that was sent before and that the
    gateway does not know: fail (its account is no longer the vendor's, and it will never go there) or wait and ask again later.
    """
    if status != was or not leased:
        return "leave"
    if reason is None:
        return "send"
    if was == "reserved":
        return "hold"
    return "fail" if reason == "bank_details_changed" else "wait"


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
class Afterwards:
    """What is recorded after a call or a question: news, or that nothing is known; when to ask next; whom to tell."""

    news: News | None = None
    is_unknown: bool = False
    reason: str = ""
    ask_at: datetime | None = None
    opens: Cause | None = None


def after_call(transfer: TransferInHand, answer: SubmitAnswer, now: datetime) -> Afterwards:
    """A submission has ended. A refusal must have been confirmed by asking for the reference."""
    if isinstance(answer, Unclear):
        return Afterwards(is_unknown=True, reason=answer.reason, ask_at=now + wait_before_asking(0))
    if isinstance(answer, Refused):
        return Afterwards(News("call", "failed", transfer.amount_minor, transfer.currency, reason=answer.reason))
    # On its way: its webhook may be lost, so it is asked for after a while. At an end: nothing is left to ask.
    return Afterwards(answer.news, ask_at=now + FIRST_ASK if RANKS[answer.news.status] == 0 else None)


def after_question(transfer: TransferInHand, answer: VerifyAnswer, now: datetime) -> Afterwards:
    """The gateway was asked for the reference, and the attempt is not to be sent again."""
    wait = wait_before_asking(transfer.asks)
    if isinstance(answer, Told):
        due_at = now + max(wait, FIRST_ASK) if RANKS[answer.news.status] == 0 else None
        return Afterwards(answer.news, ask_at=due_at)
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
    return Afterwards(
        ask_at=now + wait_before_asking(transfer.asks),
        opens="unclassified" if _has_waited_long(transfer) else None,
        reason=f"The gateway does not know the transfer, and it is not sent again: {reason}.",
    )


def is_open_after_contradiction(status: str, verdict: Verdict) -> bool:
    """An answer to our own call that contradicts the books leaves the attempt unknown: it is asked for, never taken as it is."""
    return verdict == "contradiction" and status == "submitting"


def _has_waited_long(transfer: TransferInHand) -> bool:
    return transfer.status == "unknown" and transfer.asks + 1 >= ASKS_BEFORE_EXCEPTION
