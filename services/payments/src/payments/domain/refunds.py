"""Refunds, the gateway's updates about them, and the times of calls and polls. Amounts in kobo."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from payments.domain.accounts import HOME_CURRENCY, NO_CURRENCY
from payments.domain.errors import RefundContradiction
from payments.domain.escrow import Parts
from payments.domain.transfers import TransferOutcome, TransferUpdate
from payments.domain.transitions import RefundTrigger

# `outside`: made in the gateway's dashboard. Its row is recorded when the gateway reports it.
PublishedKind = Literal["order", "overpayment", "quarantine"]
RefundKind = Literal["order", "overpayment", "quarantine", "outside"]

# `correct` is for an outside refund that was not the order's: the platform bears it.
RefundAction = Literal["retry", "other_destination", "correct"]
# The steps of the decision about a failed refund.
RefundStep = Literal["approval", "preparation"]
# The gateway cannot refund by the payer's own means, and waits for an account of theirs.
NEEDS_ACCOUNT: Final = "needs-attention"
# The gateway has accepted the refund, and not paid it yet.
IN_PROGRESS_STATUSES: Final = frozenset({"pending", "processing"})
RETURNED_STATUSES: Final = frozenset({"failed", "reversed"})
# The gateway accepts the same note twice, and an unanswered call may still be running there: nothing is sent again
# sooner. The time is far above a call's timeouts, so that clocks may differ by a minute. It is below the fifth retry
# delay, which sends again.
RESUBMIT_AFTER: Final = timedelta(minutes=2)
# A later call is skipped, because another worker may have replaced this one.
CALL_WITHIN: Final = timedelta(seconds=30)
# The webhook normally arrives first; polling is the fallback, with growing delays.
FIRST_POLL_AFTER: Final = timedelta(minutes=1)
LAST_POLL_AFTER: Final = timedelta(hours=1)


def failed_alert_key(refund_id: UUID) -> str:
    """Return the deduplication key of a failed refund's alert, to raise and to clear it."""
    return f"refund-failed:{refund_id}"


def account_alert_key(refund_id: UUID) -> str:
    """Return the same of a refund that needs the payer's account."""
    return f"refund-needs-account:{refund_id}"


@dataclass(frozen=True, slots=True)
class RequestedRefund:
    """A refund of an order that orders requests, in kobo.

    `of_items` are the parts of a refund of items; without them the refund takes each part in proportion. The money goes
    back where it came from, the charge first; with `is_all_to_balance` to the buyer's balance, unless a bank disputes
    the charge, which may return the money itself.
    """

    order_id: UUID
    id: UUID
    amount_minor: int
    reason: str
    of_items: Parts | None = None
    is_all_to_balance: bool = False


@dataclass(frozen=True, slots=True)
class NewRefund:
    """A refund to record, over an amount in the minor unit of its currency, which is the charge's."""

    id: UUID
    kind: RefundKind
    charge_id: UUID | None
    order_id: UUID | None
    buyer_id: UUID | None
    amount_minor: int
    reason: str
    currency: str = HOME_CURRENCY


@dataclass(frozen=True, slots=True)
class RefundUpdate:
    """The gateway's state of one attempt of a refund, from a webhook or a poll.

    `status` is `processed`, `failed`, NEEDS_ACCOUNT, any other text while it is in progress, and for a transfer
    `reversed`. `transfer_fee_minor`: the gateway's fee of a transfer, if reported. The refunded charge is named by its
    reference or its id.
    """

    gateway_refund_id: str | None
    note: str | None
    status: str
    amount_minor: int
    currency: str
    failure: str | None
    updated_at: datetime | None = None
    # The gateway shows no note: only its id identifies our refund.
    is_anonymous: bool = False
    transfer_fee_minor: int | None = None
    transaction_reference: str | None = None
    transaction_id: str | None = None


_STATUSES_OF_TRANSFERS: Final[dict[TransferOutcome, str]] = {
    "success": "processed",
    "failed": "failed",
    "reversed": "reversed",
    "pending": "pending",
}


@dataclass(frozen=True, slots=True)
class RefundEvent:
    """A webhook about a refund that names neither it nor our note: a reason to query the refunds of its transaction."""

    transaction_reference: str
    amount_minor: int
    status: str


def outside_alert_key(refund_id: UUID) -> str:
    """Return the deduplication key of the alert about a refund made outside, to raise and to clear it."""
    return f"outside-refund:{refund_id}"


def refund_of_transfer(transfer: TransferUpdate) -> RefundUpdate:
    """Return the update of a refund that is paid out as a transfer to a bank account."""
    return RefundUpdate(
        gateway_refund_id=transfer.transfer_code or None,
        note=transfer.reference,
        status=_STATUSES_OF_TRANSFERS[transfer.outcome],
        amount_minor=transfer.amount_minor,
        currency=transfer.currency,
        failure=transfer.reason,
        updated_at=transfer.occurred_at,
        # Refunds to bank accounts are in naira only, and so are the accounts of their fees.
        transfer_fee_minor=transfer.fee_minor if transfer.currency == HOME_CURRENCY else None,
    )


def fee_to_post(update: RefundUpdate, booked_minor: int | None, *, is_queried: bool) -> int | None:
    """Return the fee that the ledger must have after this update; None when it stays as it is.

    A fee is posted with a success that reports it. Only the response to a query corrects a posted fee, for example
    after a reversal: a webhook may be older than the posted fee.
    """
    reported_minor = update.transfer_fee_minor
    if reported_minor is None or reported_minor == booked_minor:
        return None
    is_decided = update.status in ("processed", "failed", "reversed")
    may_post = update.status == "processed" if booked_minor is None else is_queried and is_decided
    return reported_minor if may_post else None


def check_refund(update: RefundUpdate, amount_minor: int, currency: str) -> None:
    """Raise RefundContradiction when the update is over another amount or currency than the refund.

    The refund of a charge without a currency is in the currency of the gateway's charge.
    """
    expected = update.currency if currency == NO_CURRENCY else currency
    if (update.amount_minor, update.currency) != (amount_minor, expected):
        raise RefundContradiction(
            f"the gateway reports {update.amount_minor} {update.currency}, the refund is {amount_minor} {currency}"
        )


def trigger_of(
    update: RefundUpdate, *, is_transfer: bool, needs_account: bool, has_account: bool, is_polled: bool
) -> RefundTrigger:
    """Return the trigger that the update of the current attempt is, by what the refund waits for.

    `has_account`: staff have approved the account that the gateway needs.
    """
    match update.status:
        case "processed":
            return "transfer_paid" if is_transfer and not is_polled else "paid"
        case "failed":
            return "given_up" if needs_account else "failed"
        case "reversed":
            return "reversed"
        case status if status == NEEDS_ACCOUNT and not has_account:
            return "account_needed"
    return "in_progress" if update.gateway_refund_id is None else "accepted"


def trigger_of_outside(update: RefundUpdate) -> RefundTrigger:
    """Return the trigger that the update of a refund made outside is."""
    if update.status == "processed":
        return "outside_paid"
    return "outside_returned" if update.status in RETURNED_STATUSES else "in_progress"


def may_call(decided_at: datetime, now: datetime) -> bool:
    """Return whether a refund that was marked `submitting` at `decided_at` may still be sent."""
    return now < decided_at + CALL_WITHIN


def next_poll_after(polls: int) -> timedelta:
    """Return the delay before the next poll: doubled each time, up to an hour."""
    doublings: int = 2 ** min(polls, 10)
    return min(FIRST_POLL_AFTER * doublings, LAST_POLL_AFTER)
