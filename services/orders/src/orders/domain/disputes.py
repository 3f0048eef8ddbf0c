"""Disputes, and the division of the money by a resolution (contract sections 6 and 7). Amounts in kobo."""

from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from common.primitives.decisions import DecisionStatus, PreparedDecision, content_hash
from common.primitives.problems import Forbidden
from orders.domain.errors import RefundExceedsOrder, RefundWithoutSplit, SplitWithoutRefund
from orders.domain.order_roles import OrderRole
from orders.domain.refund_destinations import RefundTo
from orders.domain.transitions import Trigger

Cause = Literal["buyer", "pin_window", "chargeback"]
ResolutionOutcome = Literal["buyer", "vendor", "split"]
# No resolution expires or is overtaken.
# `released`: a full release was committed before the freeze.
DisputeOutcome = Literal["buyer", "vendor", "split", "released"]
# The bank's decision about a chargeback.
ChargeOutcome = Literal["won", "lost"]
EvidenceAuthor = Literal["buyer", "vendor"]
# Contract section 6.5: images of each party.
EVIDENCE_IMAGES_MAX: Final = 6


@dataclass(frozen=True, slots=True)
class Complaint:
    """The cause of a dispute; `raised_by` is the buyer, or None for a timer or a chargeback.

    `refund_to` is the buyer's choice for a refund that the resolution grants.
    """

    cause: Cause
    reason: str
    details: str | None = None
    raised_by: UUID | None = None
    refund_to: RefundTo | None = None

    @property
    def trigger(self) -> Trigger:
        triggers: dict[Cause, Trigger] = {
            "buyer": "buyer_disputes",
            "pin_window": "pin_window_ended",
            "chargeback": "chargeback_opened",
        }
        return triggers[self.cause]


@dataclass(frozen=True, slots=True)
class ProposedResolution:
    """The proposal of staff: the outcome, the buyer's refund (kobo) of a split, and the reason."""

    outcome: ResolutionOutcome
    refund_minor: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Resolution:
    """A resolution that staff prepared."""

    id: UUID
    order_id: UUID
    outcome: ResolutionOutcome
    refund_minor: int
    status: DecisionStatus
    prepared_by: UUID
    reason: str | None

    @property
    def hash(self) -> str:
        reason = {} if self.reason is None else {"reason": self.reason}
        return content_hash(
            {
                "id": self.id,
                "orderId": self.order_id,
                "outcome": self.outcome,
                "refundMinor": self.refund_minor,
                "preparedBy": self.prepared_by,
                **reason,
            }
        )

    @property
    def decision(self) -> PreparedDecision:
        return PreparedDecision(self.status, self.prepared_by, self.hash)


def refund_of(outcome: ResolutionOutcome, refund_minor: int | None, total_minor: int) -> int:
    """Return the refund to the buyer: everything, nothing, or the given part of a split, from 1 kobo to one below the
    total.

    Raises SplitWithoutRefund, RefundWithoutSplit, RefundExceedsOrder (422).
    """
    if outcome != "split":
        if refund_minor is not None:
            raise RefundWithoutSplit
        return total_minor if outcome == "buyer" else 0
    if refund_minor is None:
        raise SplitWithoutRefund
    if not 1 <= refund_minor < total_minor:
        raise RefundExceedsOrder(total_minor)
    return refund_minor


def release_of(refund_minor: int, escrow_minor: int) -> int:
    """Return the release of a resolution: the escrow balance less the refund.

    Staff may have released a part before the dispute. A refund debits escrow first and then the released part, so the
    vendor ends with the total less the refund in every case.
    """
    return max(0, escrow_minor - refund_minor)


def trigger_of(outcome: ResolutionOutcome) -> Trigger:
    """Return the trigger of an approved resolution."""
    return "resolved_for_buyer" if outcome == "buyer" else "resolved_for_vendor"


def evidence_author(roles: frozenset[OrderRole]) -> EvidenceAuthor:
    """Return the party that the caller is in the dispute. Raises Forbidden (403): staff and hub agents add no
    evidence.
    """
    if "vendor" in roles:
        return "vendor"
    if "buyer" in roles:
        return "buyer"
    raise Forbidden
