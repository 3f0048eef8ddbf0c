"""Refunds, the gateway's updates about them, and the times of calls and polls. Amounts in kobo."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

from payments.domain.accounts import HOME_CURRENCY, NO_CURRENCY
from payments.domain.errors import MalformedEvent, RefundContradiction
from payments.domain.webhooks import identifier_of, phrase_of, text_of

RefundKind = Literal["order", "overpayment", "quarantine"]

# `pending` is owed and unsent, `submitting` is sent without a response, `submitted` is accepted by the gateway. A `prepared` one
# failed, and its decision waits for the checker.
RefundStatus = Literal["pending", "submitting", "submitted", "settled", "failed", "prepared"]
RefundAction = Literal["retry", "other_destination"]
FAILED_STATUSES: Final = frozenset({"failed", "prepared"})
# The gateway accepts the same note twice, and an unanswered call may still be running there: nothing is sent again sooner. The time is
# far above a call's timeouts, so that clocks may differ by a minute. It is below the fifth retry delay, which sends again.
RESUBMIT_AFTER: Final = timedelta(minutes=2)
# A later call is skipped, because another worker may have replaced this one.
CALL_WITHIN: Final = timedelta(seconds=30)
# The webhook normally arrives first; polling is the fallback, with growing delays.
FIRST_POLL_AFTER: Final = timedelta(minutes=1)
LAST_POLL_AFTER: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class NewRefund:
    """A refund to record, over an amount in the minor unit of its currency, which is the charge's."""

    id: UUID
    kind: RefundKind
    charge_id: UUID
    order_id: UUID | None
    buyer_id: UUID | None
    amount_minor: int
    reason: str
    currency: str = HOME_CURRENCY


@dataclass(frozen=True, slots=True)
class RefundUpdate:
    """The gateway's state of one attempt of a refund, from a webhook or a poll.

    `status` is `processed`, `failed`, any other text while it is in progress, and for a transfer `reversed`.
    """

    gateway_refund_id: str | None
    note: str | None
    status: str
    amount_minor: int
    currency: str
    failure: str | None


def read_refund(data: Mapping[str, Any], status: str | None = None) -> RefundUpdate:
    """Parse a refund of the gateway; `status` overrides its own, as the event's name does. Raises MalformedEvent."""
    amount, currency = data.get("amount"), text_of(data.get("currency"))
    # Some of the gateway's responses have the amount as a text of digits.
    if isinstance(amount, str) and amount.isascii() and amount.isdigit() and len(amount) <= 18:
        amount = int(amount)
    if isinstance(amount, bool) or not isinstance(amount, int) or currency is None:
        raise MalformedEvent("refund without amount or currency")
    return RefundUpdate(
        gateway_refund_id=identifier_of(data.get("id")),
        note=text_of(data.get("merchant_note")),
        status=status or text_of(data.get("status")) or "pending",
        amount_minor=amount,
        currency=currency,
        failure=phrase_of(data.get("reason")),
    )


# A transfer's statuses as those of a refund.
_TRANSFER_STATUSES: Final[Mapping[str, str]] = {"success": "processed", "failed": "failed", "reversed": "reversed"}


def read_refund_transfer(data: Mapping[str, Any], status: str | None = None) -> RefundUpdate:
    """Parse the transfer of a refund to a bank account; `status` overrides its own. Raises MalformedEvent."""
    reported = status or text_of(data.get("status")) or "pending"
    amount, currency = data.get("amount"), text_of(data.get("currency"))
    if isinstance(amount, bool) or not isinstance(amount, int) or currency is None:
        raise MalformedEvent("transfer without amount or currency")
    return RefundUpdate(
        gateway_refund_id=text_of(data.get("transfer_code")),
        note=text_of(data.get("reference")),
        status=_TRANSFER_STATUSES.get(reported, "pending"),
        amount_minor=amount,
        currency=currency,
        failure=phrase_of(data.get("reason")),
    )


def check_refund(update: RefundUpdate, amount_minor: int, currency: str) -> None:
    """Raises RefundContradiction when the update is over another amount or currency than the refund.

    The refund of a charge without a currency is in the currency that the gateway took.
    """
    expected = update.currency if currency == NO_CURRENCY else currency
    if (update.amount_minor, update.currency) != (amount_minor, expected):
        raise RefundContradiction(
            f"the gateway reports {update.amount_minor} {update.currency}, the refund is {amount_minor} {currency}"
        )


def may_call(decided_at: datetime, now: datetime) -> bool:
    """Whether a refund that was marked `submitting` at `decided_at` may still be sent."""
    return now < decided_at + CALL_WITHIN


def next_poll_after(polls: int) -> timedelta:
    """The delay before the next poll: doubled each time, up to an hour."""
    doublings: int = 2 ** min(polls, 10)
    return min(FIRST_POLL_AFTER * doublings, LAST_POLL_AFTER)
