"""Responses of disputes and their resolutions."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.primitives.decisions import StaffDecisionStatus
from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import DecisionHash
from orders.domain.disputes import (
    Cause,
    ChargeOutcome,
    DisputeOutcome,
    EvidenceAuthor,
    ResolutionOutcome,
)
from orders.domain.refund_destinations import RefundTo
from orders.responses.orders import OrderNumber

ChargebackOutcome = Annotated[
    ChargeOutcome | None,
    Meta(description="The bank's decision about a chargeback; null without one, or while it is open."),
]


class DisputeEvidence(ResponseModel):
    """An image about a dispute; `url` is a path of this API and needs the reader's token."""

    id: UUID
    order_id: UUID
    author: Annotated[EvidenceAuthor, Meta(description="The party that added the image.")]
    byte_count: Annotated[int, Meta(description="Bytes of the stored image.")]
    url: str
    created_at: Timestamp


class Dispute(ResponseModel):
    order_id: UUID
    cause: Cause
    reason: str
    details: str | None
    raised_by: UUID | None
    raised_at: Timestamp
    refund_to: Annotated[
        RefundTo | None, Meta(description="The buyer's choice for the refund; null: back to where the money came from.")
    ]
    chargeback_outcome: ChargebackOutcome
    outcome: Annotated[
        DisputeOutcome | None,
        Meta(
            description="The outcome of the resolution, or `released` when everything was released before the freeze."
        ),
    ]
    ended_at: Annotated[Timestamp | None, Meta(description="Null while the money is frozen.")]
    evidence: Annotated[list[DisputeEvidence], Meta(description="Oldest first.")]


class DisputeComplaint(ResponseModel):
    cause: Cause
    reason: str
    details: str | None
    chargeback_outcome: ChargebackOutcome


class PreparedResolution(ResponseModel):
    resolution_id: UUID
    status: Literal["prepared"]
    hash: DecisionHash


class DisputeResolution(ResponseModel):
    id: UUID
    order_id: UUID
    order_number: OrderNumber
    outcome: ResolutionOutcome
    refund_minor: int
    release_minor: Annotated[int | None, Meta(description="Set by the approval.")]
    refund_id: UUID | None
    status: StaffDecisionStatus
    reason: Annotated[str | None, Meta(description="Why staff decided so, as its maker stated it.")]
    hash: DecisionHash
    dispute: DisputeComplaint
    prepared_by: UUID
    created_at: Timestamp
    decided_by: UUID | None
    decided_at: Timestamp | None
