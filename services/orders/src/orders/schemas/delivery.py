"""The hand-over and its PIN (contract section 6)."""

from typing import Annotated
from uuid import UUID

from pydantic import StringConstraints

from common.web.responses import EnvelopeMeta
from common.web.schemas import RequestBody, ResponseShape


class VerifyDeliveryRequest(RequestBody):
    pin: Annotated[str, StringConstraints(pattern=r"^[0-9]{4,8}$")]


class DeliveryShape(ResponseShape):
    id: UUID
    status: str
    delivered_at: str


class DeliveryPinShape(ResponseShape):
    pin: str
    attempts_remaining: int


class ReissuedPinShape(DeliveryPinShape):
    reissues_remaining: int


class DeliveryAnswer(ResponseShape):
    success: bool
    data: DeliveryShape
    meta: EnvelopeMeta


class DeliveryPinAnswer(ResponseShape):
    success: bool
    data: DeliveryPinShape
    meta: EnvelopeMeta


class ReissuedPinAnswer(ResponseShape):
    success: bool
    data: ReissuedPinShape
    meta: EnvelopeMeta
