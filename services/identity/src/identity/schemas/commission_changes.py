"""Commission changes that need a second platform_admin."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import StringConstraints

from common.web.schemas import DecisionHash, RequestBody, ResponseShape


class RejectCommissionChangeRequest(RequestBody):
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)] | None = None


class CommissionChange(ResponseShape):
    """A null commission is the platform's default. `prepared` waits for a second platform_admin until `expiresAt`."""

    id: UUID
    vendor_id: UUID
    before_basis_points: int | None
    commission_basis_points: int | None
    status: Literal["prepared", "approved", "rejected", "expired"]
    hash: DecisionHash
    prepared_by: UUID
    prepared_at: datetime
    expires_at: datetime
    decided_by: UUID | None
    decided_at: datetime | None
    rejection_reason: str | None
