"""Reissues of delivery PINs by staff."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.primitives.decisions import ExpiringStatus
from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import DecisionHash
from orders.responses.orders import OrderNumber


class PinReissue(ResponseModel):
    """A new delivery PIN beyond the buyer's limit, by two members of staff, who never see it."""

    id: UUID
    order_id: UUID
    order_number: OrderNumber
    reason: Annotated[str, Meta(description="How the buyer was identified.")]
    status: Annotated[ExpiringStatus, Meta(description="`prepared` waits for another person until `expiresAt`.")]
    hash: DecisionHash
    prepared_by: UUID
    prepared_at: Timestamp
    expires_at: Timestamp
    decided_by: UUID | None
    decided_at: Timestamp | None
    rejection_reason: str | None
