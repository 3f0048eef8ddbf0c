"""What a quarantine of bank details does to the payout that it was about (contract section 8)."""

from typing import Literal

from common.problems import Conflict
from payouts.domain.returns import PayoutInHand, judge_restitution
from payouts.domain.transfer_news import RANKS, News, TransferInHand

Fate = Literal["restitute", "hold", "leave"]

_WENT_WRONG = frozenset(status for status, rank in RANKS.items() if rank > 0 and status != "success")


def judge_fate(payout: PayoutInHand) -> Fate:
    """restitute: it was never submitted, or each attempt before is over and the present one unsent. leave: it is decided already.

    hold: an attempt is with the gateway, or was: only the gateway's answer tells whether the money comes back.
    """
    if payout.status != "pending":
        return "leave"
    unsent = all(attempt.status == "reserved" for attempt in payout.attempts[payout.retry_count :])
    return "restitute" if unsent and may_be_restituted(payout) else "hold"


def may_be_restituted(payout: PayoutInHand) -> bool:
    """Whether nothing of the payout is under way, or contradicted."""
    try:
        return judge_restitution(payout)
    except Conflict:
        return False


def confirms_failure(transfer: TransferInHand, news: News) -> bool:
    """Whether the gateway, called or asked, says that the whole amount of this attempt has not left, or has come back."""
    same_amount = (news.amount_minor, news.currency) == (transfer.amount_minor, transfer.currency)
    return same_amount and news.heard_from != "webhook" and news.status in _WENT_WRONG


def is_to_be_asked_about(news: News) -> bool:
    """A webhook alone returns no money: it makes us ask."""
    return news.heard_from == "webhook" and news.status in _WENT_WRONG


def was_refused(transfer: TransferInHand) -> bool:
    """An attempt that failed in our books and that the gateway does not know never left."""
    return transfer.status in _WENT_WRONG
