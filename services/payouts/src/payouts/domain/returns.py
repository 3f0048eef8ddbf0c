"""When a payout may be sent again, and when its amount returns: once, and with nothing under way
(contract section 8).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal
from uuid import UUID

from common.ledger.posting import Posting
from common.primitives.decisions import content_hash
from common.primitives.json_records import JsonObject
from payouts.domain import accounts
from payouts.domain.accounts import Recovery
from payouts.domain.errors import (
    AmountAlreadyReturned,
    AttemptAlreadyReserved,
    NothingToReconcile,
    NoTransferSent,
    PayoutNotPending,
    RetryLimitReached,
    ReversedTransferNotResettable,
    TransferAlreadySent,
    TransferContradicted,
    TransferUnderWay,
)
from payouts.domain.payout_transitions import PAYOUT, PayoutStatus
from payouts.domain.transitions import FAILED_OR_REVERSED, MAY_STILL_PAY
from payouts.domain.wallet import WalletSnapshot, repayment, shortfall

ReturnKind = Literal["restitution", "reversal", "recovery", "recovery_returned", "hold_released"]

RETRIES_MAX: Final = 3
# No money is sent in these. A `reserved` attempt is withdrawn when the amount returns.
_AT_AN_END: Final = ("reserved", *FAILED_OR_REVERSED)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One transfer of a payout. `leased`: a process sends or queries it at a set time.

    `contradicted`: its last report disagrees with the ledger and was not queried since. `recovered`: its unrecorded
    amount was recovered from the vendor and not returned since. `sent`: the gateway may have it. `reported_paid`: its
    last report is a success. `returned_recoveries`: how many recoveries of it were returned.
    """

    id: UUID
    reference: str
    status: str
    leased: bool
    contradicted: bool
    recovered: bool
    sent: bool
    reported_paid: bool = False
    returned_recoveries: int = 0

    @property
    def recovery(self) -> Recovery:
        """The recovery that is not returned, or the next one."""
        return Recovery(self.id, self.returned_recoveries + 1)


@dataclass(frozen=True, slots=True)
class LockedPayout:
    """A payout under lock with its attempts, oldest first; `returned` is the kind of its return. Amount in kobo.

    `holds`: the open holds of its amount, each for a transfer that may have been paid in addition.
    """

    id: UUID
    vendor_id: UUID
    amount_minor: int
    status: PayoutStatus
    retry_count: int
    reference: str | None
    attempts: tuple[Attempt, ...]
    returned: str | None
    holds: tuple[UUID, ...] = ()
    number: str | None = None


@dataclass(frozen=True, slots=True)
class ReconciliationPlan:
    """Effects of a reconciliation: its posting, the extra transfer of a recovery or of its return, and the hold that it
    ends.

    `recovery`: the one that it makes or returns.
    """

    kind: ReturnKind
    posting: Posting
    transfer_id: UUID | None = None
    hold_id: UUID | None = None
    recovery: Recovery | None = None


def check_restitution(payout: LockedPayout) -> bool:
    """Return whether the restitution has an effect; False for its repetition.

    Raises PayoutNotPending, AmountAlreadyReturned, TransferContradicted and TransferUnderWay (409).
    """
    if payout.status == "failed" and payout.returned == "restitution":
        return False
    _check_unreturned(payout)
    return True


def check_cancellation(payout: LockedPayout) -> bool:
    """Return whether the cancellation has an effect; False for its repetition.

    Raises TransferAlreadySent, and the errors of `check_restitution` (409).
    """
    if any(attempt.sent for attempt in payout.attempts):
        raise TransferAlreadySent
    return check_restitution(payout)


def check_hold(payout: LockedPayout) -> None:
    """Raise PayoutNotPending and TransferUnderWay (409) unless the payout can still be held."""
    if payout.status != "pending":
        raise PayoutNotPending(payout.status)
    for attempt in payout.attempts:
        if attempt.status in MAY_STILL_PAY and attempt.sent:
            raise TransferUnderWay(attempt.status)


