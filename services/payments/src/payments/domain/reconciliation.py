"""Compare the money of the gateway, of the ledger and of the orders. Amounts in kobo.

Every comparison returns the unexplained differences; an empty list means that all three agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from payments.domain.accounts import NO_CURRENCY
from payments.domain.charges import Charge
from payments.domain.refunds import RefundUpdate
from payments.domain.settlements import RecordedSettlement, Settlement, settlement_key

Kind = Literal[
    "charge_not_in_book",
    "charge_not_at_gateway",
    "charge_differs",
    "charge_without_escrow",
    "fee_differs",
    "refund_not_in_book",
    "refund_not_at_gateway",
    "refund_differs",
    "order_held_without_charge",
    "unreadable_at_gateway",
    "settlement_not_in_book",
    "settlement_not_at_gateway",
    "settlement_differs",
]
# A missing webhook explains these: the gateway's state is processed in its place, and only remaining cases are alerted.
SELF_RESOLVING: Final[frozenset[Kind]] = frozenset(
    {"charge_not_in_book", "refund_not_in_book", "settlement_not_in_book"}
)
# No query about one of them is possible: staff close these cases with evidence.
CHECKED_IN_LISTS_ONLY: Final[frozenset[Kind]] = frozenset(
    {"unreadable_at_gateway", "settlement_not_at_gateway", "settlement_differs"}
)
SELF_RESOLUTION_PERIOD: Final = timedelta(hours=1)
# The webhook of a newer event may still arrive.
WEBHOOK_GRACE_PERIOD: Final = timedelta(minutes=10)
# The gateway lists payments by the day of their opening. Only the webhook reports one that is paid later than this.
LOOKBACK_PERIOD: Final = timedelta(days=7)
# Enough to find the others.
_NAMED_MAX: Final = 5
# The maximum of a requested period: a quarter of a year, in pages of the gateway's lists.
PERIOD_MAX: Final = timedelta(days=92)


@dataclass(frozen=True, slots=True)
class Difference:
    """An unexplained difference of a charge, refund or order."""

    kind: Kind
    subject: str
    ours_minor: int
    theirs_minor: int
    currency: str
    detail: str
    reference: str | None = None
    order_id: UUID | None = None

    @property
    def unexplained_minor(self) -> int:
        return abs(self.ours_minor - self.theirs_minor) or max(self.ours_minor, self.theirs_minor)


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A row of one of the gateway's lists that lacks a required field: its id or hash, and its reference and note if it
    has them.
    """

    key: str
    reference: str | None
    note: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class RecordedCharge:
    """A recorded charge: its row, the amount that its posting debited to `gateway_cash`, its posted fee, and its
    order's state.
    """

    identity: str
    reference: str
    gateway_id: str | None
    order_id: UUID | None
    amount_minor: int
    currency: str
    verdict: str
    ledger_minor: int
    fee_minor: int
    escrow_minor: int | None
    order_status: str | None


@dataclass(frozen=True, slots=True)
class RecordedRefund:
    """A recorded refund, and the amount that its current attempt credited to `gateway_cash`."""

    id: UUID
    attempt_id: UUID
    order_id: UUID | None
    currency: str
    status: str
    ledger_minor: int
    gateway_refund_id: str | None


def is_within_webhook_grace(at: datetime | None, now: datetime) -> bool:
    """Return whether the webhook of an event at this time may still arrive."""
    return at is not None and now - at < WEBHOOK_GRACE_PERIOD


def subject_of_charge(identity: str) -> str:
    return f"charge:{identity}"


def subject_of_refund(gateway_refund_id: str | None, note: str | None) -> str:
    return f"refund:{gateway_refund_id or note}"


