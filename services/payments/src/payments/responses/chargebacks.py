"""Chargebacks, and responses of staff to them."""

from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from common.web.response_models import ResponseModel, Timestamp
from payments.domain.chargeback_responses import Resolution, ResponseKind
from payments.domain.transitions import ChargebackStatus, ResponseStatus


class ChargebackSubmission(ResponseModel):
    id: UUID
    kind: ResponseKind
    resolution: Resolution | None
    message: str | None
    amount_minor: int | None
    content_hash: Annotated[
        str, Meta(description="SHA-256, in hex, of what is sent; evidence and file are erased afterwards.")
    ]
    status: ResponseStatus
    failure: str | None
    created_by: Annotated[UUID, Meta(description="The member of staff.")]
    created_at: Timestamp
    finished_at: Timestamp | None


class Chargeback(ResponseModel):
    id: UUID
    dispute_id: str
    order_id: UUID | None
    order_number: str | None
    amount_minor: int
    currency: str
    status: ChargebackStatus
    reason: str | None
    loss_minor: int
    due_at: Annotated[
        Timestamp | None, Meta(description="Without a response by then, the gateway decides for the payer.")
    ]
    responded_at: Annotated[Timestamp | None, Meta(description="When the gateway had our response.")]
    created_at: Timestamp
    decided_at: Timestamp | None
    part_of: Annotated[
        UUID | UnsetType,
        Meta(
            description="Of a dispute over several orders: the chargeback of the first, which has the dates and the "
            "responses. `amountMinor` is the order's part."
        ),
    ] = UNSET


class ChargebackDetail(Chargeback):
    responses: Annotated[list[ChargebackSubmission], Meta(description="The responses that were sent, oldest first.")]
