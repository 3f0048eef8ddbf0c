"""Bodies and answers of vendors."""

from uuid import UUID

from common.schemas import ResponseShape


class Vendor(ResponseShape):
    id: UUID
    business_name: str
    campus_id: UUID
    created_at: str
