"""Delivery and its PIN (contract section 6)."""

from typing import Annotated
from uuid import UUID

from pydantic import StringConstraints

from common.web.responses import response_of
from common.web.schemas import RequestBody, ResponseShape
from orders.domain.transitions import State


class VerifyDeliveryRequest(RequestBody):
    pin: Annotated[str, StringConstraints(pattern=r"^[0-9]{4,8}$")]


class Delivery(ResponseShape):
    id: UUID
    status: State
    delivered_at: str


class DeliveryPin(ResponseShape):
    pin: str
    attempts_remaining: int


class ReissuedPin(DeliveryPin):
    reissues_remaining: int


DeliveryResponse = response_of("DeliveryResponse", Delivery)
DeliveryPinResponse = response_of("DeliveryPinResponse", DeliveryPin)
ReissuedPinResponse = response_of("ReissuedPinResponse", ReissuedPin)
