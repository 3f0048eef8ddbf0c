"""Disputes and their resolutions (contract section 6)."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from common.web.responses import EnvelopeMeta
from common.web.schemas import DecisionHash, Kobo, RequestBody, ResponseShape
from orders.schemas.orders import OffsetMeta, Reason

Details = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]
ChargebackOutcome = Annotated[
    Literal["won", "lost"] | None,
    Field(description="What the buyer's bank decided about a chargeback; null without one, or while it is open."),
]
ResolutionStatus = Literal["prepared", "approved", "rejected"]


class DisputeRequest(RequestBody):
    reason: Reason
    details: Details


class ResolveRequest(RequestBody):
    outcome: Literal["buyer", "vendor", "split"]
    refund_minor: Annotated[Kobo | None, Field(description="For a split: 1 kobo up to one below the total.")] = None


class DisputeShape(ResponseShape):
    order_id: UUID
    cause: Literal["buyer", "pin_window", "chargeback"]
    reason: str
    details: str | None
    raised_by: UUID | None
    raised_at: str
    chargeback_outcome: ChargebackOutcome
    outcome: Annotated[
        Literal["buyer", "vendor", "split", "released"] | None,
        Field(
            description="How it ended: as resolved, or `released` when staff had released everything before the freeze."
        ),
    ]
    ended_at: Annotated[str | None, Field(description="Null while the money is frozen.")]


class ComplaintShape(ResponseShape):
    cause: Literal["buyer", "pin_window", "chargeback"]
    reason: str
    details: str | None
    chargeback_outcome: ChargebackOutcome


class PreparedShape(ResponseShape):
    resolution_id: UUID
    status: Literal["prepared"]
    hash: DecisionHash


class ResolutionShape(ResponseShape):
    id: UUID
    order_id: UUID
    outcome: Literal["buyer", "vendor", "split"]
    refund_minor: int
    release_minor: Annotated[int | None, Field(description="Known from the approval on.")]
    refund_id: UUID | None
    status: ResolutionStatus
    hash: DecisionHash
    dispute: ComplaintShape
    prepared_by: UUID
    created_at: str
    decided_by: UUID | None
    decided_at: str | None


class DisputeAnswer(ResponseShape):
    success: bool
    data: DisputeShape
    meta: EnvelopeMeta


class PreparedAnswer(ResponseShape):
    success: bool
    data: PreparedShape
    meta: EnvelopeMeta


class ResolutionAnswer(ResponseShape):
    success: bool
    data: ResolutionShape
    meta: EnvelopeMeta


class ResolutionPageAnswer(ResponseShape):
    success: bool
    data: list[ResolutionShape]
    meta: OffsetMeta
