"""Three accounts of the same money compared: what the gateway tells, what the book holds, and what the orders show. In kobo.

Every comparison returns the differences that it cannot explain; an empty list means that the three agree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

from payments.domain.accounts import NO_CURRENCY
from payments.domain.charges import Charge, read_charge
from payments.domain.refunds import RefundUpdate
from payments.domain.webhooks import identifier_of, instant_of

Kind = Literal[
    "charge_not_in_book",
    "charge_not_at_gateway",
    "charge_differs",
    "charge_without_escrow",
    "refund_not_in_book",
    "refund_not_at_gateway",
    "refund_differs",
    "order_held_without_charge",
]
# What a webhook would have brought, had it come: the gateway's answer is taken in its place, and only what stays is told to people.
HEALING: Final[frozenset[Kind]] = frozenset({"charge_not_in_book", "refund_not_in_book"})
SELF_HEALING_PERIOD: Final = timedelta(hours=1)
# What happened at the gateway a moment ago is normally under way to us as a webhook.
UNDER_WAY: Final = timedelta(minutes=10)
# The gateway's lists go by the day a payment was opened; one that is paid later than this is found by its webhook alone.
LOOK_BACK: Final = timedelta(days=7)
# A period that somebody names: a quarter of a year, in pages of the gateway's lists.
PERIOD_MAX: Final = timedelta(days=92)


@dataclass(frozen=True, slots=True)
class Difference:
    """Kobo that nobody can explain, and whose they are."""

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
class BookedCharge:
    """A charge as we have it: its row, what its posting put on `gateway_cash`, and what its order shows."""

    identity: str
    reference: str
    gateway_id: str | None
    order_id: UUID | None
    amount_minor: int
    currency: str
    verdict: str
    ledger_minor: int
    escrow_minor: int | None
    order_status: str | None


@dataclass(frozen=True, slots=True)
class BookedRefund:
    """A refund as we have it, and what its present attempt took from `gateway_cash`."""

    id: UUID
    attempt_id: UUID
    order_id: UUID | None
    currency: str
    status: str
    ledger_minor: int
    gateway_refund_id: str | None


def reported_charge(told: Mapping[str, Any]) -> Charge | None:
    """A transaction of the gateway's list as the charge that it brought; None while nobody has paid it. Raises NewsUnreadable."""
    if told.get("status") != "success":
        return None
    return read_charge(told, f"charge.success:{identifier_of(told.get('id'))}")


def is_under_way(told: Mapping[str, Any], now: datetime) -> bool:
    """Whether this happened so lately that its webhook may still come."""
    at = instant_of(told.get("paid_at")) or instant_of(told.get("refunded_at")) or instant_of(told.get("updatedAt"))
    return at is not None and now - at < UNDER_WAY


def subject_of_charge(identity: str) -> str:
    return f"charge:{identity}"


def subject_of_refund(gateway_refund_id: str | None, note: str | None) -> str:
    return f"refund:{gateway_refund_id or note}"


def compare_charge(told: Charge, booked: BookedCharge | None) -> list[Difference]:
    """What the gateway took against what the book and the order hold of it."""
    subject = subject_of_charge(told.identity)
    if booked is None:
        detail = "The gateway took this money; the book does not know it."
        return [Difference("charge_not_in_book", subject, 0, told.amount_minor, told.currency, detail, told.reference)]
    if (told.amount_minor, told.currency) != (booked.ledger_minor, booked.currency) or (
        booked.amount_minor != booked.ledger_minor
    ):
        # Of two figures of ours the one that disagrees with the gateway is shown.
        ours = booked.ledger_minor if booked.ledger_minor != told.amount_minor else booked.amount_minor
        detail = (
            f"The gateway says {told.amount_minor} {told.currency}, the charge {booked.amount_minor} {booked.currency}, "
            f"the book {booked.ledger_minor} {booked.currency}."
        )
        return [
            Difference(
                "charge_differs",
                subject,
                ours,
                told.amount_minor,
                told.currency,
                detail,
                told.reference,
                booked.order_id,
            )
        ]
    return compare_order(booked)


