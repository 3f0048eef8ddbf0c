"""Delivery and its PIN (contract section 6)."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import StringConstraints

from common.web.schemas import A_CODE, RequestBody, ResponseShape
from orders.domain.transitions import State


class VerifyDeliveryRequest(RequestBody):
    pin: Annotated[str, StringConstraints(pattern=r"^[0-9]{4,8}$"), A_CODE]


class OrderDelivery(ResponseShape):
    id: UUID
    status: State
    delivered_at: datetime


class DeliveryPin(ResponseShape):
    pin: str
    attempts_remaining: int


class ReissuedDeliveryPin(DeliveryPin):
    reissues_remaining: int
