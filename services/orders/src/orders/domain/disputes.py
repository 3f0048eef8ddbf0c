"""Disputes: what opens one, and how a resolution divides the money (contract sections 6 and 7). Amounts in kobo."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from common.primitives.decisions import PreparedDecision, content_hash
from orders.domain.errors import RefundExceedsOrder, RefundWithoutSplit, SplitWithoutRefund
from orders.domain.transitions import Trigger

Cause = Literal["buyer", "pin_window", "chargeback"]
ResolutionOutcome = Literal["buyer", "vendor", "split"]
# How a dispute ended: by its resolution, or because all was released before the freeze was heard.
DisputeOutcome = Literal["buyer", "vendor", "split", "released"]
# What the buyer's bank decided about a chargeback.
ChargeOutcome = Literal["won", "lost"]


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why an order is disputed; `raised_by` is the buyer, or nobody when time or the gateway spoke."""

    cause: Cause
    reason: str
    details: str | None = None
    raised_by: UUID | None = None

    @property
    def trigger(self) -> Trigger:
        triggers: dict[Cause, Trigger] = {
            "buyer": "buyer_disputes",
            "pin_window": "pin_window_ended",
            "chargeback": "chargeback_opened",
        }
        return triggers[self.cause]


@dataclass(frozen=True, slots=True)
class Resolution:
    """The locked row of a resolution."""

    id: UUID
    order_id: UUID
    outcome: ResolutionOutcome
    refund_minor: int
    status: str
    prepared_by: UUID

    @property
    def hash(self) -> str:
        return content_hash(
            {
                "id": self.id,
                "orderId": self.order_id,
                "outcome": self.outcome,
                "refundMinor": self.refund_minor,
                "preparedBy": self.prepared_by,
            }
        )

    @property
    def decision(self) -> PreparedDecision:
        return PreparedDecision(self.status, self.prepared_by, self.hash)


def refund_of(outcome: ResolutionOutcome, asked_minor: int | None, total_minor: int) -> int:
    """What goes back to the buyer: all, nothing, or the part that a split names, 1 to one kobo below the total.

    Raises SplitWithoutRefund, RefundWithoutSplit, RefundBeyondOrder (422).
    """
    if outcome != "split":
        if asked_minor is not None:
            raise RefundWithoutSplit
        return total_minor if outcome == "buyer" else 0
    if asked_minor is None:
        raise SplitWithoutRefund
    if not 1 <= asked_minor < total_minor:
        raise RefundExceedsOrder(total_minor)
    return asked_minor


def release_of(refund_minor: int, escrow_minor: int) -> int:
    """What the resolution releases: all that escrow holds beyond the refund.

    Staff may have released a part before the dispute. A refund takes what is held first and the rest from what was released, so the
    vendor ends with the total less the refund, whatever had left before.
    """
    return max(0, escrow_minor - refund_minor)


def trigger_of(outcome: ResolutionOutcome) -> Trigger:
    """The move that an approved resolution is."""
    return "resolved_for_buyer" if outcome == "buyer" else "resolved_for_vendor"