def check_reset(payout: LockedPayout) -> None:
    """Check that a new attempt may be recorded. The gateway must have been queried about the earlier ones.

    Raises PayoutNotPending, AmountAlreadyReturned, NoTransferSent, AttemptAlreadyReserved,
    ReversedTransferNotResettable, RetryLimitReached, TransferContradicted and TransferUnderWay (409).
    """
    _check_unreturned(payout)
    _check_was_sent(payout)
    if payout.attempts[-1].status == "reserved":
        raise AttemptAlreadyReserved
    if payout.attempts[-1].status == "reversed":
        raise ReversedTransferNotResettable
    if payout.retry_count >= RETRIES_MAX:
        raise RetryLimitReached


def earlier_attempts_failed(payout: LockedPayout) -> bool:
    """Return whether no attempt before the last one was paid, may still pay, or contradicts its record."""
    return all(attempt.status in FAILED_OR_REVERSED and not attempt.contradicted for attempt in payout.attempts[:-1])


def wait_before_retry(retry_count: int, first_wait: timedelta) -> timedelta:
    """Return the wait of the attempt after the `retry_count`-th reset: doubled each time."""
    return first_wait * (1 << (retry_count - 1))


def plan_reconciliation(payout: LockedPayout, wallet: WalletSnapshot) -> ReconciliationPlan:
    """Return what makes the ledger agree with the gateway's present reports. Raises a Conflict when nothing does.

    Reversal: a processed payout with fewer successful transfers than recorded. Restitution: a pending payout whose
    transfers have all failed. Recovery: an unrecorded success, after a restitution or in addition to another
    success; its hold pays, else the wallet, and the rest becomes debt. Release of a hold: the gateway reports that the
    held money was not paid. Return of a recovery: a recovered transfer that the bank returned, of a payout whose own
    amount was returned before.
    """
    extra = _extra_success(payout)
    if extra is not None:
        return _plan_recovery(payout, extra, wallet)
    if payout.holds:
        return _plan_release_of_hold(payout, wallet)
    repaid_minor = repayment(wallet.debt_minor, payout.amount_minor)
    came_back = _returned_recovery(payout)
    if came_back is not None:
        _check_idle(payout)
        recovery = came_back.recovery
        posting = accounts.recovery_returned(recovery, payout.vendor_id, payout.amount_minor, repaid_minor)
        return ReconciliationPlan("recovery_returned", posting, came_back.id, recovery=recovery)
    if payout.status == "processed" and payout.returned is None:
        _check_idle(payout)
        if _count_successes(payout) >= _count_recorded_transfers(payout):
            raise NothingToReconcile("processed")
        return ReconciliationPlan(
            "reversal", accounts.reversal(payout.id, payout.vendor_id, payout.amount_minor, repaid_minor)
        )
    if payout.status != "pending":
        raise NothingToReconcile(payout.status)
    _check_unreturned(payout)
    _check_was_sent(payout)
    # A held attempt, for example after changed details, has no lease and is withdrawn.
    if payout.attempts[-1].status == "reserved" and payout.attempts[-1].leased:
        raise AttemptAlreadyReserved
    return ReconciliationPlan(
        "restitution", accounts.restitution(payout.id, payout.vendor_id, payout.amount_minor, repaid_minor)
    )


def has_uncovered_payment(payout: LockedPayout) -> bool:
    """Return whether more of its transfers may have paid than the ledger has money for: in transit, recorded as paid,
    or held.
    """
    return _count_possibly_paid(payout) > _count_covered(payout)


def _plan_recovery(payout: LockedPayout, extra: Attempt, wallet: WalletSnapshot) -> ReconciliationPlan:
    vendor_id, amount_minor, recovery = payout.vendor_id, payout.amount_minor, extra.recovery
    if payout.holds:
        posting = accounts.recovery_of_hold(recovery, vendor_id, amount_minor)
        return ReconciliationPlan("recovery", posting, extra.id, payout.holds[0], recovery)
    posting = accounts.recovery(recovery, vendor_id, amount_minor, shortfall(wallet.available_minor, amount_minor))
    return ReconciliationPlan("recovery", posting, extra.id, recovery=recovery)