def compare_charge(reported: Charge, recorded: RecordedCharge | None) -> list[Difference]:
    """Compare the gateway's charge with the ledger and the order."""
    if recorded is None:
        detail = "The gateway took this money; the ledger has no posting of it."
        subject = subject_of_charge(reported.identity)
        theirs_minor, currency = reported.amount_minor, reported.currency
        return [Difference("charge_not_in_book", subject, 0, theirs_minor, currency, detail, reported.reference)]
    same = (reported.amount_minor, reported.currency) == (recorded.ledger_minor, recorded.currency)
    if same and recorded.amount_minor == recorded.ledger_minor:
        return compare_order(recorded) + _compare_fee(reported, recorded)
    # Of our two amounts the one that differs from the gateway's is shown.
    ours_minor = recorded.ledger_minor if recorded.ledger_minor != reported.amount_minor else recorded.amount_minor
    detail = (
        f"The gateway reports {reported.amount_minor} {reported.currency}, the charge {recorded.amount_minor} "
        f"{recorded.currency}, the ledger {recorded.ledger_minor} {recorded.currency}."
    )
    return [
        _charge_difference("charge_differs", recorded, ours_minor, reported.amount_minor, reported.currency, detail)
    ]


def is_fee_missing(reported: Charge, recorded: RecordedCharge) -> bool:
    """Return whether the gateway reports a fee of this charge that is not in the ledger. It reports some only after the
    webhook.
    """
    is_same = (reported.amount_minor, reported.currency) == (recorded.amount_minor, recorded.currency)
    return is_same and reported.fee_minor > 0 and recorded.fee_minor == 0


def _compare_fee(reported: Charge, recorded: RecordedCharge) -> list[Difference]:
    if is_fee_missing(reported, recorded) or reported.fee_minor in (0, recorded.fee_minor):
        return []
    detail = f"The gateway reports a fee of {reported.fee_minor}; the ledger has {recorded.fee_minor}."
    return [
        _charge_difference("fee_differs", recorded, recorded.fee_minor, reported.fee_minor, recorded.currency, detail)
    ]


def compare_order(recorded: RecordedCharge) -> list[Difference]:
    """Compare a covering charge with its order's escrow."""
    if recorded.verdict != "covered" or (recorded.escrow_minor is not None and recorded.order_status == "paid_escrow"):
        return []
    held_minor = recorded.escrow_minor or 0
    detail = f"The charge covers the order, which is {recorded.order_status} with {held_minor} kobo held."
    return [
        _charge_difference(
            "charge_without_escrow", recorded, held_minor, recorded.amount_minor, recorded.currency, detail
        )
    ]


def compare_unlisted_charge(recorded: RecordedCharge, reported: Charge | None) -> list[Difference]:
    """Compare a charge that the gateway did not list with its state queried by reference."""
    if reported is not None and reported.was_paid and recorded.gateway_id in (None, reported.gateway_id):
        return compare_charge(reported, recorded)
    detail = "The ledger has this charge; the gateway does not report it as paid."
    return [_charge_difference("charge_not_at_gateway", recorded, recorded.ledger_minor, 0, recorded.currency, detail)]


def _charge_difference(
    kind: Kind, recorded: RecordedCharge, ours_minor: int, theirs_minor: int, currency: str, detail: str
) -> Difference:
    subject = subject_of_charge(recorded.identity)
    return Difference(kind, subject, ours_minor, theirs_minor, currency, detail, recorded.reference, recorded.order_id)


