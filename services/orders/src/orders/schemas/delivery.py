"""Delivery and its PIN (contract section 6)."""

from typing import Annotated
from uuid import UUID

from pydantic import StringConstraints

from common.web.responses import EnvelopeMeta
from common.web.schemas import RequestBody, ResponseShape


class VerifyDeliveryRequest(RequestBody):
    pin: Annotated[str, StringConstraints(pattern=r"^[0-9]{4,8}$")]


class Delivery(ResponseShape):
    id: UUID
    status: str
    delivered_at: str


class DeliveryPin(ResponseShape):
    pin: str
    attempts_remaining: int


class ReissuedPin(DeliveryPin):
    reissues_remaining: int


class DeliveryResponse(ResponseShape):
    success: bool
    data: Delivery
    meta: EnvelopeMeta


class DeliveryPinResponse(ResponseShape):
    success: bool
    data: DeliveryPin
    meta: EnvelopeMeta


class ReissuedPinResponse(ResponseShape):
    success: bool
    data: ReissuedPin
    meta: EnvelopeMeta
