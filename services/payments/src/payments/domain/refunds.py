"""What the gateway says about a refund, and when it is settled. Amounts in kobo."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from payments.domain.accounts import NO_CURRENCY
from payments.domain.errors import MalformedEvent, RefundContradiction
from payments.domain.webhooks import identifier_of, phrase_of, text_of

RefundKind = Literal["order", "overpayment", "quarantine"]

# `pending` is owed and not sent, `submitting` was sent without an answer yet, `submitted` is with the gateway. A `prepared` one has
# failed, and waits for the second person.
RefundStatus = Literal["pending", "submitting", "submitted", "settled", "failed", "prepared"]
RefundAction = Literal["retry", "other_destination"]
FAILED_STATUSES: Final = frozenset({"failed", "prepared"})
# A call that was not answered may still be at work at the gateway, which takes the same note twice; nothing is sent a second time before
# this. Far above a call's time-outs, so that clocks may differ by a minute; below the fifth step of the retry ladder, which sends again.
RESUBMIT_AFTER: Final = timedelta(minutes=2)
# Who comes to the call later than this after the decision has perhaps been replaced, and makes none.
CALL_WITHIN: Final = timedelta(seconds=30)
# The gateway's webhook normally comes first; asking is the net, and asks less and less often.
FIRST_QUESTION_AFTER: Final = timedelta(minutes=1)
LAST_QUESTION_AFTER: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class RefundUpdate:
    """What the gateway says about one attempt of a refund, in a webhook or when asked.

    `status` is `processed`, `failed`, or anything else while it is under way; a transfer may be `reversed` after all.
    """

    gateway_refund_id: str | None
    note: str | None
    status: str
    amount_minor: int
    currency: str
    failure: str | None


def read_refund(data: Mapping[str, Any], status: str | None = None) -> RefundUpdate:
    """A refund as the gateway shows it; `status` from the event's name when there is one. Raises NewsUnreadable."""
    amount, currency = data.get("amount"), text_of(data.get("currency"))
    # Some of the gateway's answers tell the amount as digits.
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


# A transfer's words in those of a refund.
_TRANSFER_STATUSES: Final[Mapping[str, str]] = {"success": "processed", "failed": "failed", "reversed": "reversed"}


def read_refund_transfer(data: Mapping[str, Any], status: str | None = None) -> RefundUpdate:
    """A refund that goes to a bank account, as the gateway shows the transfer. Raises NewsUnreadable."""
    told = status or text_of(data.get("status")) or "pending"
    amount, currency = data.get("amount"), text_of(data.get("currency"))
    if isinstance(amount, bool) or not isinstance(amount, int) or currency is None:
        raise MalformedEvent("transfer without amount or currency")
    return RefundUpdate(
        gateway_refund_id=text_of(data.get("transfer_code")),
        note=text_of(data.get("reference")),
        status=_TRANSFER_STATUSES.get(told, "pending"),
        amount_minor=amount,
        currency=currency,
        failure=phrase_of(data.get("reason")),
    )


def check_refund(update: RefundUpdate, amount_minor: int, currency: str) -> None:
    """Raises RefundContradiction when the gateway speaks of another amount than ours.

    A charge that named no currency is refunded in whatever the gateway took.
    """
    expected = update.currency if currency == NO_CURRENCY else currency
    if (update.amount_minor, update.currency) != (amount_minor, expected):
        raise RefundContradiction(
            f"the gateway speaks of {update.amount_minor} {update.currency}, we owe {amount_minor} {currency}"
        )


def may_call(decided_at: datetime, now: datetime) -> bool:
    """Whether a refund that was decided on then may still be sent now."""
    return now < decided_at + CALL_WITHIN


def next_question_after(questions: int) -> timedelta:
    """How long to wait before the gateway is asked again: doubled each time, up to an hour."""
    doublings: int = 2 ** min(questions, 10)
    return min(FIRST_QUESTION_AFTER * doublings, LAST_QUESTION_AFTER)