def compare_refund(
    reported: RefundUpdate, attempt_id: UUID | None, recorded: RecordedRefund | None
) -> list[Difference]:
    """Compare a refund that the gateway paid out, by the attempt that its note names, with the ledger."""
    kind: Kind = "refund_not_in_book"
    ours_minor = 0
    if recorded is None or recorded.status != "settled":
        detail = "The gateway paid this refund out; the ledger has not settled it."
    elif (attempt_id or recorded.attempt_id) != recorded.attempt_id:
        detail = "The gateway paid this attempt out; the ledger settled the refund by another one."
    elif recorded.gateway_refund_id is not None and reported.gateway_refund_id not in (
        None,
        recorded.gateway_refund_id,
    ):
        # The gateway accepts a note twice: a delayed call may have arrived after its replacement.
        detail = (
            f"The gateway paid this attempt out a second time; the ledger has its refund {recorded.gateway_refund_id}."
        )
    elif reported.amount_minor != recorded.ledger_minor or recorded.currency not in (reported.currency, NO_CURRENCY):
        kind, ours_minor = "refund_differs", recorded.ledger_minor
        detail = (
            f"The gateway reports {reported.amount_minor} {reported.currency}, "
            f"the ledger {recorded.ledger_minor} {recorded.currency}."
        )
    else:
        return []
    subject = subject_of_refund(reported.gateway_refund_id, reported.note)
    order_id = None if recorded is None else recorded.order_id
    theirs_minor = reported.amount_minor
    return [Difference(kind, subject, ours_minor, theirs_minor, reported.currency, detail, reported.note, order_id)]


def compare_unlisted_refund(recorded: RecordedRefund, reported: RefundUpdate | None) -> list[Difference]:
    """Compare a settled refund that the gateway did not list with its attempt's queried state."""
    if reported is not None and reported.status == "processed":
        return compare_refund(reported, recorded.attempt_id, recorded)
    detail = "The ledger settled this refund; the gateway does not report it as processed."
    subject, ours_minor = f"refund:{recorded.id}", recorded.ledger_minor
    kind: Kind = "refund_not_at_gateway"
    return [Difference(kind, subject, ours_minor, 0, recorded.currency, detail, None, recorded.order_id)]


def unreadable_at_gateway(subject: str, reference: str | None, reason: str) -> Difference:
    """Return a row, or the response about a reference, that cannot be compared. Amounts are unknown."""
    detail = f"The gateway's record cannot be read: {reason}."
    return Difference("unreadable_at_gateway", subject, 0, 0, NO_CURRENCY, detail[:500], reference)


def compare_settlement(reported: Settlement, recorded: RecordedSettlement | None) -> list[Difference]:
    """Compare a settlement with its posting. One without a posting is posted, or reported as unknown, by the caller."""
    if recorded is None:
        return []
    if reported.status != "settled":
        detail = f"The ledger has this settlement; the gateway reports it as {reported.status}."
        return [_settlement_difference("settlement_not_at_gateway", reported, recorded.amount_minor, 0, detail)]
    if (reported.amount_minor, reported.currency) == (recorded.amount_minor, recorded.currency):
        return []
    detail = (
        f"The gateway reports {reported.amount_minor} {reported.currency}, the ledger "
        f"{recorded.amount_minor} {recorded.currency}."
    )
    ours_minor, theirs_minor = recorded.amount_minor, reported.amount_minor
    return [_settlement_difference("settlement_differs", reported, ours_minor, theirs_minor, detail)]


def unknown_settlement(reported: Settlement, unknown: Sequence[str]) -> Difference:
    """Return a settlement of charges that the ledger does not have; of none at all when `unknown` is empty."""
    named = ", ".join(unknown[:_NAMED_MAX]) or "no charge"
    detail = f"The gateway paid this out to the bank for charges that are not in the ledger: {named}."
    return _settlement_difference("settlement_not_in_book", reported, 0, reported.amount_minor, detail)


def _settlement_difference(
    kind: Kind, reported: Settlement, ours_minor: int, theirs_minor: int, detail: str
) -> Difference:
    return Difference(
        kind, settlement_key(reported.id), ours_minor, theirs_minor, reported.currency, detail, reported.id
    )


def held_without_charge(order_id: UUID, held_minor: int, covered_minor: int, currency: str) -> Difference:
    """Return a paid order without enough charges."""
    return Difference(
        "order_held_without_charge",
        f"order:{order_id}",
        held_minor,
        covered_minor,
        currency,
        "The order is paid; no recorded charge covers it.",
        None,
        order_id,
    )
