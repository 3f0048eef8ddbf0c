"""Bodies and answers of campuses and hubs."""

from uuid import UUID

from common.schemas import ResponseShape


class Campus(ResponseShape):
    id: UUID
    name: str
    domain: str | None
    active: bool
    created_at: str


class Hub(ResponseShape):
    id: UUID
    campus_id: UUID
    name: str
    address: str
    delivery_fee_minor: int
    active: bool
    created_at: str
