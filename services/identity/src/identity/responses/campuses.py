"""Response models of campuses and hubs."""

from uuid import UUID

from common.web.response_models import ResponseModel, Timestamp
from identity.responses.vendors import OpeningPeriod


class Campus(ResponseModel):
    id: UUID
    name: str
    domain: str | None
    active: bool
    revision: int
    created_at: Timestamp


class Hub(ResponseModel):
    id: UUID
    campus_id: UUID
    name: str
    address: str
    delivery_fee_minor: int
    opening_hours: list[OpeningPeriod]
    active: bool
    revision: int
    created_at: Timestamp
