"""Chargebacks."""

from uuid import UUID

from common.web.schemas import ResponseShape


class Chargeback(ResponseShape):
    id: UUID
    dispute_id: str
    order_id: UUID | None
    amount_minor: int
    currency: str
    status: str
    reason: str | None
    loss_minor: int
    created_at: str
    decided_at: str | None
