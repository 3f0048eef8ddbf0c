"""Responses of delivery and its PIN."""

from uuid import UUID

from common.web.response_models import ResponseModel, Timestamp
from orders.domain.transitions import State


class OrderDelivery(ResponseModel):
    id: UUID
    status: State
    # None for an order that staff released without its PIN.
    delivered_at: Timestamp | None


class DeliveryPin(ResponseModel):
    pin: str
    attempts_remaining: int


class ReissuedDeliveryPin(DeliveryPin):
    reissues_remaining: int
