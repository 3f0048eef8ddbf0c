"""Effects of a quarantine of bank details on its payout, and its release (contract section 8)."""

from collections.abc import Iterable
from typing import Literal
from uuid import UUID

from common.primitives.decisions import content_hash
from common.primitives.problems import Conflict
from payouts.domain.returns import LockedPayout, check_restitution
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate
from payouts.domain.transitions import FAILED_OR_REVERSED

QuarantineAction = Literal["restitute", "hold", "none"]


def quarantine_action(payout: LockedPayout) -> QuarantineAction:
    """restitute: the payout was never submitted, or every earlier attempt is final and the present one unsent. none: it
    is decided.

    hold: the gateway has or had an attempt, and only its report decides whether the money returns.
    """
    if payout.status != "pending":
        return "none"
    unsent = all(attempt.status == "reserved" for attempt in payout.attempts[payout.retry_count :])
    return "restitute" if unsent and may_be_restituted(payout) else "hold"


def may_be_restituted(payout: LockedPayout) -> bool:
    """Return whether no attempt of the payout is under way or contradicted."""
    try:
        return check_restitution(payout)
    except Conflict:
        return False


def confirms_failure(transfer: LockedTransfer, update: TransferUpdate) -> bool:
    """Return whether the gateway, called or queried, reports that this attempt's whole amount was not sent or was
    returned.
    """
    same_amount = (update.amount_minor, update.currency) == (transfer.amount_minor, transfer.currency)
    return same_amount and update.update_source != "webhook" and update.status in FAILED_OR_REVERSED


def needs_query_first(update: TransferUpdate) -> bool:
    """Return whether to query first: a webhook alone returns no money."""
    return update.update_source == "webhook" and update.status in FAILED_OR_REVERSED


def has_failed(transfer: LockedTransfer) -> bool:
    """Return whether the attempt failed in our records. Unknown to the gateway, it was never paid."""
    return transfer.status in FAILED_OR_REVERSED


def release_hash(vendor_id: UUID, quarantine_ids: Iterable[UUID]) -> str:
    """Return the hash of the vendor and of the quarantines that a release ends."""
    return content_hash({"vendorId": str(vendor_id), "quarantineIds": sorted(map(str, quarantine_ids))})
