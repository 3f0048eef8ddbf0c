"""Disputes and their resolutions (contract section 6)."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.schemas import DecisionHash, Kobo, RequestBody, ResponseShape
from orders.schemas.orders import Reason

Details = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]
ChargebackOutcome = Annotated[
    Literal["won", "lost"] | None,
    Field(description="The bank's decision about a chargeback; null without one, or while it is open."),
]
ResolutionStatus = Literal["prepared", "approved", "rejected"]


class OpenDisputeRequest(RequestBody):
    reason: Reason
    details: Details


class PrepareResolutionRequest(RequestBody):
    outcome: Literal["buyer", "vendor", "split"]
    refund_minor: Annotated[Kobo | None, Field(description="For a split: 1 kobo up to one below the total.")] = None


class DisputeEvidence(ResponseShape):
    """An image about a dispute; `url` is a path of this API and needs the reader's token."""

    id: UUID
    order_id: UUID
    author: Annotated[Literal["buyer", "vendor"], Field(description="The party that added the image.")]
    byte_count: Annotated[int, Field(description="Bytes of the stored image.")]
    url: str
    created_at: datetime


class Dispute(ResponseShape):
    order_id: UUID
    cause: Literal["buyer", "pin_window", "chargeback"]
    reason: str
    details: str | None
    raised_by: UUID | None
    raised_at: datetime
    chargeback_outcome: ChargebackOutcome
    outcome: Annotated[
        Literal["buyer", "vendor", "split", "released"] | None,
        Field(
            description="The outcome of the resolution, or `released` when everything was released before the freeze."
        ),
    ]
    ended_at: Annotated[datetime | None, Field(description="Null while the money is frozen.")]
    evidence: Annotated[list[DisputeEvidence], Field(description="Oldest first.")]


class DisputeComplaint(ResponseShape):
    cause: Literal["buyer", "pin_window", "chargeback"]
    reason: str
    details: str | None
    chargeback_outcome: ChargebackOutcome


class PreparedResolution(ResponseShape):
    resolution_id: UUID
    status: Literal["prepared"]
    hash: DecisionHash


class DisputeResolution(ResponseShape):
    id: UUID
    order_id: UUID
    order_number: Annotated[str | None, Field(description="The order's number for people: `CM-XXXX-XXXX`.")]
    outcome: Literal["buyer", "vendor", "split"]
    refund_minor: int
    release_minor: Annotated[int | None, Field(description="Set by the approval.")]
    refund_id: UUID | None
    status: ResolutionStatus
    hash: DecisionHash
    dispute: DisputeComplaint
    prepared_by: UUID
    created_at: datetime
    decided_by: UUID | None
    decided_at: datetime | None
