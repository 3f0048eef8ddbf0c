"""Commission changes that need a second platform_admin."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.primitives.decisions import ExpiringStatus
from common.web.response_models import ResponseModel, Timestamp
from common.web.schemas import DecisionHash


class CommissionChange(ResponseModel):
    """A null commission is the platform's default. `prepared` waits for a second platform_admin until `expiresAt`."""

    id: UUID
    vendor_id: UUID
    before_basis_points: Annotated[
        int | None, Meta(description="The commission before the change, in hundredths of a percent.")
    ]
    commission_basis_points: int | None
    status: Annotated[
        ExpiringStatus,
        Meta(description="`prepared` waits for a second platform_admin until `expiresAt`."),
    ]
    hash: DecisionHash
    prepared_by: UUID
    prepared_at: Timestamp
    expires_at: Timestamp
    decided_by: UUID | None
    decided_at: Timestamp | None
    rejection_reason: str | None