def compare_order(booked: BookedCharge) -> list[Difference]:
    """A charge that covers its order against what the order's escrow held."""
    if booked.verdict != "covered" or (booked.escrow_minor is not None and booked.order_status == "paid_escrow"):
        return []
    return [
        Difference(
            "charge_without_escrow",
            subject_of_charge(booked.identity),
            booked.escrow_minor or 0,
            booked.amount_minor,
            booked.currency,
            f"The charge covers the order, which is {booked.order_status} with {booked.escrow_minor or 0} kobo held.",
            booked.reference,
            booked.order_id,
        )
    ]


def compare_unseen_charge(booked: BookedCharge, told: Mapping[str, Any] | None) -> list[Difference]:
    """A charge that the gateway's list did not show, against what the gateway says when it is asked by reference."""
    charge = None if told is None else reported_charge(told)
    if charge is not None and (booked.gateway_id is None or charge.gateway_id == booked.gateway_id):
        return compare_charge(charge, booked)
    detail = "The book holds this charge; the gateway does not show it as paid."
    return [
        Difference(
            "charge_not_at_gateway",
            subject_of_charge(booked.identity),
            booked.ledger_minor,
            0,
            booked.currency,
            detail,
            booked.reference,
            booked.order_id,
        )
    ]


def compare_refund(told: RefundUpdate, attempt_id: UUID | None, booked: BookedRefund | None) -> list[Difference]:
    """A refund that the gateway paid out, by the attempt that its note names, against what left the book."""
    subject = subject_of_refund(told.gateway_refund_id, told.note)
    if booked is None or booked.status != "settled" or (attempt_id or booked.attempt_id) != booked.attempt_id:
        detail = "The gateway paid this refund out; the book does not."
        if booked is not None and booked.status == "settled":
            detail = "The gateway paid this attempt out, and the book settled the refund by another one."
        order_id = None if booked is None else booked.order_id
        return [
            Difference("refund_not_in_book", subject, 0, told.amount_minor, told.currency, detail, told.note, order_id)
        ]
    if booked.gateway_refund_id is not None and told.gateway_refund_id not in (None, booked.gateway_refund_id):
        # It takes a note twice: a call that was lost for long may have come after the one that was sent in its place.
        detail = (
            f"The gateway paid this attempt out a second time; the book holds its refund {booked.gateway_refund_id}."
        )
        return [
            Difference(
                "refund_not_in_book",
                subject,
                0,
                told.amount_minor,
                told.currency,
                detail,
                told.note,
                booked.order_id,
            )
        ]
    if told.amount_minor != booked.ledger_minor or booked.currency not in (told.currency, NO_CURRENCY):
        detail = (
            f"The gateway says {told.amount_minor} {told.currency}, the book {booked.ledger_minor} {booked.currency}."
        )
        return [
            Difference(
                "refund_differs",
                subject,
                booked.ledger_minor,
                told.amount_minor,
                told.currency,
                detail,
                told.note,
                booked.order_id,
            )
        ]
    return []


def compare_unseen_refund(booked: BookedRefund, told: RefundUpdate | None) -> list[Difference]:
    """A settled refund that the gateway's list did not show, against what the gateway says when it is asked for the attempt."""
    if told is not None and told.status == "processed":
        return compare_refund(told, booked.attempt_id, booked)
    detail = "The book paid this refund out; the gateway does not show it as processed."
    subject = f"refund:{booked.id}"
    return [
        Difference(
            "refund_not_at_gateway", subject, booked.ledger_minor, 0, booked.currency, detail, None, booked.order_id
        )
    ]


def held_without_charge(order_id: UUID, held_minor: int, covered_minor: int, currency: str) -> Difference:
    """An order that shows as paid, against what charges brought for it."""
    return Difference(
        "order_held_without_charge",
        f"order:{order_id}",
        held_minor,
        covered_minor,
        currency,
        "The order shows as paid; no charge of the book covers it.",
        None,
        order_id,
    )
