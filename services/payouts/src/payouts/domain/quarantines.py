"""What a quarantine of bank details does to the payout that it was about (contract section 8)."""

from typing import Literal

from common.primitives.problems import Conflict
from payouts.domain.returns import LockedPayout, check_restitution
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate
from payouts.domain.transitions import FAILED_OR_REVERSED

QuarantineAction = Literal["restitute", "hold", "none"]


def quarantine_action(payout: LockedPayout) -> QuarantineAction:
    """restitute: it was never submitted, or each attempt before is over and the present one unsent. leave: it is decided already.

    hold: an attempt is with the gateway, or was: only the gateway's answer tells whether the money comes back.
    """
    if payout.status != "pending":
        return "none"
    unsent = all(attempt.status == "reserved" for attempt in payout.attempts[payout.retry_count :])
    return "restitute" if unsent and may_be_restituted(payout) else "hold"


def may_be_restituted(payout: LockedPayout) -> bool:
    """Whether nothing of the payout is under way, or contradicted."""
    try:
        return check_restitution(payout)
    except Conflict:
        return False


def confirms_failure(transfer: LockedTransfer, update: TransferUpdate) -> bool:
    """Whether the gateway, called or asked, says that the whole amount of this attempt has not left, or has come back."""
    same_amount = (update.amount_minor, update.currency) == (transfer.amount_minor, transfer.currency)
    return same_amount and update.update_source != "webhook" and update.status in FAILED_OR_REVERSED


def needs_query_first(update: TransferUpdate) -> bool:
    """A webhook alone returns no money: it makes us ask."""
    return update.update_source == "webhook" and update.status in FAILED_OR_REVERSED


def has_failed(transfer: LockedTransfer) -> bool:
    """An attempt that failed in our books and that the gateway does not know never left."""
    return transfer.status in FAILED_OR_REVERSED
