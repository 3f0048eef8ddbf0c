"""What the gateway says about a refund, and when it is settled. Amounts in kobo."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal

from payments.domain.errors import NewsUnreadable, RefundContradiction
from payments.domain.webhooks import identifier_of, phrase_of, text_of

RefundKind = Literal["order", "overpayment", "quarantine"]

# `pending` is owed and not sent, `submitting` was sent without an answer yet, `submitted` is with the gateway.
OPEN_STATUSES: Final = frozenset({"pending", "submitting", "submitted"})
# A call that was not answered may still be at work at the gateway; nothing is sent a second time before this.
RESUBMIT_AFTER: Final = timedelta(seconds=30)
# The gateway's webhook normally comes first; asking is the net, and asks less and less often.
FIRST_QUESTION_AFTER: Final = timedelta(minutes=1)
LAST_QUESTION_AFTER: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class RefundNews:
    """What the gateway says about one refund, in a webhook or when asked."""

    gateway_refund_id: str | None
    note: str | None
    status: str
    amount_minor: int
    currency: str
    failure: str | None


def read_refund(data: Mapping[str, Any], status: str | None = None) -> RefundNews:
    """A refund as the gateway shows it; `status` from the event's name when there is one. Raises NewsUnreadable."""
    amount, currency = data.get("amount"), text_of(data.get("currency"))
    # Some of the gateway's answers tell the amount as digits.
    if isinstance(amount, str) and amount.isascii() and amount.isdigit() and len(amount) <= 18:
        amount = int(amount)
    if isinstance(amount, bool) or not isinstance(amount, int) or currency is None:
        raise NewsUnreadable("refund without amount or currency")
    return RefundNews(
        gateway_refund_id=identifier_of(data.get("id")),
        note=text_of(data.get("merchant_note")),
        status=status or text_of(data.get("status")) or "pending",
        amount_minor=amount,
        currency=currency,
        failure=phrase_of(data.get("reason")),
    )


def check_refund(news: RefundNews, amount_minor: int, currency: str) -> None:
    """Raises RefundContradiction when the gateway speaks of another amount than ours."""
    if (news.amount_minor, news.currency) != (amount_minor, currency):
        raise RefundContradiction(
            f"the gateway speaks of {news.amount_minor} {news.currency}, we owe {amount_minor} {currency}"
        )


def next_question_after(questions: int) -> timedelta:
    """How long to wait before the gateway is asked again: doubled each time, up to an hour."""
    doublings: int = 2 ** min(questions, 10)
    return min(FIRST_QUESTION_AFTER * doublings, LAST_QUESTION_AFTER)
