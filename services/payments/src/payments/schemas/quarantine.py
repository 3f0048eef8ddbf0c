"""Charges that wait for people."""

from uuid import UUID

from common.schemas import ResponseShape


class QuarantinedCharge(ResponseShape):
    id: UUID
    reference: str
    order_id: UUID | None
    amount_minor: int
    currency: str
    reason: str
    status: str
    created_at: str