def _plan_release_of_hold(payout: LockedPayout, wallet: WalletSnapshot) -> ReconciliationPlan:
    _check_idle(payout)
    if _count_possibly_paid(payout) >= _count_covered(payout):
        raise TransferUnderWay(
            next((line.status for line in payout.attempts if line.status in MAY_STILL_PAY), "success")
        )
    hold_id, repaid_minor = payout.holds[0], repayment(wallet.debt_minor, payout.amount_minor)
    posting = accounts.transfer_hold_released(hold_id, payout.vendor_id, payout.amount_minor, repaid_minor)
    # The decision names the last attempt that was sent: the gateway was queried about all of them.
    transfer_id = [attempt for attempt in payout.attempts if attempt.sent][-1].id
    return ReconciliationPlan("hold_released", posting, transfer_id, hold_id)


def _count_possibly_paid(payout: LockedPayout) -> int:
    """How many transfers have paid, may still pay, or are reported as paid by a report that was not confirmed."""
    return sum(attempt.status in ("success", *MAY_STILL_PAY) or attempt.reported_paid for attempt in payout.attempts)


def _count_covered(payout: LockedPayout) -> int:
    """For how many transfers the ledger has the money: the payout's own, each recovered one, and each hold."""
    unreturned = payout.returned is None
    return unreturned + sum(attempt.recovered for attempt in payout.attempts) + len(payout.holds)


def describe_posting(posting: Posting) -> JsonObject:
    """Return the posting in the public shape of a transaction, for review by staff."""
    entries = sorted((entry.account.name, entry.amount_minor) for entry in posting.entries)
    return {
        "type": posting.type,
        "postingKey": posting.key,
        "currency": posting.currency,
        "entries": [{"account": account, "amountMinor": amount_minor} for account, amount_minor in entries],
    }


def reconciliation_hash(payout_id: UUID, kind: ReturnKind, postings: Sequence[JsonObject]) -> str:
    """Return the hash of payout, kind and exact postings."""
    return content_hash({"payoutId": str(payout_id), "kind": kind, "postings": postings})


def _extra_success(payout: LockedPayout) -> Attempt | None:
    """Return a success that the ledger does not have: more transfers have paid than are recorded."""
    unrecovered = [attempt for attempt in payout.attempts if attempt.status == "success" and not attempt.recovered]
    if payout.status == "pending" or not unrecovered or _count_successes(payout) <= _count_recorded_transfers(payout):
        return None
    return unrecovered[-1]


def _returned_recovery(payout: LockedPayout) -> Attempt | None:
    """Post the return of a recovered transfer, unless a return of the payout's own amount covers it."""
    if payout.returned is None or _count_successes(payout) >= _count_recorded_transfers(payout):
        return None
    # More were recovered than have paid: at least one of them came back.
    return [attempt for attempt in payout.attempts if attempt.recovered and attempt.status != "success"][-1]


def _count_successes(payout: LockedPayout) -> int:
    """How many transfers have paid."""
    return sum(attempt.status == "success" for attempt in payout.attempts)


def _count_recorded_transfers(payout: LockedPayout) -> int:
    """How many transfers the ledger has: the one of a processed, unreturned payout, and each recovered one."""
    completed = payout.status == "processed" and payout.returned is None
    return completed + sum(attempt.recovered for attempt in payout.attempts)


def _check_unreturned(payout: LockedPayout) -> None:
    if payout.returned is not None:
        raise AmountAlreadyReturned(payout.returned)
    if not PAYOUT.allows(payout.status, "amount_returned"):
        raise PayoutNotPending(payout.status)
    _check_idle(payout)
    for attempt in payout.attempts:
        if attempt.status not in _AT_AN_END:
            raise TransferUnderWay(attempt.status)


def _check_was_sent(payout: LockedPayout) -> None:
    if all(attempt.status == "reserved" for attempt in payout.attempts):
        raise NoTransferSent


def _check_idle(payout: LockedPayout) -> None:
    if any(attempt.contradicted for attempt in payout.attempts):
        raise TransferContradicted
