"""Commission changes of a vendor, which need two administrators (contract section 5.5)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.primitives.decisions import ExpiringStatus, PreparedDecision, content_hash, status_at

# An older change must be prepared again, based on the vendor's current terms.
CHANGE_LIFE: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class CommissionChange:
    """A prepared change in basis points; None is the platform's default."""

    id: UUID
    vendor_id: UUID
    before_basis_points: int | None
    basis_points: int | None
    prepared_by: UUID
    expires_at: datetime
    status: ExpiringStatus

    @property
    def hash(self) -> str:
        return content_hash(
            {
                "id": self.id,
                "vendorId": self.vendor_id,
                "before": self.before_basis_points,
                "commissionBasisPoints": self.basis_points,
                "preparedBy": self.prepared_by,
                "expiresAt": self.expires_at,
            }
        )

    def decision_at(self, now: datetime) -> PreparedDecision:
        return PreparedDecision(status_at(self.status, self.expires_at, now), self.prepared_by, self.hash)
